import type { CompiledFlag } from './compiled-flag.js';

/**
 * Which flags use, or once used, a segment. Snapshots of one line share it and only add to it: for each of them it names
 * at least the users that it has.
 */
export class SegmentUsers {
  private readonly users = new Map<number, Set<string>>();

  add(name: string, flag: CompiledFlag): void {
    for (const id of flag.segments) {
      const names = this.users.get(id) ?? new Set();
      this.users.set(id, names.add(name));
    }
  }

  of(segment: number): Iterable<string> {
    return this.users.get(segment) ?? [];
  }
}
