import timers from 'node:timers';

// Read at load: fake timers in a host's tests would otherwise block every request. Not `performance`, with which Node loads ten
// more modules.
const { setImmediate } = timers;
const { hrtime } = process;

/** All long work of this process shares one slice per turn of the event loop. It may last one item longer. */
const SLICE_MILLISECONDS = 5;

/** Milliseconds from a fixed moment. */
function now(): number {
  const [seconds, nanoseconds] = hrtime();
  return seconds * 1000 + nanoseconds / 1e6;
}

const waiting: (() => void)[] = [];
let startedAt: number | undefined;

/**
 * Yields the items, and waits for a later turn of the event loop whenever the time slice of this turn is over. Timers
 * and short requests run in between. Rejects with the signal's reason after the signal has aborted.
 *
 * @example
 * for await (const item of paced(items)) handle(item);
 */
export async function* paced<Item>(
  items: Iterable<Item> | AsyncIterable<Item>,
  { signal }: { readonly signal?: AbortSignal | undefined } = {},
): AsyncGenerator<Item, void> {
  for await (const item of items) {
    await pause(signal);
    yield item;
  }
}

/**
 * Waits for a later turn of the event loop if the time slice of this turn is over. Returns undefined if it is not, so that
 * short work waits for nothing. Await it before a long step.
 */
export function pause(signal?: AbortSignal): Promise<void> | undefined {
  return isSliceOver() ? nextTurn(signal) : undefined;
}

/**
 * Resolves in a later turn of the event loop, in the order of the calls. Callers share a turn until its slice is over.
 * Rejects with the signal's reason after the signal has aborted.
 */
export async function nextTurn(signal?: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    waiting.push(resolve);
    setImmediate(admitNext);
  });
  signal?.throwIfAborted();
}

/** Begins the slice of this turn, unless it has begun: long work that follows without a pause counts. */
export function beginSlice(): void {
  isSliceOver();
}

/** The caller continues before the next immediate of the turn, so that the slice includes the caller's work. */
function admitNext(): void {
  if (isSliceOver()) setImmediate(admitNext);
  else waiting.shift()?.();
}

/** The first call of a turn starts its slice. */
function isSliceOver(): boolean {
  const time = now();
  if (startedAt !== undefined) return time - startedAt > SLICE_MILLISECONDS;
  startedAt = time;
  setImmediate(() => {
    startedAt = undefined;
  });
  return false;
}
