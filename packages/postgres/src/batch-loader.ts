import timers from 'node:timers';

/** A host's tests replace the global one. */
const { setImmediate } = timers;

/**
 * Looks up together what is asked for in the same turn of the event loop: many who ask at once cost one statement. Each
 * look-up begins after it was asked for.
 *
 * @param lookUp gives what it has found, by key
 */
export function createBatchLoader<Key, Found>(
  lookUp: (keys: readonly Key[]) => Promise<(key: Key) => Found>,
): (key: Key) => Promise<Found> {
  let waiting: Key[] = [];
  let answer: Promise<(key: Key) => Found> | undefined;

  function begin(): Promise<(key: Key) => Found> {
    const keys = waiting;
    waiting = [];
    answer = undefined;
    return lookUp(keys);
  }

  return async (key) => {
    waiting.push(key);
    answer ??= new Promise<void>((resolve) => void setImmediate(resolve)).then(begin);
    return (await answer)(key);
  };
}
