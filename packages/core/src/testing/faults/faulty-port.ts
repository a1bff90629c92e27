import type { FaultInjector, MethodOf, PortCall } from './fault.js';
import { type ArmedFault, armFault } from './injected-fault.js';

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
