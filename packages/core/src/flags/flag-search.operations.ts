import { compareCodePoints } from '../base/collections.js';
import { paced } from '../base/paced.js';
import { invalidInput } from '../base/validator.js';
import type { Engine } from '../changesets/engine.js';
import type { IndexedFlag } from '../replica/flag-index.js';
import { parentThatIsOff } from './effect.decide.js';
import { assertEnvironment, type LastSeen, readLastSeen } from './flag-documents.js';
import type { FlagOverview, FlagPage, FlagQuery, FlagSort } from './flag-search.types.js';

/** The page size of a query with `after` only. */
const DEFAULT_LIMIT = 100;

/** Finds flags of all projects in the index of the replica. Long work is done in slices. */
export async function searchFlags(engine: Engine, input: FlagQuery = {}): Promise<FlagPage> {
  const { validate, usage } = engine;
  const query = { ...validate.flagQuery(input) };
  if (query.enabledIn !== undefined) assertEnvironment(engine, query.enabledIn);
  const found = await keepReadable(await findMatches(await readIndex(engine), query), query.canRead);
  const isSortedBySighting = sortKeyOf(query.sort) === 'lastSeenAt';
  const allSeen = isSortedBySighting ? await readLastSeen(usage, found) : () => null;
  const order = createFlagOrder(query.sort, allSeen);
  const sorted = order.sort(found);
  const { start, end } = boundsOf(query, query.after === undefined ? 0 : order.startAfter(sorted, query.after));
  const flags = sorted.slice(start, end);
  const lastSeen = isSortedBySighting ? allSeen : await readLastSeen(usage, flags);
  const items = await convertAll(flags, (flag) => toOverview(engine, flag, lastSeen));
  const last = flags.at(-1);
  const hasMore = last !== undefined && start + flags.length < sorted.length;
  return { items, ...(hasMore && { next: order.cursorOf(last) }), total: found.length };
}

/**
 * Returns all flags in name order, with every change that was committed before the call. Rejects if the storage cannot
 * be read.
 */
async function readIndex({ replica }: Engine): Promise<readonly IndexedFlag[]> {
  const status = await replica.poller.refresh();
  if (status.state === 'stale') throw status.error;
  return replica.index.list();
}

async function findMatches(flags: readonly IndexedFlag[], query: FlagQuery): Promise<readonly IndexedFlag[]> {
  const matches = createFlagMatcher(query);
  const found: IndexedFlag[] = [];
  for await (const flag of paced(flags)) if (matches(flag)) found.push(flag);
  return found;
}

/** Calls of `canRead` that run at the same time. */
const CONCURRENT_CHECKS = 32;

async function keepReadable(
  flags: readonly IndexedFlag[],
  canRead: FlagQuery['canRead'],
): Promise<readonly IndexedFlag[]> {
  if (!canRead) return flags;
  const projects = [...new Set(flags.map(({ project }) => project))];
  const readable = new Set<string>();
  for (let first = 0; first < projects.length; first += CONCURRENT_CHECKS) {
    const check = async (project: string) => (await canRead(project)) === true && readable.add(project);
    await Promise.all(projects.slice(first, first + CONCURRENT_CHECKS).map(check));
  }
  return readable.size === projects.length ? flags : flags.filter(({ project }) => readable.has(project));
}

function boundsOf({ limit, after }: FlagQuery, start: number): { readonly start: number; readonly end?: number } {
  if (limit === undefined && after === undefined) return { start };
  return { start, end: start + (limit ?? DEFAULT_LIMIT) };
}

async function convertAll<From, To>(items: readonly From[], convert: (item: From) => To): Promise<readonly To[]> {
  const converted: To[] = [];
  for await (const item of paced(items)) converted.push(convert(item));
  return converted;
}

function toOverview(engine: Engine, flag: IndexedFlag, lastSeen: LastSeen): FlagOverview {
  const { name, project, description, type, stale, archived, labels, owner, revision, createdAt } = flag;
  return {
    name,
    project,
    description,
    type,
    stale,
    archived,
    labels,
    owner,
    revision,
    createdAt,
    lastSeenAt: lastSeen(name),
    environments: withParents(engine, flag),
  };
}

/** Parents change independently of their children, so the index does not know them. */
function withParents({ replica }: Engine, { name, environments }: IndexedFlag): FlagOverview['environments'] {
  const { flags } = replica.documents;
  const flag = flags.get(name);
  if (!flag?.dependencies?.length) return environments;
  const find = (parent: string) => flags.get(parent);
  return environments.map((one) => {
    return one.enabled ? { ...one, offBecauseOf: parentThatIsOff(flag, one.name, { flag: find }) ?? null } : one;
  });
}

