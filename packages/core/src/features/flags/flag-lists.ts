import { assertEnvironment } from '../../base/assert-environment.js';
import { compareCodePoints } from '../../base/collections.js';
import type { Awaitable, ListPage, PageQuery } from '../../base/common.types.js';
import { paced } from '../../base/paced.js';
import { cutPage, type PageBounds, pageBounds } from '../../base/pages.js';
import type { FlagsSettings } from '../../base/settings.types.js';
import { invalidInput } from '../../base/validator.js';
import type { Engine } from '../../kernel/engine.js';
import type { DocumentReader } from '../../storage/document-reader.js';
import type { UsageStorage } from '../../storage/usage/port.js';
import { audienceOf, rolloutOf } from '../../words/audience.js';
import type { FlagEngine } from './change-flag.js';
import { parentThatIsOff } from './effect.decide.js';
import { environmentOf, type FlagState, membersOf } from './flag.js';
import { findProject, flagDocuments, type StoredFlagSummary } from './flag.kind.js';
import type { FlagSummary } from './flag.types.js';
import { createFlagMatcher } from './flag-filters.js';
import type { EnvironmentOverview, FlagOverview, FlagPage, FlagQuery, FlagSort } from './flag-search.types.js';
import type { Strategy } from './strategy.types.js';

export const BY_NAME = { cursorOf: ({ name }: FlagState) => name };

/** Lists the flags of a project or of all projects that are not archived, in name order. */
export async function listLiveFlags(engine: Engine, project?: string): Promise<readonly FlagState[]> {
  return (await readFlags(engine)).filter((flag) => !flag.archived && isIn(flag, project)).sort(byName);
}

function isIn(flag: FlagState, project: string | undefined): boolean {
  return project === undefined || flag.project === project;
}

/** Reads the stored flags of a project, archived or not, in name order. For changes of the project. */
export async function listStoredFlags(
  { list }: Pick<DocumentReader, 'list'>,
  project: string,
): Promise<readonly { readonly name: string; readonly archived: boolean }[]> {
  const listed = await list({ kind: flagDocuments.kind, part: 'summary', parent: project });
  return listed.map(({ key, content }) => ({ name: key.id, archived: (content as StoredFlagSummary).archived }));
}

/** Converts flags to public summaries with their last-seen times. */
export async function summarizeFlags(
  { usage, settings }: Engine,
  flags: readonly FlagState[],
): Promise<readonly FlagSummary[]> {
  const lastSeen = await readLastSeen(usage, flags);
  return flags.map((flag) => toSummary(flag, settings, lastSeen));
}

function toSummary(flag: FlagState, { environments }: FlagsSettings, lastSeen: LastSeen): FlagSummary {
  const { name, type, stale, createdAt } = flag;
  return {
    name,
    type,
    stale,
    createdAt,
    lastSeenAt: lastSeen(name),
    environments: environments.map(({ name, displayName }) => {
      return { name, displayName, enabled: environmentOf(flag, name).enabled };
    }),
  };
}

/** A flag in a list, with what the list of archived flags shows, too. */
export interface FlagEntry extends FlagSummary, Pick<FlagOverview, 'project' | 'archived' | 'archivedAt'> {
  readonly description: string | null;
  readonly impressionData: boolean;
}

/** Lists flags in name order, as `listFlags` selects them, without what their strategies say. */
export async function listEntries(
  engine: FlagEngine,
  input: FlagQuery,
  page: PageQuery | undefined,
): Promise<ListPage<FlagEntry>> {
  const query = readQuery(engine, input);
  const bounds = pageBounds(page);
  await assertProjects(engine.read, query);
  const { items, ...rest } = cutPage(await findMatches(engine, query), bounds, BY_NAME);
  const lastSeen = await readLastSeen(engine.usage, items);
  return { ...rest, items: items.map((flag) => toEntry(flag, toSummary(flag, engine.settings, lastSeen))) };
}

function toEntry(flag: FlagState, summary: FlagSummary): FlagEntry {
  const { project, archived, archivedAt = null, description, impressionData } = flag;
  // In a long list, a spread takes several times as long.
  return Object.assign(summary, { project, archived, archivedAt, description, impressionData });
}

