import { FlagsError } from '../errors.js';

/** Whether the engine is open, and what is under way in it. */
export interface Lifetime {
  /** Aborted when the end begins. */
  readonly closing: AbortSignal;
  /** Runs an operation unless the engine is closed. */
  track<T>(operation: () => Promise<T>): Promise<T>;
  /** Refuses with `closed` once the engine is. */
  assertOpen(): void;
  /** Lets nothing more begin; when all that was under way has ended, releases. Later calls wait for the first. */
  end(release: () => Promise<void>): Promise<void>;
}

export function createLifetime(): Lifetime {
  const closing = new AbortController();
  let underWay = 0;
  let whenIdle = () => undefined as void;
  let ending: Promise<void> | undefined;

  function requireOpen(): void {
    if (ending) throw new FlagsError('closed', 'This instance is closed; create another one.');
  }

  return {
    closing: closing.signal,
    assertOpen: requireOpen,
    async track(operation) {
      requireOpen();
      underWay += 1;
      try {
        return await operation();
      } finally {
        underWay -= 1;
        if (underWay === 0) whenIdle();
      }
    },
    end(release) {
      if (ending) return ending;
      const idle = new Promise<void>((resolve) => {
        whenIdle = resolve;
      });
      ending = idle.then(release);
      if (underWay === 0) whenIdle();
      closing.abort();
      return ending;
    },
  };
}
