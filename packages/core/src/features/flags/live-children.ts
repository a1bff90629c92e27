import type { DocumentKey } from '../../storage/port.js';
import type { FlagState } from './flag.js';
import { flagDocuments } from './flag.kind.js';

const NONE: readonly string[] = [];

/** The children of all flags, from memory, without archived ones. The replica reports changed flags. */
export class LiveChildren {
  private readonly children = new Map<string, Set<string>>();
  private readonly parents = new Map<string, readonly string[]>();

  constructor(private readonly flags: ReadonlyMap<string, FlagState>) {
    for (const name of flags.keys()) this.update(name);
  }

  /** Updates the parents of changed flags. */
  readonly follow = (changed: readonly DocumentKey[]): void => {
    for (const { kind, id } of changed) if (kind === flagDocuments.kind) this.update(id);
  };

  /** Returns the names of the flags that depend on a flag and are not archived, in name order. */
  of(parent: string): readonly string[] {
    const names = this.children.get(parent);
    // Names of flags are ASCII, so that the default order is that of code points.
    return names ? [...names].sort() : NONE;
  }

  private update(name: string): void {
    for (const parent of this.parents.get(name) ?? NONE) {
      const names = this.children.get(parent);
      names?.delete(name);
      if (names?.size === 0) this.children.delete(parent);
    }
    const flag = this.flags.get(name);
    const parents = flag && !flag.archived ? flag.dependencies.map(({ flag }) => flag) : NONE;
    if (parents.length === 0) this.parents.delete(name);
    else this.parents.set(name, parents);
    for (const parent of parents) {
      const names = this.children.get(parent);
      if (names) names.add(name);
      else this.children.set(parent, new Set([name]));
    }
  }
}
