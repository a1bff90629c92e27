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
  // The ends of the latest work. They do not refer to its result: a map keeps removed values alive for a while, and the
  // documents of every change would then outlive several garbage collections.
  const latest = new Map<string, Promise<SharedFailure | undefined>>();

  return (keys, work) => {
    const before: Promise<SharedFailure | undefined>[] = [];
    for (const key of keys) {
      const end = latest.get(key);
      if (end) before.push(end);
    }
    const turn = before.length === 0 ? work() : allOf(before).then(work);
    const cleanUp = (): undefined => {
      for (const key of keys) if (latest.get(key) === end) latest.delete(key);
    };
    const end: Promise<SharedFailure | undefined> = turn.then(cleanUp, (error: unknown) => {
      cleanUp();
      return isShared(error) ? { error } : undefined;
    });
    for (const key of keys) latest.set(key, end);
    return turn;
  };
}

interface SharedFailure {
  readonly error: unknown;
}

/** Rejects with a shared error, if there is one, after all have ended. */
async function allOf(earlier: readonly Promise<SharedFailure | undefined>[]): Promise<void> {
  const failed = (await Promise.all(earlier)).find((failure) => failure !== undefined);
  if (failed) throw failed.error;
}