/** Returns a function that decides whether a flag matches all members of a query, except `canRead`. */
function createFlagMatcher(query: FlagQuery): (flag: IndexedFlag) => boolean {
  const { archived = false, stale, owner, type, enabledIn, namePrefix } = query;
  const projects = toSet(query.project);
  const labels = toSet(query.label);
  const matchesText = createTextMatcher(query.query);
  // The cheap conditions come first; the text, of any length, last.
  return (flag) =>
    flag.archived === archived &&
    (stale === undefined || flag.stale === stale) &&
    (type === undefined || flag.type === type) &&
    (owner === undefined || flag.owner === owner) &&
    (projects?.has(flag.project) ?? true) &&
    (namePrefix === undefined || flag.name.startsWith(namePrefix)) &&
    (labels === undefined || flag.labels.some((label) => labels.has(label))) &&
    (enabledIn === undefined || flag.environments.some(({ name, enabled }) => enabled && name === enabledIn)) &&
    matchesText(flag);
}

function toSet(values: string | readonly string[] | undefined): ReadonlySet<string> | undefined {
  if (values === undefined) return undefined;
  return new Set(typeof values === 'string' ? [values] : values);
}

function createTextMatcher(text = ''): (flag: IndexedFlag) => boolean {
  if (text === '') return () => true;
  const wanted = text.toLowerCase();
  const contains = (value: string | null) => value?.toLowerCase().includes(wanted) ?? false;
  return ({ name, description, labels, owner }) =>
    contains(name) || contains(owner) || labels.some(contains) || contains(description);
}

type SortKey = 'name' | 'createdAt' | 'lastSeenAt' | 'type';

/** The order of a list. */
interface FlagOrder {
  readonly key: SortKey;
  /** Sorts flags that are in name order. */
  sort(flags: readonly IndexedFlag[]): readonly IndexedFlag[];
  /** Returns the index of the first flag after a cursor, in sorted flags. Throws `invalid_input` for another cursor. */
  startAfter(flags: readonly IndexedFlag[], cursor: string): number;
  cursorOf(flag: IndexedFlag): string;
}

/** Returns the key that a sort names. */
function sortKeyOf(sort: FlagSort = 'name'): SortKey {
  return (sort.startsWith('-') ? sort.slice(1) : sort) as SortKey;
}

/**
 * Creates the order of a list. Flags of equal keys are in name order, in both directions.
 *
 * @param lastSeenAt returns when a flag was last seen; null if never. Needed only if the sort names it
 */
function createFlagOrder(sort: FlagSort = 'name', lastSeenAt: (flag: string) => string | null): FlagOrder {
  const key = sortKeyOf(sort);
  const direction = sort.startsWith('-') ? -1 : 1;
  if (key === 'name') return createNameSort(direction);
  const keyOf = (flag: IndexedFlag) => (key === 'lastSeenAt' ? (lastSeenAt(flag.name) ?? '') : flag[key]);
  return {
    key,
    sort(flags) {
      const keyed = flags.map((flag) => ({ flag, key: keyOf(flag) }));
      // The sort is stable, so that equal keys keep the name order.
      return keyed.sort((one, other) => direction * compareKeys(one.key, other.key)).map(({ flag }) => flag);
    },
    startAfter(flags, cursor) {
      // A name has no spaces; a key may have some.
      const separator = cursor.lastIndexOf(' ');
      if (separator === -1)
        throw invalidInput([{ message: 'must be the next of a page with this sort', path: '/after' }]);
      const [after, name] = [cursor.slice(0, separator), cursor.slice(separator + 1)];
      return firstIndex(flags, (flag) => {
        return direction * compareKeys(keyOf(flag), after) || compareCodePoints(flag.name, name);
      });
    },
    cursorOf: (flag) => `${keyOf(flag)} ${flag.name}`,
  };
}

function createNameSort(direction: 1 | -1): FlagOrder {
  return {
    key: 'name',
    sort: (flags) => (direction === 1 ? flags : flags.toReversed()),
    startAfter: (flags, name) => firstIndex(flags, (flag) => direction * compareCodePoints(flag.name, name)),
    cursorOf: ({ name }) => name,
  };
}

/** Returns the index of the first flag that compares greater than 0; the end if none does. */
function firstIndex(flags: readonly IndexedFlag[], compare: (flag: IndexedFlag) => number): number {
  const index = flags.findIndex((flag) => compare(flag) > 0);
  return index === -1 ? flags.length : index;
}

function compareKeys(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
