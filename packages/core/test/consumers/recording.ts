import type { ConsumerHandler, Flags, FlagsEvent } from '../../src/index.js';
import { DEFAULT } from '../references.js';

/** A handler that records the flags of its batches, and throws or waits if `work` does. */
export function recording(work: (flags: readonly string[], signal: AbortSignal) => unknown = () => undefined) {
  const batches: (readonly string[])[] = [];
  const signals: AbortSignal[] = [];
  const handler: ConsumerHandler = async (events, { signal }) => {
    const names = namesOf(events);
    batches.push(names);
    signals.push(signal);
    await work(names, signal);
  };
  return { handler, batches, signals, seen: () => batches.flat() };
}

function namesOf(events: readonly FlagsEvent[]): readonly string[] {
  return events.map(({ flag, type }) => flag ?? type);
}

/** Creates flags of these names, one event each. */
export async function happen(flags: Flags<string>, ...names: readonly string[]): Promise<void> {
  for (const name of names) await flags.createFlag(DEFAULT, { name });
}

/** Resolves when the signal aborts, as a handler does that ends when it is told to. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** Never resolves. */
export function hang(): Promise<void> {
  return new Promise(() => undefined);
}
