import { isObject, isSameJson } from './json.js';

/*
 * Compares documents: differences, three-way merge, and the edits between two lists. Runs in browsers too.
 *
 * A document is a tree of parts. Members of objects are parts. Items of a list are parts if all of them are objects: a
 * key identifies each. Any other list changes as a whole.
 */

/** One changed part of a document. Strategies and variants are matched by id and name, not by index. */
export interface PartDifference {
  /** A JSON Pointer; empty for a whole document. */
  readonly path: string;
  /** null if the part did not exist. */
  readonly before: unknown;
  /** null if the part was removed. */
  readonly after: unknown;
}

/** Returns the differences between two states of a document; null means that there is no document. */
export function compareStates(before: unknown, after: unknown, path = ''): readonly PartDifference[] {
  if (isSameJson(before ?? null, after ?? null)) return [];
  if (isObject(before) && isObject(after)) {
    return namesOf(before, after).flatMap((name) =>
      compareStates(memberOf(before, name), memberOf(after, name), join(path, name)),
    );
  }
  if (isItemList(before) && isItemList(after)) return compareLists(before, after, path);
  return [{ path, before: before ?? null, after: after ?? null }];
}

/** Reports a new order of the items as a difference of the list itself: the keys before and after. */
function compareLists(before: Items, after: Items, path: string): readonly PartDifference[] {
  const [from, to] = [toMap(before), toMap(after)];
  const keys = new Set([...from.keys(), ...to.keys()]);
  const items = [...keys].flatMap((key) => compareStates(from.get(key), to.get(key), join(path, key)));
  const isReordered = !isSameJson(sharedKeys(from, to), sharedKeys(to, from));
  return isReordered ? [...items, { path, before: [...from.keys()], after: [...to.keys()] }] : items;
}

/** A base state, and two states that were derived from it. */
interface Sides<T> {
  readonly base: T;
  readonly theirs: T;
  readonly mine: T;
}

/** A part that both sides have changed, to different values. `path` is a JSON Pointer. */
export interface Conflict extends Sides<unknown> {
  readonly path: string;
}

/** A part that only one side has changed. */
export interface MergedPart extends Conflict {
  readonly result: unknown;
}

export interface Merge<T> {
  readonly result: T;
  /** The result has my value, or the chosen side's. */
  readonly conflicts: readonly Conflict[];
  readonly merged: readonly MergedPart[];
  /** JSON Pointers to parts that both sides have changed to the same value. */
  readonly agreed: readonly string[];
  /** JSON Pointers to lists that both sides have reordered. The result has my order. */
  readonly reordered: readonly string[];
}

export type Choices = ReadonlyMap<string, 'mine' | 'theirs'>;

interface MergeOptions {
  /** The sides of conflicts, by path. Default: mine */
  readonly choices?: Choices;
  /** Whether a part with parts of its own changes as a whole. Default: never */
  readonly isWhole?: (path: string) => boolean;
}

/** Merges two changes of one document. Changes of different parts both take effect. */
export function mergeStates<T>(
  states: Sides<T>,
  { choices = new Map(), isWhole = () => false }: MergeOptions = {},
): Merge<T> {
  const conflicts: Conflict[] = [];
  const merged: MergedPart[] = [];
  const agreed: string[] = [];
  const reordered: string[] = [];
  const result = merge(states, '') as T;
  return { result, conflicts, merged, agreed, reordered };

  function merge(sides: Sides<unknown>, path: string): unknown {
    const { base, theirs, mine } = sides;
    const [isMine, isTheirs] = [isSameJson(base, theirs), isSameJson(base, mine)];
    if (isMine || isTheirs) {
      const result = isMine ? mine : theirs;
      if (isMine !== isTheirs) merged.push({ path, ...sides, result });
      return result;
    }
    if (!isWhole(path)) {
      if (isObject(base) && isObject(theirs) && isObject(mine)) return mergeMembers({ base, theirs, mine }, path);
      if (isItemList(base) && isItemList(theirs) && isItemList(mine)) return mergeLists({ base, theirs, mine }, path);
    }
    if (isSameJson(theirs, mine)) {
      agreed.push(path);
      return mine;
    }
    conflicts.push({ path, ...sides });
    return choices.get(path) === 'theirs' ? theirs : mine;
  }

  function mergeMembers({ base, theirs, mine }: Sides<Members>, path: string): object {
    const entries = namesOf(base, theirs, mine).map((name): [string, unknown] => {
      const sides = { base: memberOf(base, name), theirs: memberOf(theirs, name), mine: memberOf(mine, name) };
      return [name, merge(sides, join(path, name))];
    });
    return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
  }

  function mergeLists({ base, theirs, mine }: Sides<Items>, path: string): unknown[] {
    const [from, their, own] = [toMap(base), toMap(theirs), toMap(mine)];
    const isReordered = (map: ItemMap) => !isSameJson(sharedKeys(from, map), sharedKeys(map, from));
    const [theyReordered, iReordered] = [isReordered(their), isReordered(own)];
    if (theyReordered && iReordered) reordered.push(path);
    // Take the order of the side that has changed it.
    const [first, second] = theyReordered && !iReordered ? [their, own] : [own, their];
    const keys = new Set([...first.keys(), ...second.keys()]);
    const items = [...keys].map((key) =>
      merge({ base: from.get(key), theirs: their.get(key), mine: own.get(key) }, join(path, key)),
    );
    return items.filter((item) => item !== undefined);
  }
}

