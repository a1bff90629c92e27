/** A map that keeps the entries that were used last, and forgets the others. A read is a use, too. */
export class RecentMap<Key, Value> {
  /** A Map keeps the order in which keys are set: the key that was used last is the last one. */
  private readonly entries = new Map<Key, Value>();

  /** @param limit how many entries it keeps, at least one */
  constructor(private readonly limit: number) {}

  get(key: Key): Value | undefined {
    const value = this.entries.get(key);
    if (value !== undefined) this.set(key, value);
    return value;
  }

  set(key: Key, value: Value): void {
    this.entries.delete(key);
    this.entries.set(key, value);
    if (this.entries.size <= this.limit) return;
    for (const oldest of this.entries.keys()) {
      this.entries.delete(oldest);
      return;
    }
  }

  clear(): void {
    this.entries.clear();
  }

  /** Returns the keys, the one that was used last first. */
  keys(): readonly Key[] {
    return [...this.entries.keys()].reverse();
  }
}
