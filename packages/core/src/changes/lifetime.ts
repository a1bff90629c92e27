import { FlagsError } from '../errors.js';

/** Tracks the running operations, and whether the engine is open. */
export interface Lifetime {
  /** Aborts as soon as `end` is called. */
  readonly closing: AbortSignal;
  /** Runs an operation unless the engine is closed. */
  track<T>(operation: () => Promise<T>): Promise<T>;
  /** Throws `closed` if the engine is closed. */
  assertOpen(): void;
  /** Refuses new operations, waits for running ones, then calls `release`. Later calls return the first promise. */
  end(release: () => Promise<void>): Promise<void>;
}

export function createLifetime(): Lifetime {
  const closing = new AbortController();
  let running = 0;
  let whenIdle: () => void = () => undefined;
  let ending: Promise<void> | undefined;

  function assertOpen(): void {
    if (ending) throw new FlagsError('closed', 'This instance is closed; create another one.');
  }

  return {
    closing: closing.signal,
    assertOpen,
    async track(operation) {
      assertOpen();
      running += 1;
      try {
        return await operation();
      } finally {
        running -= 1;
        if (running === 0) whenIdle();
      }
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