export async function listFlags(engine: FlagEngine, input: FlagQuery = {}, page?: PageQuery): Promise<FlagPage> {
  const query = readQuery(engine, input);
  const bounds = pageBounds(page);
  await assertProjects(engine.read, query);
  return toPage(engine, await findMatches(engine, query), { sort: query.sort, bounds });
}

/** Returns whether the caller may read a project. */
export type CanReadProject = (project: string) => Awaitable<boolean>;

/**
 * Lists flags as `listFlags` does, without those of projects that the caller may not read, unknown projects included.
 *
 * @param canRead called once for each project that has matching flags; false leaves these flags out of the list and of
 * `total`. Its errors reach the caller.
 */
export async function listFlagsOfReadableProjects(
  engine: FlagEngine,
  input: FlagQuery,
  { page, canRead }: { readonly page: PageQuery | undefined; readonly canRead: CanReadProject },
): Promise<FlagPage> {
  const query = readQuery(engine, input);
  const bounds = pageBounds(page);
  const found = await keepReadable(await findMatches(engine, query), canRead);
  return toPage(engine, found, { sort: query.sort, bounds });
}

function readQuery(engine: FlagEngine, input: FlagQuery): FlagQuery {
  const query = { ...engine.validate.flagQuery(input) };
  if (query.enabledIn !== undefined) assertEnvironment(engine, query.enabledIn);
  return query;
}

/** Refuses unknown projects, and one that is explicitly undefined: such a mistake would list the flags of all projects. */
async function assertProjects(read: DocumentReader['read'], query: FlagQuery): Promise<void> {
  if (!Object.hasOwn(query, 'project')) return;
  const projects = [query.project as string | readonly string[]].flat();
  await Promise.all(projects.map((project) => findProject(read, { project })));
}

/** Returns a page of the flags that were found. They are in name order. */
async function toPage(
  engine: Engine,
  found: readonly FlagState[],
  { sort, bounds: { limit, after } }: { readonly sort: FlagSort | undefined; readonly bounds: PageBounds },
): Promise<FlagPage> {
  const isSortedBySighting = sortKeyOf(sort) === 'lastSeenAt';
  const allSeen = isSortedBySighting ? await readLastSeen(engine.usage, found) : () => null;
  const order = createFlagOrder(sort, allSeen);
  const sorted = order.sort(found);
  const start = after === undefined ? 0 : order.startAfter(sorted, after);
  const flags = sorted.slice(start, start + limit);
  const lastSeen = isSortedBySighting ? allSeen : await readLastSeen(engine.usage, flags);
  const items = await convertAll(flags, (flag) => toOverview(engine, flag, lastSeen));
  const last = flags.at(-1);
  const hasMore = last !== undefined && start + flags.length < sorted.length;
  return { items, ...(hasMore && { next: order.cursorOf(last) }), total: found.length };
}

/**
 * Returns all flags, archived ones too, with every change that was committed before the call. Rejects if the storage cannot
 * be read.
 */
async function readFlags({ memory }: Engine): Promise<readonly FlagState[]> {
  const status = await memory.refresh();
  if (status.state === 'stale') throw status.error;
  return [...memory.statesOf(flagDocuments).values()];
}

/** Compares in code-point order. */
function byName(one: FlagState, other: FlagState): number {
  return compareCodePoints(one.name, other.name);
}

/** Returns the time of a flag's last reported evaluation, as a timestamp; null if there is none. */
type LastSeen = (flag: string) => string | null;

/** Reads the last-seen times of flags. */
async function readLastSeen(usage: UsageStorage, flags: readonly { readonly name: string }[]): Promise<LastSeen> {
  const times = await usage.lastSeen(flags.map(({ name }) => name));
  // A report counts many flags at one time, and converting a time takes longer than finding it.
  const texts = new Map<number, string>();
  return (flag) => {
    const time = times.get(flag);
    if (time === undefined) return null;
    const text = texts.get(time) ?? new Date(time).toISOString();
    texts.set(time, text);
    return text;
  };
}

/** Returns the flags that match, in name order. */
async function findMatches(engine: Engine, query: FlagQuery): Promise<readonly FlagState[]> {
  const flags = await readFlags(engine);
  const matches = createFlagMatcher(query);
  // Only the search in texts takes long.
  const found = query.query === undefined ? flags.filter(matches) : await filterPaced(flags, matches);
  return found.sort(byName);
}

