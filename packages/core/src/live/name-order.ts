import { compareCodePoints, placeInOrder } from '../code-point-order.js';

interface Named {
  readonly name: string;
}

/** Items by name in code-point order, put in order once and kept so: what has changed since is put in its place. */
export interface NameOrder<Item extends Named> {
  /** Has to be told of every item that comes, goes or is replaced. */
  changed(name: string): void;
  /** A frozen list; the same one while nothing has changed. */
  list(): readonly Item[];
}

/** Beyond this share of the list, putting all in order anew costs less than finding the place of each. */
const MANY = 1 / 16;

/**
 * @param all every item there is now, in any order
 * @param find the item of a name as it is now
 */
export function createNameOrder<Item extends Named>(
  all: () => readonly Item[],
  find: (name: string) => Item | undefined,
): NameOrder<Item> {
  let ordered: readonly Item[] | undefined;
  const changed = new Set<string>();

  function current(): readonly Item[] {
    if (!ordered || changed.size > ordered.length * MANY) {
      return all().toSorted((one, other) => compareCodePoints(one.name, other.name));
    }
    if (changed.size === 0) return ordered;
    // Of the ways to copy a frozen list this one is by far the fastest.
    const next = [...ordered];
    for (const name of changed) place(next, name, find(name));
    return next;
  }

  return {
    changed: (name) => void changed.add(name),
    list() {
      ordered = Object.freeze(current());
      changed.clear();
      return ordered;
    },
  };
}

function place<Item extends Named>(items: Item[], name: string, item: Item | undefined): void {
  const at = placeInOrder(items, name, nameOf);
  const known = items[at]?.name === name ? 1 : 0;
  items.splice(at, known, ...(item ? [item] : []));
}

function nameOf({ name }: Named): string {
  return name;
}
