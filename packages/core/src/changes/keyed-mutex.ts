/**
 * Runs work after all earlier work for the same keys has ended, whether it failed or not. Work for other keys runs
 * concurrently. If earlier work fails with a shared error, queued work fails with the same error.
 *
 * Work for several keys joins all queues at once. It waits for earlier work only, so crossing sets of keys cannot
 * deadlock.
 */
export type KeyedMutex = <T>(keys: readonly string[], work: () => Promise<T>) => Promise<T>;

/**
 * Creates a mutex per key. Changes of one document run one at a time within the process, so that they do not conflict.
 * Only changes of other processes cause conflicts and retries.
 *
 * @param isShared whether queued work would meet the same error. Default: never
 */
export function createKeyedMutex(isShared: (error: unknown) => boolean = () => false): KeyedMutex {
  const latest = new Map<string, Promise<unknown>>();
  return (keys, work) => {
    const before = keys.flatMap((key) => latest.get(key) ?? []);
    const turn = before.length === 0 ? work() : allOf(before).then(work);
    for (const key of keys) latest.set(key, turn);
    const cleanUp = () => {
      for (const key of keys) if (latest.get(key) === turn) latest.delete(key);
    };
    turn.then(cleanUp, cleanUp);
    return turn;
  };

  /** Rejects with a shared error, if there is one, after all have ended. */
  async function allOf(earlier: readonly Promise<unknown>[]): Promise<void> {
    const outcomes = await Promise.allSettled(earlier);
    const failed = outcomes.find((outcome) => outcome.status === 'rejected' && isShared(outcome.reason));
    if (failed?.status === 'rejected') throw failed.reason;
  }
}
