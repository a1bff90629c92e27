import { setTimeout } from 'node:timers/promises';
import { FlagsError } from '../errors.js';
import type { MetricsStorage } from '../storage/metrics-port.js';
import type { Storage } from '../storage/port.js';

/**
 * The names of the methods of a port that may fail. What only subscribes, or tells a number at once, does not: it is not asked of
 * the storage's connection.
 */
export type MethodOf<Port> = {
  [Name in keyof Port]-?: NonNullable<Port[Name]> extends (...input: never[]) => infer Answer
    ? Answer extends (() => void) | number | undefined
      ? never
      : Name
    : never;
}[keyof Port];

/** One call of a port, as the engine made it. */
export type PortCall<Port> = {
  [Name in MethodOf<Port>]: {
    readonly method: Name;
    readonly input: NonNullable<Port[Name]> extends (...input: infer Input) => unknown ? Input : never;
  };
}[MethodOf<Port>];

/**
 * Something that goes wrong with calls of a port. With neither `error`, `delay` nor `hang` the calls fail: with
 * `storage_unavailable` before the storage has heard of them, with `outcome_unknown` after it has carried them out. With
 * `delay` or `hang` they go on late; with `error` as well they fail late.
 */
export interface Fault<Port> {
  /** The method, or several, whose calls are meant; every method but `close` when absent. */
  readonly method?: MethodOf<Port> | readonly MethodOf<Port>[];
  /** Narrows the calls that are meant. */
  readonly when?: (call: PortCall<Port>) => boolean;
  /** Strikes with this one of the calls that are meant, from 1; with the first when absent. */
  readonly nth?: number;
  /** Strikes so many of them in a row; one where `nth` is given, else all, when absent. */
  readonly times?: number;
  /**
   * `before`: the storage does not hear of the call (until a delay is over). `after`: the storage has carried the call
   * out, and its answer is lost or late; what the storage itself refuses keeps its own error. `before` when absent.
   */
  readonly point?: 'before' | 'after';
  /** What the calls fail with. */
  readonly error?: unknown;
  /** Milliseconds that the calls wait. */
  readonly delay?: number;
  /** The calls wait until they are released. */
  readonly hang?: true;
}

/** A fault in place. */
export interface InjectedFault {
  /** How many calls it has struck. */
  strikes(): number;
  /** Lets go of the calls that hang, and has later ones hang no more. */
  release(): void;
  /** Takes it away, and lets go of the calls that hang. Doing so again does nothing. */
  remove(): void;
}

/** What can be done to a port that is made to fail. */
export interface FaultInjector<Port> {
  /** Has calls go wrong from now on. Of several faults that strike one call at one point the earliest comes first. */
  inject(fault: Fault<Port>): InjectedFault;
  /** Takes all faults away, and lets go of the calls that hang. */
  heal(): void;
  /** Every call so far, those that failed among them. */
  readonly calls: readonly PortCall<Port>[];
}

type Point = 'before' | 'after';

/** A fault with the count of its calls. */
export interface ArmedFault<Port> extends InjectedFault {
  readonly point: Point;
  /** Counts the call if it is meant; tells whether it strikes. */
  meets(call: PortCall<Port>): boolean;
  /** Makes a call wait, or fail, or both. */
  strike(): Promise<void>;
}

/** @param remove called once when the fault is taken away */
export function armFault<Port>(fault: Fault<Port>, remove: () => void): ArmedFault<Port> {
  const { nth = 1, times = fault.nth === undefined ? Number.POSITIVE_INFINITY : 1, point = 'before' } = fault;
  const gate = createGate();
  let meant = 0;
  let strikes = 0;

  return {
    point,
    meets(call) {
      if (!isMeant(fault, call)) return false;
      meant += 1;
      const hit = meant >= nth && meant < nth + times;
      if (hit) strikes += 1;
      return hit;
    },
    async strike() {
      if (fault.delay !== undefined) await setTimeout(fault.delay);
      if (fault.hang) await gate.opened;
      if ('error' in fault) throw fault.error;
      if (fault.delay === undefined && !fault.hang) throw standardError(point);
    },
    strikes: () => strikes,
    release: gate.open,
    remove() {
      gate.open();
      remove();
    },
  };
}

function isMeant<Port>({ method, when }: Fault<Port>, call: PortCall<Port>): boolean {
  const isNamed = method === undefined ? call.method !== 'close' : [method].flat().includes(call.method);
  return isNamed && (when === undefined || when(call));
}