/** A step from one list to another: an item changes in place, is removed, or is added. */
export type Edit<Item> =
  | { readonly before: Item; readonly after: Item }
  | { readonly before: Item; readonly after: undefined }
  | { readonly before: undefined; readonly after: Item };

/** Returns the edits between two lists, ignoring their order. */
export function editItems<Item extends object>(before: readonly Item[], after: readonly Item[]): Edit<Item>[] {
  const [from, to] = [toMap(before), toMap(after)];
  const keys = [...new Set([...to.keys(), ...from.keys()])];
  return keys
    .map((key) => ({ before: from.get(key), after: to.get(key) }) as Edit<Item>)
    .filter((edit) => !isSameJson(edit.before, edit.after));
}

/**
 * Returns the edits between two lists, including the order. Items are added at the end only, so every item after the
 * first misplaced one is removed and added again. Additions come before removals, so the list is never empty in
 * between, unless its only item moves.
 */
export function editList<Item extends object>(before: readonly Item[], after: readonly Item[]): Edit<Item>[] {
  const [from, to] = [toMap(before), toMap(after)];
  const [kept, wanted] = [sharedKeys(from, to), [...to.keys()]];
  const firstMoved = kept.findIndex((key, index) => key !== wanted[index]);
  const staying = firstMoved === -1 ? kept.length : firstMoved;
  const edits: Edit<Item>[] = [];
  for (const [index, [key, next]] of [...to].entries()) {
    const current = from.get(key);
    if (current && index < staying) {
      if (!isSameJson(current, next)) edits.push({ before: current, after: next });
      continue;
    }
    if (current) edits.push({ before: current, after: undefined });
    edits.push({ before: undefined, after: next });
  }
  for (const [key, current] of from) if (!to.has(key)) edits.push({ before: current, after: undefined });
  return edits;
}

type Members = Readonly<Record<string, unknown>>;
type Items = readonly Members[];
type ItemMap<Item = Members> = ReadonlyMap<string, Item>;

function isItemList(value: unknown): value is Items {
  return Array.isArray(value) && value.every(isObject);
}

/** Returns the items by key, in their order. A number distinguishes items with the same key. */
function toMap<Item extends object>(items: readonly Item[]): ReadonlyMap<string, Item> {
  const map = new Map<string, Item>();
  for (const [index, item] of items.entries()) {
    const key = String(keyOf(item as Members) ?? index);
    let unique = key;
    for (let number = 2; map.has(unique); number++) unique = `${key} ${number}`;
    map.set(unique, item);
  }
  return map;
}

/**
 * Returns the key of an item: an id, a user (members), a parent (dependencies), a field with its operator
 * (constraints), a field (overrides), or a name.
 */
function keyOf({ id, userId, flag, feature, contextName, operator, name }: Members): unknown {
  const field = contextName !== undefined && operator !== undefined ? `${contextName} ${operator}` : contextName;
  return id ?? userId ?? flag ?? feature ?? field ?? name;
}

/** Returns the keys that both maps have, in the order of the first one. */
function sharedKeys(map: ItemMap<unknown>, other: ItemMap<unknown>): readonly string[] {
  return [...map.keys()].filter((key) => other.has(key));
}

function namesOf(...objects: readonly Members[]): readonly string[] {
  return [...new Set(objects.flatMap((one) => Object.keys(one)))];
}

/** Returns an own member of parsed JSON. Its name may be `constructor`, which every object inherits. */
export function memberOf(value: object | null | undefined, name: string): unknown {
  return value && Object.hasOwn(value, name) ? (value as Members)[name] : undefined;
}

/** Returns the JSON Pointer to a part. */
export function toPointer(path: readonly string[]): string {
  return path.reduce(join, '');
}

function join(path: string, name: string): string {
  return `${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}
