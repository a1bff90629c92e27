import { setMaxListeners } from 'node:events';
import { FlagsError } from './errors.js';

/** Tracks the running operations, and whether the engine is open. */
export interface Lifetime {
  /** Aborts as soon as `end` is called. */
  readonly closing: AbortSignal;
  /** Runs an operation unless the engine is closed. The operation must be async: it must not throw before it returns. */
  track<T>(operation: () => Promise<T>): Promise<T>;
  /** Throws `closed` if the engine is closed. */
  assertOpen(): void;
  /** Refuses new operations, waits for running ones, then calls `release`. Later calls return the first promise. */
  end(release: () => Promise<void>): Promise<void>;
}

export function createLifetime(): Lifetime {
  const closing = new AbortController();
  // Node warns of more than ten listeners: each function of the host that is asked has one.
  setMaxListeners(0, closing.signal);
  let running = 0;
  let whenIdle: () => void = () => undefined;
  let ending: Promise<void> | undefined;

  function assertOpen(): void {
    if (ending) throw closedError();
  }

  function leave(): void {
    running -= 1;
    if (running === 0) whenIdle();
  }

  return {
    closing: closing.signal,
    assertOpen,
    track(operation) {
      if (ending) return Promise.reject(closedError());
      running += 1;
      const result = operation();
      void result.then(leave, leave);
      return result;
    },
    end(release) {
      if (ending) return ending;
      const idle = new Promise<void>((resolve) => {
        whenIdle = resolve;
      });
      ending = idle.then(release);
      if (running === 0) whenIdle();
      closing.abort();
      return ending;
    },
  };
}

function closedError(): FlagsError {
  return new FlagsError('closed', 'This instance is closed; create another one.');
}
