import { isObject, isSameJson } from '../base/json.js';

/** One changed part of a document. `path` is a JSON Pointer; null stands for a part that does not exist. */
export interface Difference {
  readonly path: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** A fact as events store it. */
export interface DocumentEvent {
  readonly type: string;
  readonly environment: string | null;
  readonly data: unknown;
  readonly before: unknown;
}

/** The names of the members, items and keys that lead to a part. */
type Path = readonly string[];
type Members = Readonly<Record<string, unknown>>;

/** The member that identifies an item in a list of this name. Items of other lists are matched by position. */
const KEYS: ReadonlyMap<string, string> = new Map([
  ['environments', 'name'],
  ['strategies', 'id'],
  ['variants', 'name'],
  ['dependencies', 'flag'],
  ['members', 'userId'],
]);

/** Returns the differences between two states of a document; null stands for no document. */
export function compareStates(before: unknown, after: unknown): readonly Difference[] {
  return compareValues([], before ?? null, after ?? null);
}

/**
 * Returns the differences that events make to an existing document, without reading it: every event contains its part
 * before and after.
 */
export function compareByEvents(events: readonly DocumentEvent[]): readonly Difference[] {
  const parts = new Map<string, { readonly path: Path; readonly before: unknown; after: unknown }>();
  for (const event of events) {
    for (const { path, before, after } of partsOf(event)) {
      const name = toPointer(path);
      const known = parts.get(name);
      if (known) known.after = after;
      else parts.set(name, { path, before, after });
    }
  }
  return [...parts.values()].flatMap(({ path, before, after }) => compareValues(path, before, after));
}

interface Part {
  readonly path: Path;
  readonly before: unknown;
  readonly after: unknown;
}

/** Members of `flag-updated` that no client sees, or that inform about the flag: other events change them. */
const INFORMATION: ReadonlySet<string> = new Set([
  'name',
  'project',
  'stale',
  'archived',
  'createdAt',
  'lastSeenAt',
  'variants',
  'enabledIn',
  'layout',
]);

function partsOf({ type, environment, data, before }: DocumentEvent): readonly Part[] {
  const [to, from] = [toMembers(data), toMembers(before)];
  const whole = (path: Path): Part => ({ path, before: before ?? null, after: data ?? null });
  switch (type) {
    case 'environment-enabled':
    case 'environment-disabled':
      return [switchPart(environment, from.enabled, to.enabled)];
    case 'strategy-added':
    case 'strategy-updated':
    case 'strategy-removed':
      return [whole(['environments', `${environment}`, 'strategies', `${to.id ?? from.id}`])];
    case 'dependency-added':
    case 'dependency-updated':
    case 'dependency-removed':
      return [whole(['dependencies', `${to.flag ?? from.flag}`])];
    case 'member-added':
    case 'member-role-changed':
    case 'member-removed':
      return [whole(['members', `${to.userId ?? from.userId}`])];
    case 'flag-updated':
      return memberParts(from, to, (name) => !INFORMATION.has(name));
    case 'flag-revived':
      return [
        { path: ['archived'], before: true, after: false },
        ...toNames(from.enabledIn).map((name) => switchPart(name, true, false)),
      ];
    case 'flag-archived':
      return memberParts(from, to, (name) => name !== 'enabledIn');
    case 'variants-updated':
      return [{ path: ['variants'], before: from.variants ?? [], after: to.variants ?? [] }];
    default:
      return memberParts(from, to, () => true);
  }
}

function switchPart(environment: string | null, before: unknown, after: unknown): Part {
  return { path: ['environments', `${environment}`, 'enabled'], before, after };
}

function memberParts(from: Members, to: Members, isShown: (name: string) => boolean): readonly Part[] {
  const names = Object.keys({ ...from, ...to }).filter(isShown);
  return names.map((name) => ({ path: [name], before: ownOf(from, name), after: ownOf(to, name) }));
}

function toNames(value: unknown): readonly string[] {
  return Array.isArray(value) ? value : [];
}

function toMembers(value: unknown): Members {
  return isObject(value) ? value : {};
}

function compareValues(path: Path, before: unknown, after: unknown): readonly Difference[] {
  if (isSameJson(before, after)) return [];
  if (isObject(before) && isObject(after)) return compareMembers(path, before, after);
  if (Array.isArray(before) && Array.isArray(after)) {
    const lists = listsOf(path.at(-1) ?? '', before, after);
    if (lists) return compareLists(path, lists);
  }
  return [{ path: toPointer(path), before: before ?? null, after: after ?? null }];
}

function compareMembers(path: Path, before: Members, after: Members): readonly Difference[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].flatMap((name) => compareValues([...path, name], ownOf(before, name), ownOf(after, name)));
}

/** Names are keys of the caller, such as `__proto__`. */
function ownOf(members: Members, name: string): unknown {
  return Object.hasOwn(members, name) ? members[name] : null;
}

interface Lists {
  readonly before: ReadonlyMap<string, unknown>;
  readonly after: ReadonlyMap<string, unknown>;
}

/** Returns the items by key or position; undefined for lists of plain values, which change as a whole. */
function listsOf(name: string, before: readonly unknown[], after: readonly unknown[]): Lists | undefined {
  const key = KEYS.get(name);
  if (![...before, ...after].every(isObject)) return undefined;
  const toMap = (items: readonly Members[]) =>
    new Map(items.map((item, index) => [key === undefined ? `${index}` : `${item[key]}`, item]));
  const lists = { before: toMap(before as Members[]), after: toMap(after as Members[]) };
  return lists.before.size === before.length && lists.after.size === after.length ? lists : undefined;
}

/** A new order of the items is a difference of the list itself: the keys before and after. */
function compareLists(path: Path, { before, after }: Lists): readonly Difference[] {
  const keys = new Set([...before.keys(), ...after.keys()]);
  const items = [...keys].flatMap((key) => compareValues([...path, key], before.get(key), after.get(key)));
  const [from, to] = [[...before.keys()], [...after.keys()]];
  const isMoved = !isSameJson(
    from.filter((key) => after.has(key)),
    to.filter((key) => before.has(key)),
  );
  return isMoved ? [...items, { path: toPointer(path), before: from, after: to }] : items;
}

/** Returns the JSON Pointer to a part. */
export function toPointer(path: Path): string {
  return path.map((name) => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}
