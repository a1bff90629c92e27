/** A map that forgets what was used least recently. */
export interface Recent<Value> {
  get(key: string): Value | undefined;
  set(key: string, value: Value): void;
}

export function createRecent<Value>(limit: number): Recent<Value> {
  const values = new Map<string, Value>();

  function set(key: string, value: Value): void {
    values.delete(key);
    values.set(key, value);
    const [oldest] = values.keys();
    if (values.size > limit && oldest !== undefined) values.delete(oldest);
  }

  return {
    set,
    get(key) {
      const value = values.get(key);
      if (value !== undefined) set(key, value);
      return value;
    },
  };
}