function createGate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

function standardError(point: Point): FlagsError {
  return point === 'before'
    ? new FlagsError('storage_unavailable', 'Injected fault: the storage cannot be reached. Nothing was changed.')
    : new FlagsError('outcome_unknown', 'Injected fault: the answer of the storage was lost. Look before you repeat.');
}

/** The names of all methods: one that is added to a port does not compile until it is here. */
export type AllMethods<Port> = Readonly<Record<MethodOf<Port> & string, true>>;

export type FaultyPort<Port> = Pick<Port, MethodOf<Port>> & FaultInjector<Port>;

type AnyMethod = (...input: readonly unknown[]) => unknown;

/** A port whose methods go through faults that come and go. */
export function faultyPort<Port extends object>(port: Port, methods: AllMethods<Port>): FaultyPort<Port> {
  const faults = new Set<ArmedFault<Port>>();
  const calls: PortCall<Port>[] = [];

  async function perform(call: PortCall<Port>): Promise<unknown> {
    calls.push(call);
    const striking = [...faults].filter((fault) => fault.meets(call));
    await strikeAll(striking, 'before');
    const answer = await (port[call.method] as AnyMethod)(...(call.input as readonly unknown[]));
    await strikeAll(striking, 'after');
    return answer;
  }

  const present = Object.keys(methods).filter((method) => method in port);
  const entries = present.map((method) => {
    return [method, (...input: readonly unknown[]) => perform({ method, input } as unknown as PortCall<Port>)];
  });
  return {
    ...(Object.fromEntries(entries) as Pick<Port, MethodOf<Port>>),
    calls,
    inject(fault) {
      const armed: ArmedFault<Port> = armFault(fault, () => void faults.delete(armed));
      faults.add(armed);
      return armed;
    },
    heal() {
      for (const fault of [...faults]) fault.remove();
    },
  };
}

async function strikeAll<Port>(faults: readonly ArmedFault<Port>[], point: 'before' | 'after'): Promise<void> {
  for (const fault of faults) if (fault.point === point) await fault.strike();
}

/** A storage that fails when it is told to. */
export type FaultyStorage = Storage & FaultInjector<Storage>;

/**
 * A storage that goes on working on the given one until faults are injected: any method, before or after it took effect,
 * at once, late or never. For tests of what your service does while its flags cannot be stored. Its `metrics`,
 * `watch` and `walBytes` are those of the given storage and do not fail; for metrics see {@link faultyMetrics}.
 *
 * @example
 * const storage = faultyStorage(memoryStorage());
 * const flags = await createFlags({ storage });
 *
 * storage.inject({ method: 'commit', error: new FlagsError('storage_busy', 'locked') });
 * await expect(api.post('/checkout/enable')).resolves.toMatchObject({ status: 503 });
 * storage.heal();
 *
 * // The change is made, and the answer lost.
 * storage.inject({ method: 'commit', point: 'after', nth: 1 });
 *
 * // Nothing is answered until it is released.
 * const hanging = storage.inject({ hang: true });
 * hanging.release();
 */
export function faultyStorage(storage: Storage): FaultyStorage {
  const faulty = faultyPort<Storage>(storage, {
    get: true,
    list: true,
    commit: true,
    events: true,
    dataVersion: true,
    close: true,
  });
  return {
    ...faulty,
    ...(storage.watch && { watch: storage.watch.bind(storage) }),
    ...(storage.walBytes && { walBytes: storage.walBytes.bind(storage) }),
    ...(storage.metrics && { metrics: storage.metrics }),
  };
}

/** A metrics storage that fails when it is told to. */
export type FaultyMetrics = MetricsStorage & FaultInjector<MetricsStorage>;

const METHODS: AllMethods<MetricsStorage> = {
  record: true,
  register: true,
  counts: true,
  applications: true,
  application: true,
  usage: true,
  lastSeen: true,
  forget: true,
  forgetApplication: true,
  prune: true,
  close: true,
};

/**
 * As {@link faultyStorage}, for metrics.
 *
 * @example
 * const metrics = faultyMetrics(memoryMetrics());
 * const flags = await createFlags({ storage: memoryStorage(), metrics });
 * metrics.inject({ method: 'record' });
 */
export function faultyMetrics(metrics: MetricsStorage): FaultyMetrics {
  return { ...faultyPort(metrics, METHODS), dropped: metrics.dropped };
}
