/** Calls a function once per key. */
export function memoize<Key, Result>(call: (key: Key) => Result): (key: Key) => Result {
  const results = new Map<Key, Result>();
  return (key) => {
    if (!results.has(key)) results.set(key, call(key));
    return results.get(key) as Result;
  };
}

/**
 * Calls a function once per key, and shares the result among all callers. Calls it again after a failure.
 *
 * @param idOf identifies a key that is an object
 */
export function memoizeAsync<Key, Result>(
  call: (key: Key) => Promise<Result>,
  idOf: (key: Key) => unknown = (key) => key,
): (key: Key) => Promise<Result> {
  const results = new Map<unknown, Promise<Result>>();
  return (key) => {
    const id = idOf(key);
    const known = results.get(id);
    if (known) return known;
    const result = call(key);
    results.set(id, result);
    result.catch(() => results.delete(id));
    return result;
  };
}
