/** A part that two people have changed to different values. */
export interface Conflict {
  /** A JSON Pointer into the document; items of lists are named by their key. */
  readonly path: string;
  readonly base: unknown;
  readonly theirs: unknown;
  readonly mine: unknown;
}

/** A part that only one of two people has changed. */
export interface MergedPart extends Conflict {
  readonly result: unknown;
}

export interface Merge<T> {
  readonly result: T;
  /** Parts that both have changed. The result has mine, or what was chosen. */
  readonly conflicts: readonly Conflict[];
  /** Parts that one of them has changed. */
  readonly merged: readonly MergedPart[];
}

export type Choices = ReadonlyMap<string, 'mine' | 'theirs'>;

interface Sides {
  readonly base: unknown;
  readonly theirs: unknown;
  readonly mine: unknown;
}

/**
 * Merges two edits of one document. Changes of different parts both take effect: members of objects, and items of lists
 * that have an id, a name or a context field.
 */
export function mergeDocuments<T>(sides: { base: T; theirs: T; mine: T }, choices: Choices = new Map()): Merge<T> {
  const conflicts: Conflict[] = [];
  const merged: MergedPart[] = [];
  const result = merge(sides, '') as T;
  return { result, conflicts, merged };

  function merge({ base, theirs, mine }: Sides, path: string): unknown {
    if (isEqual(theirs, mine)) return mine;
    const isDeep = !isEqual(base, theirs) && !isEqual(base, mine);
    if (isDeep && [base, theirs, mine].every(isObject)) {
      return mergeObjects({ base, theirs, mine } as Record<keyof Sides, Record<string, unknown>>, path);
    }
    if (isDeep && [base, theirs, mine].every(isKeyedList)) {
      return mergeLists({ base, theirs, mine } as Record<keyof Sides, object[]>, path);
    }
    if (isEqual(base, mine)) return note({ path, base, theirs, mine, result: theirs });
    if (isEqual(base, theirs)) return note({ path, base, theirs, mine, result: mine });
    conflicts.push({ path, base, theirs, mine });
    return choices.get(path) === 'theirs' ? theirs : mine;
  }

  function note(part: MergedPart): unknown {
    merged.push(part);
    return part.result;
  }

  function mergeObjects(sides: Record<keyof Sides, Record<string, unknown>>, path: string): object {
    const { base, theirs, mine } = sides;
    const names = new Set([...Object.keys(base), ...Object.keys(theirs), ...Object.keys(mine)]);
    const entries = [...names].map((name): [string, unknown] => [
      name,
      merge(
        { base: memberOf(base, name), theirs: memberOf(theirs, name), mine: memberOf(mine, name) },
        `${path}/${name}`,
      ),
    ]);
    return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
  }

  function mergeLists({ base, theirs, mine }: Record<keyof Sides, object[]>, path: string): unknown[] {
    const [bases, theirItems, mineItems] = [base, theirs, mine].map(byKey) as [Keyed, Keyed, Keyed];
    const theyReordered = orderOf(bases, theirItems) !== orderOf(theirItems, bases);
    const iReordered = orderOf(bases, mineItems) !== orderOf(mineItems, bases);
    // The order of whoever has changed it; mine, if both have.
    const [first, second] = theyReordered && !iReordered ? [theirItems, mineItems] : [mineItems, theirItems];
    const keys = new Set([...first.keys(), ...second.keys()]);
    return [...keys].flatMap((key) => {
      const item = merge(
        { base: bases.get(key), theirs: theirItems.get(key), mine: mineItems.get(key) },
        `${path}/${key}`,
      );
      return item === undefined ? [] : [item];
    });
  }
}

type Keyed = ReadonlyMap<string, object>;

/** Items that share a key are told apart by their number. */
function byKey(list: readonly object[]): Keyed {
  const items = new Map<string, object>();
  for (const item of list) {
    const key = keyOf(item);
    let unique = key;
    for (let number = 2; items.has(unique); number++) unique = `${key} ${number}`;
    items.set(unique, item);
  }
  return items;
}

function keyOf(item: object): string {
  const { id, contextName, operator, feature, name } = item as Record<string, unknown>;
  if (id !== undefined) return String(id);
  if (contextName !== undefined) return operator === undefined ? String(contextName) : `${contextName} ${operator}`;
  return String(feature ?? name);
}

/** The keys of the first list that the second one has, too. */
function orderOf(list: Keyed, other: Keyed): string {
  return JSON.stringify([...list.keys()].filter((key) => other.has(key)));
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isKeyedList(value: unknown): boolean {
  return Array.isArray(value) && value.every(isObject);
}

/** Returns a member of parsed JSON. A parameter may be called `constructor`, which every object inherits. */
export function memberOf(value: object | null | undefined, name: string): unknown {
  return value && Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
}

/** Compares JSON values. Absent members equal undefined ones. */
export function isEqual(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const [first, second] = [one, other] as Record<string, unknown>[] as [
    Record<string, unknown>,
    Record<string, unknown>,
  ];
  const names = new Set([...Object.keys(first), ...Object.keys(second)]);
  return [...names].every((name) => isEqual(memberOf(first, name), memberOf(second, name)));
}
