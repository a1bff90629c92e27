import timers from 'node:timers';

/** Not the global one, which fake timers in a host's tests replace. */
const { setImmediate } = timers;

/**
 * Batches loads of the same turn of the event loop into one look-up, which begins after all of them.
 *
 * @param lookUp returns a function that finds the result for a key
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
