import type { Engine } from '../changes/engine.js';
import { timeSlice } from '../time-slice.js';
import { assertEnvironment, type LastSeen, readLastSeen } from './flag-documents.js';
import type { IndexedFlag } from './flag-index.js';
import { createFlagMatcher, createFlagOrder, sortKeyOf } from './flag-search.js';
import type { FlagOverview, FlagPage, FlagQuery } from './flag-search.types.js';

/** The page size of a query with `after` only. */
const DEFAULT_LIMIT = 100;

/** Finds flags of all projects in the index of the replica. Long work is done in slices. */
export async function searchFlags(engine: Engine, input: FlagQuery = {}): Promise<FlagPage> {
  const { validate, metrics } = engine;
  const query = { ...validate.flagQuery(input) };
  if (query.enabledIn !== undefined) assertEnvironment(engine, query.enabledIn);
  const found = await keepReadable(await findMatches(await readIndex(engine), query), query.canRead);
  const isSortedBySighting = sortKeyOf(query.sort) === 'lastSeenAt';
  const allSeen = isSortedBySighting ? await readLastSeen(metrics, found) : () => null;
  const order = createFlagOrder(query.sort, allSeen);
  const sorted = order.sort(found);
  const { start, end } = boundsOf(query, query.after === undefined ? 0 : order.startAfter(sorted, query.after));
  const flags = sorted.slice(start, end);
  const lastSeen = isSortedBySighting ? allSeen : await readLastSeen(metrics, flags);
  const items = await convertInSlices(flags, (flag) => toOverview(flag, lastSeen));
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
  for (const flag of flags) {
    if (timeSlice.isOver()) await timeSlice.next();
    if (matches(flag)) found.push(flag);
  }
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

async function convertInSlices<From, To>(items: readonly From[], convert: (item: From) => To): Promise<readonly To[]> {
  const converted: To[] = [];
  for (const item of items) {
    if (timeSlice.isOver()) await timeSlice.next();
    converted.push(convert(item));
  }
  return converted;
}

function toOverview(flag: IndexedFlag, lastSeen: LastSeen): FlagOverview {
  const { name, project, description, type, stale, archived, labels, owner, revision, createdAt, environments } = flag;
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
    environments,
  };
}
