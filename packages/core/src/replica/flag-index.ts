import type { Versioned } from '../changes/documents.js';
import type { FlagState } from '../flags/flag.js';
import { type IndexedFlag, toIndexedFlag } from '../flags/flag-index.js';
import type { Settings } from '../flags.js';
import { createNameOrder } from './environment-view.js';

/** All flags, archived ones too, as lists across projects read them. It holds no strategies of archived flags. */
export interface FlagIndex {
  /** Applies the state of a flag at a revision; undefined after its deletion. */
  update(name: string, state: FlagState | undefined, revision: number): void;
  /** Returns a frozen list in name order (code points). Later changes create another list. */
  list(): readonly IndexedFlag[];
}

export function createFlagIndex({ environments }: Pick<Settings, 'environments'>): FlagIndex {
  const flags = new Map<string, IndexedFlag>();
  // Evaluation holds these states anyway. Their entries are made for the next list, because not every change has one.
  const changed = new Map<string, Versioned<FlagState>>();
  const order = createNameOrder(
    () => [...flags.values()],
    (name) => flags.get(name),
  );

  function enter(name: string, { state, revision }: Versioned<FlagState>): void {
    flags.set(name, toIndexedFlag(state, { revision, environments }));
  }

  return {
    update(name, state, revision) {
      if (state && !state.archived) {
        changed.set(name, { state, revision });
      } else {
        changed.delete(name);
        if (state) enter(name, { state, revision });
        else flags.delete(name);
      }
      order.changed(name);
    },
    list() {
      for (const [name, flag] of changed) enter(name, flag);
      changed.clear();
      return order.list();
    },
  };
}
