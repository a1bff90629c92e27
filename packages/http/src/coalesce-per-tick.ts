import timers from 'node:timers';

/** Those of the moment at which this was loaded: a host's tests replace the global ones, and no request would be answered. */
export const { setImmediate, clearImmediate } = timers;

/**
 * Resolves when everything that has arrived by now was taken in, before the next is waited for: once for all who ask in the
 * same turn of the event loop.
 */
export function coalescePerTick(): () => Promise<void> {
  let next: Promise<void> | undefined;
  return () => {
    next ??= new Promise<void>((resolve) => {
      setImmediate(() => {
        next = undefined;
        resolve();
      });
    });
    return next;
  };
}

/** A task takes no longer than this, in milliseconds, before it waits for its next turn. */
const TURN_MILLISECONDS = 10;

const waiting: (() => void)[] = [];

/**
 * Runs a task in a later pass of the event loop. A pass runs one task: however many long answers are under way, any other
 * request waits for one slice of one of them.
 */
export function runInTurn(task: () => void): void {
  waiting.push(task);
  if (waiting.length === 1) setImmediate(runNext);
}

function runNext(): void {
  // First: the task may throw.
  if (waiting.length > 1) setImmediate(runNext);
  waiting.shift()?.();
}

/** Resolves when it is the caller's turn, see {@link runInTurn}. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => runInTurn(resolve));
}

/** Makes a function that tells when work has taken long enough for one turn. The next turn begins with that answer. */
export function createPace(): () => boolean {
  let begin = performance.now();
  return () => {
    const now = performance.now();
    if (now - begin < TURN_MILLISECONDS) return false;
    begin = now;
    return true;
  };
}
