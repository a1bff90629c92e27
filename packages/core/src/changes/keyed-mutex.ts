/**
 * Runs work for a key when all earlier work for that key has ended, however it ended. Other keys do not wait. Who waits
 * when earlier work fails with an error for all fails with it too.
 */
export type KeyedMutex = <T>(key: string, work: () => Promise<T>) => Promise<T>;

/**
 * Changes to one document take turns within the process: each reads what the one before has written. Races, and with
 * them retries, are left to other processes.
 *
 * @param isForAll whether an error is one that whoever waits would only wait as long for
 */
export function createKeyedMutex(isForAll: (error: unknown) => boolean = () => false): KeyedMutex {
  const latest = new Map<string, Promise<unknown>>();
  return (key, work) => {
    const before = latest.get(key);
    const turn = before ? before.then(work, afterFailure(work)) : work();
    latest.set(key, turn);
    const leave = () => {
      if (latest.get(key) === turn) latest.delete(key);
    };
    turn.then(leave, leave);
    return turn;
  };

  function afterFailure<T>(work: () => Promise<T>): (error: unknown) => Promise<T> {
    return async (error) => {
      if (isForAll(error)) throw error;
      return work();
    };
  }
}
