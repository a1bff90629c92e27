import { performance } from 'node:perf_hooks';
import { setImmediate } from 'node:timers';

/** Callers check the clock between steps, so a slice may last one step longer. */
const SLICE_MS = 10;

const waiting: (() => void)[] = [];
let startedAt: number | undefined;

/**
 * Splits long synchronous work into slices, so that timers and other requests can run in between. All work of this
 * process shares one slice per turn of the event loop, so concurrent requests do not prolong a turn.
 *
 * @example
 * for (const item of items) {
 *   if (timeSlice.isOver()) await timeSlice.next();
 *   handle(item);
 * }
 */
export const timeSlice = {
  /** Whether this turn's slice is used up. The first call of a turn starts the slice. */
  isOver(): boolean {
    const now = performance.now();
    if (startedAt !== undefined) return now - startedAt > SLICE_MS;
    startedAt = now;
    setImmediate(() => {
      startedAt = undefined;
    });
    return false;
  },

  /** Resolves in a later turn of the event loop, one caller per turn, in the order of the calls. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      waiting.push(resolve);
      if (waiting.length === 1) setImmediate(admitNext);
    });
  },
};

function admitNext(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(admitNext);
}
