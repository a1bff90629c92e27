import { setTimeout } from 'node:timers/promises';
import { FlagsError } from '../base/errors.js';
import type { FlagsStorage } from '../storage/port.js';

/**
 * The names of the methods of a port that can fail. Synchronous methods (`watch`, `walBytes`) do not use the
 * storage's connection, and are left out.
 */
export type MethodOf<Port> = {
  [Name in keyof Port]-?: NonNullable<Port[Name]> extends (...input: never[]) => infer Answer
    ? [Extract<Answer, PromiseLike<unknown>>] extends [never]
      ? never
      : Name
    : never;
}[keyof Port];

/** A call of a port by the engine. */
export type PortCall<Port> = {
  [Name in MethodOf<Port>]: {
    readonly method: Name;
    readonly input: NonNullable<Port[Name]> extends (...input: infer Input) => unknown ? Input : never;
  };
}[MethodOf<Port>];

/**
 * A fault to inject into calls of a port.
 *
 * Without `error`, `delay` and `hang` a call throws `storage_unavailable` before it reaches the storage, or
 * `outcome_unknown` after the storage has executed it. With `delay` or `hang` it waits, and then continues, or
 * throws `error`.
 */
export interface Fault<Port> {
  /** The methods that the fault applies to. Default: all except `close`. */
  readonly method?: MethodOf<Port> | readonly MethodOf<Port>[];
  /** Selects calls of these methods. Default: all calls. */
  readonly when?: (call: PortCall<Port>) => boolean;
  /** The first selected call to hit, counted from 1. Default 1. */
  readonly nth?: number;
  /** Number of consecutive calls to hit. Default: one if `nth` is given, otherwise all. */
  readonly times?: number;
  /**
   * `before`: the fault hits before the storage gets the call. `after`: it hits after the storage has executed the
   * call, so the answer is lost or delayed. Errors of the storage itself are kept. Default `before`.
   */
  readonly point?: 'before' | 'after';
  /** The error that the calls throw. */
  readonly error?: unknown;
  /** How long the calls wait, in milliseconds. */
  readonly delay?: number;
  /** Makes the calls wait until {@link InjectedFault.release}. */
  readonly hang?: true;
}

/** An injected fault. */
export interface InjectedFault {
  /** Returns the number of calls that the fault has hit. */
  strikes(): number;
  /** Releases the calls that hang. Later calls do not hang. */
  release(): void;
  /** Removes the fault and releases the calls that hang. Calling it again has no effect. */
  remove(): void;
}

/** Injects faults into a port. */
export interface FaultInjector<Port> {
  /** Injects a fault into later calls. If several faults hit one call at one point, they apply in the order of injection. */
  inject(fault: Fault<Port>): InjectedFault;
  /** Removes all faults and releases the calls that hang. */
  heal(): void;
  /** All calls so far, including failed ones. */
  readonly calls: readonly PortCall<Port>[];
}

type Point = 'before' | 'after';

/** A fault that counts its calls. */
interface ArmedFault<Port> extends InjectedFault {
  readonly point: Point;
  /** Counts a selected call, and returns whether the fault hits it. */
  hits(call: PortCall<Port>): boolean;
  /** Makes a call wait, fail, or both. */
  apply(): Promise<void>;
}

/** @param remove removes the fault from its port */
function armFault<Port>(fault: Fault<Port>, remove: () => void): ArmedFault<Port> {
  const { nth = 1, times = fault.nth === undefined ? Number.POSITIVE_INFINITY : 1, point = 'before' } = fault;
  const latch = createLatch();
  let selected = 0;
  let strikes = 0;

  return {
    point,
    hits(call) {
      if (!isSelected(fault, call)) return false;
      selected += 1;
      const isHit = selected >= nth && selected < nth + times;
      if (isHit) strikes += 1;
      return isHit;
    },
    async apply() {
      if (fault.delay !== undefined) await setTimeout(fault.delay);
      if (fault.hang) await latch.opened;
      if ('error' in fault) throw fault.error;
      if (fault.delay === undefined && !fault.hang) throw standardError(point);
    },
    strikes: () => strikes,
    release: latch.open,
    remove() {
      latch.open();
      remove();
    },
  };
}

function isSelected<Port>({ method, when }: Fault<Port>, call: PortCall<Port>): boolean {
  const isNamed = method === undefined ? call.method !== 'close' : [method].flat().includes(call.method);
  return isNamed && (when === undefined || when(call));
}

function createLatch(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

function standardError(point: Point): FlagsError {
  return point === 'before'
    ? new FlagsError('storage_unavailable', 'Injected fault: the storage cannot be reached. Nothing was changed.')
    : new FlagsError(
        'outcome_unknown',
        'Injected fault: the answer of the storage was lost. Read the state before you repeat the call.',
      );
}

/** All method names: a method that is added to a port does not compile until it is listed. */
type AllMethods<Port> = Readonly<Record<MethodOf<Port> & string, true>>;

export type FaultyPort<Port> = Pick<Port, MethodOf<Port>> & FaultInjector<Port>;

type AnyMethod = (...input: readonly unknown[]) => unknown;

/** Wraps the methods of a port so that faults can be injected. */
export function faultyPort<Port extends object>(port: Port, methods: AllMethods<Port>): FaultyPort<Port> {
  const faults = new Set<ArmedFault<Port>>();
  const calls: PortCall<Port>[] = [];

  async function perform(call: PortCall<Port>): Promise<unknown> {
    calls.push(call);
    const hitting = [...faults].filter((fault) => fault.hits(call));
    await applyAll(hitting, 'before');
    const answer = await (port[call.method] as AnyMethod)(...(call.input as readonly unknown[]));
    await applyAll(hitting, 'after');
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

async function applyAll<Port>(faults: readonly ArmedFault<Port>[], point: 'before' | 'after'): Promise<void> {
  for (const fault of faults) if (fault.point === point) await fault.apply();
}

/** A storage with injectable faults. */
export type FaultyStorage = FlagsStorage & FaultInjector<FlagsStorage>;

/**
 * Wraps a storage so that tests can inject faults: in any method, before or after it takes effect, at once, delayed or
 * never. Use it to test your service while its storage fails.
 *
 * Without faults it behaves like the given storage. `usage`, `watch` and `walBytes` are those of the given storage and do
 * not fail.
 *
 * @example
 * const storage = faultyStorage(memoryStorage());
 * const flags = await openFlags({ storage });
 *
 * storage.inject({ method: 'commit', error: new FlagsError('storage_busy', 'locked') });
 * await expect(api.post('/checkout/enable')).resolves.toMatchObject({ status: 503 });
 * storage.heal();
 *
 * // The change is made, but its answer is lost.
 * storage.inject({ method: 'commit', point: 'after', nth: 1 });
 *
 * // All calls hang until they are released.
 * const hanging = storage.inject({ hang: true });
 * hanging.release();
 */
export function faultyStorage(storage: FlagsStorage): FaultyStorage {
  const faulty = faultyPort<FlagsStorage>(storage, {
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
    ...(storage.driver && { driver: storage.driver }),
    ...(storage.usage && { usage: storage.usage }),
  };
}
