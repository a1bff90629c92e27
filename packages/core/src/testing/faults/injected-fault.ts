import { setTimeout } from 'node:timers/promises';
import { FlagsError } from '../../errors.js';
import type { Fault, InjectedFault, PortCall } from './fault.js';

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