async function filterPaced(flags: readonly FlagState[], matches: (flag: FlagState) => boolean): Promise<FlagState[]> {
  const found: FlagState[] = [];
  for await (const flag of paced(flags)) if (matches(flag)) found.push(flag);
  return found;
}

/** Calls of `canRead` that run at the same time. */
const CONCURRENT_CHECKS = 32;

async function keepReadable(flags: readonly FlagState[], canRead: CanReadProject): Promise<readonly FlagState[]> {
  const projects = [...new Set(flags.map(({ project }) => project))];
  const readable = new Set<string>();
  for (let first = 0; first < projects.length; first += CONCURRENT_CHECKS) {
    const check = async (project: string) => (await canRead(project)) === true && readable.add(project);
    await Promise.all(projects.slice(first, first + CONCURRENT_CHECKS).map(check));
  }
  return readable.size === projects.length ? flags : flags.filter(({ project }) => readable.has(project));
}

async function convertAll<From, To>(items: readonly From[], convert: (item: From) => To): Promise<readonly To[]> {
  const converted: To[] = [];
  for await (const item of paced(items)) converted.push(convert(item));
  return converted;
}

function toOverview({ memory, settings }: Engine, flag: FlagState, lastSeen: LastSeen): FlagOverview {
  const { name, project, archived, archivedAt = null, createdAt } = flag;
  const { impressionData: _, labels, owner, ...members } = membersOf(flag);
  // A flag that was archived or deleted meanwhile stays in the list.
  const revision = memory.get({ kind: flagDocuments.kind, id: name })?.revision ?? 0;
  const findLive = (parent: string) => {
    const found = memory.statesOf(flagDocuments).get(parent);
    return found?.archived ? undefined : found;
  };
  return {
    name,
    project,
    ...members,
    archived,
    archivedAt,
    labels,
    owner,
    revision,
    createdAt,
    lastSeenAt: lastSeen(name),
    environments: settings.environments.map(({ name: environment }) => {
      return toEnvironmentOverview(flag, environment, { findLive, strategies: settings.strategies });
    }),
  };
}

interface OverviewContext {
  readonly findLive: (flag: string) => FlagState | undefined;
  /** The host's own strategies. */
  readonly strategies: readonly string[];
}

function toEnvironmentOverview(
  flag: FlagState,
  environment: string,
  { findLive, strategies: own }: OverviewContext,
): EnvironmentOverview {
  // Other programs may have written documents without lists to the storage.
  const { variants = [] } = flag;
  const { name, enabled, strategies } = environmentOf(flag, environment);
  const isDependent = enabled && !flag.archived && flag.dependencies.length > 0;
  return {
    name,
    enabled,
    strategyCount: strategies.length,
    rollout: strategies.reduce((most, strategy) => Math.max(most, shareOf(strategy)), 0),
    hasVariants: variants.length > 0 || strategies.some(({ variants = [] }) => variants.length > 0),
    audience: audienceOf(strategies, own),
    offBecauseOf: (isDependent && parentThatIsOff(flag, environment, { flag: findLive })) || null,
  };
}

/** Returns the percentage of users that a strategy admits; a strategy without a percentage admits all. */
function shareOf(strategy: Strategy): number {
  return strategy.disabled ? 0 : (rolloutOf(strategy) ?? 100);
}

type SortKey = 'name' | 'createdAt' | 'lastSeenAt' | 'type';

/** The order of a list. */
interface FlagOrder {
  readonly key: SortKey;
  /** Sorts flags that are in name order. */
  sort(flags: readonly FlagState[]): readonly FlagState[];
  /** Returns the index of the first flag after a cursor, in sorted flags. Throws `invalid_input` for another cursor. */
  startAfter(flags: readonly FlagState[], cursor: string): number;
  cursorOf(flag: FlagState): string;
}

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
  const keyOf = (flag: FlagState) => (key === 'lastSeenAt' ? (lastSeenAt(flag.name) ?? '') : flag[key]);
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
        throw invalidInput([{ message: 'must be `next` of a page with the same sort', path: '/after' }]);
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
function firstIndex(flags: readonly FlagState[], compare: (flag: FlagState) => number): number {
  const index = flags.findIndex((flag) => compare(flag) > 0);
  return index === -1 ? flags.length : index;
}

function compareKeys(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
