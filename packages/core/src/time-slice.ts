import { performance } from 'node:perf_hooks';
import { setImmediate } from 'node:timers';

/** In milliseconds. What looks at the clock between its steps may take one step more. */
const LENGTH = 10;

const waiting: (() => void)[] = [];
let startedAt: number | undefined;

/**
 * Divides long synchronous work, so that timers and other requests get their turn. All work in this process shares one
 * slice per turn of the event loop: many requests at once take no longer turns than one does.
 *
 * @example
 * for (const item of items) {
 *   if (timeSlice.isOver()) await timeSlice.next();
 *   handle(item);
 * }
 */
export const timeSlice = {
  /** Whether the slice of this turn is used up; it starts with the first call. */
  isOver(): boolean {
    const now = performance.now();
    if (startedAt !== undefined) return now - startedAt > LENGTH;
    startedAt = now;
    setImmediate(() => {
      startedAt = undefined;
    });
    return false;
  },

  /** Resolves in a later turn of the event loop, first come, first served, one caller per turn. */
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
