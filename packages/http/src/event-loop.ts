import timers from 'node:timers';

/** Keeps the original timers. Fake timers in the tests of a host would otherwise block every request. */
const { setImmediate } = timers;

/**
 * Returns a function that resolves after the current event-loop phase. All callers in the same phase share one promise.
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

/** The maximum time per turn of a task, in milliseconds. */
const TURN_MILLISECONDS = 10;

/** The time after which no other task starts in an event-loop pass, in milliseconds. */
const PASS_MILLISECONDS = 2;

const waiting: (() => void)[] = [];
let passStartedAt: number | undefined;

/**
 * Runs a task in a later event-loop pass, in the order of the calls. Tasks share a pass while they are short: none starts
 * after the first ones have taken {@link PASS_MILLISECONDS}. A short request therefore waits for at most one slice of one
 * long reply.
 */
export function runInTurn(task: () => void): void {
  waiting.push(task);
  setImmediate(runNext);
}

/** Promises of a task are settled before the next immediate of the pass, so that the clock shows what the task has cost. */
function runNext(): void {
  const now = performance.now();
  if (passStartedAt === undefined) {
    passStartedAt = now;
    setImmediate(() => {
      passStartedAt = undefined;
    });
  } else if (now - passStartedAt > PASS_MILLISECONDS) {
    setImmediate(runNext);
    return;
  }
  waiting.shift()?.();
}

/** Resolves in the caller's turn; see {@link runInTurn}. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => runInTurn(resolve));
}

/** Creates a function that returns true when the turn has used up its time. That call also starts the next turn. */
export function createPace(): () => boolean {
  let begin = performance.now();
  return () => {
    const now = performance.now();
    if (now - begin < TURN_MILLISECONDS) return false;
    begin = now;
    return true;
  };
}
