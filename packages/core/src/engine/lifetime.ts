import { FlagsError } from '../errors.js';

/** Whether the engine is open, and what is under way in it. */
export interface Lifetime {
  /** Aborted when the end begins. */
  readonly closing: AbortSignal;
  /** Runs an operation unless the engine is closed. */
  track<T>(operation: () => Promise<T>): Promise<T>;
  /** Refuses with `closed` once the engine is. */
  requireOpen(): void;
  /** Lets nothing more begin; when all that was under way has ended, releases. Later calls wait for the first. */
  end(release: () => Promise<void>): Promise<void>;
}

export function createLifetime(): Lifetime {
  const underWay = new Set<Promise<unknown>>();
  const closing = new AbortController();
  let ending: Promise<void> | undefined;

  function requireOpen(): void {
    if (ending) throw new FlagsError('closed', 'This instance is closed; create another one.');
  }

  return {
    closing: closing.signal,
    requireOpen,
    async track(operation) {
      requireOpen();
      const running = operation();
      underWay.add(running);
      try {
        return await running;
      } finally {
        underWay.delete(running);
      }
    },
    end(release) {
      if (ending) return ending;
      ending = Promise.allSettled(underWay).then(release);
      closing.abort();
      return ending;
    },
  };
}
