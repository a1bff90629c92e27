/**
 * Runs work after all earlier work for the same key has ended, whether it failed or not. Work for other keys runs
 * concurrently. If earlier work fails with a shared error, queued work fails with the same error.
 */
export type KeyedMutex = <T>(key: string, work: () => Promise<T>) => Promise<T>;

/**
 * Creates a mutex per key. Changes of one document run one at a time within the process, so that they do not conflict.
 * Only changes of other processes cause conflicts and retries.
 *
 * @param isShared whether queued work would meet the same error. Default: never
 */
export function createKeyedMutex(isShared: (error: unknown) => boolean = () => false): KeyedMutex {
  const latest = new Map<string, Promise<unknown>>();
  return (key, work) => {
    const before = latest.get(key);
    const turn = before ? before.then(work, afterFailure(work)) : work();
    latest.set(key, turn);
    const cleanUp = () => {
      if (latest.get(key) === turn) latest.delete(key);
    };
    turn.then(cleanUp, cleanUp);
    return turn;
  };

  function afterFailure<T>(work: () => Promise<T>): (error: unknown) => Promise<T> {
    return async (error) => {
      if (isShared(error)) throw error;
      return work();
    };
  }
}
