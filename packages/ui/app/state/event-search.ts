import { call } from '../api/call.js';
import { type Latest, useLatest } from '../api/resource.js';
import type { HistoryEntry, WireEvent } from '../api/types.js';

/** The filters of change sets. Empty members match all. */
export interface EventFilter {
  /** Part of a flag's name. */
  readonly flag: string;
  /** Part of an actor's name. */
  readonly who: string;
  /** A type of an event. */
  readonly type: string;
  /** Days in the time zone of the browser, such as `2026-01-31`; both are included. */
  readonly from: string;
  readonly to: string;
}

export interface SearchedEvents extends EventFilter {
  /** Undefined: all projects, and what belongs to none, such as segments. */
  readonly project: string | undefined;
}

interface Found {
  readonly entries: readonly HistoryEntry[];
  /** Whether older pages may have more matches: the search stops after a number of pages. */
  readonly hasMore: boolean;
  /** The time of the oldest entry that the search has read. */
  readonly searchedTo: string | undefined;
}

const PAGE = 100;

/** Reads the history until enough entries match, at most ten pages per step. */
export function useEventSearch({ project, ...filter }: SearchedEvents, wanted: number, steps: number): Latest<Found> {
  return useLatest({
    action: 'listHistory',
    parameters: [project, filter, wanted, steps],
    read: async ({ signal }) => ({ data: await search(filter, { project, wanted, maxPages: steps * 10, signal }) }),
  });
}

interface SearchLimits {
  readonly project: string | undefined;
  readonly wanted: number;
  readonly maxPages: number;
  readonly signal: AbortSignal;
}

async function search(filter: EventFilter, { project, wanted, maxPages, signal }: SearchLimits): Promise<Found> {
  const matches = matcherOf(filter);
  const earliest = startOf(filter.from);
  const entries: HistoryEntry[] = [];
  let after: string | undefined;
  let searchedTo: string | undefined;
  let hasMore = true;
  for (let pages = 0; hasMore && pages < maxPages && entries.length < wanted; pages++) {
    const page = { query: { limit: PAGE, after }, signal };
    const { data } =
      project === undefined
        ? await call('listHistory', page)
        : await call('listProjectHistory', { ...page, params: { project } });
    entries.push(...data.changes.filter(matches));
    searchedTo = data.changes.at(-1)?.at ?? searchedTo;
    after = data.next;
    hasMore = after !== undefined && (searchedTo === undefined || new Date(searchedTo).getTime() >= earliest);
  }
  return { entries, hasMore, searchedTo };
}

/** Returns whether an entry passes all filters. */
function matcherOf(filter: EventFilter): (entry: HistoryEntry) => boolean {
  const flag = filter.flag.trim().toLowerCase();
  const who = filter.who.trim().toLowerCase();
  const [earliest, latest] = [startOf(filter.from), endOf(filter.to)];
  return ({ at, actor, events }) => {
    const time = new Date(at).getTime();
    return (
      time >= earliest &&
      time < latest &&
      actor.toLowerCase().includes(who) &&
      (flag === '' || events.some((event) => flagsOf(event).some((name) => name.toLowerCase().includes(flag)))) &&
      (filter.type === '' || events.some(({ type }) => type === filter.type))
    );
  };
}

/** The flags that an event is about: those of a change request are in its data. */
function flagsOf({ featureName, data }: WireEvent): readonly string[] {
  const { flags = [] } = Object(data) as { readonly flags?: readonly { readonly flag: string }[] };
  return [...(featureName ? [featureName] : []), ...(Array.isArray(flags) ? flags.map(({ flag }) => flag) : [])];
}

/** Returns the days of a filter as times for the API. Both times are included there. */
export function toTimeRange({ from, to }: EventFilter): { readonly from?: string; readonly to?: string } {
  const [earliest, latest] = [startOf(from), endOf(to)];
  return {
    ...(Number.isFinite(earliest) && { from: new Date(earliest).toISOString() }),
    ...(Number.isFinite(latest) && { to: new Date(latest - 1).toISOString() }),
  };
}

function startOf(day: string): number {
  const time = new Date(`${day}T00:00:00`).getTime();
  return Number.isNaN(time) ? Number.NEGATIVE_INFINITY : time;
}

/** Returns the end of a day, which has 23 to 25 hours. */
function endOf(day: string): number {
  const date = new Date(`${day}T00:00:00`);
  if (Number.isNaN(date.getTime())) return Number.POSITIVE_INFINITY;
  date.setDate(date.getDate() + 1);
  return date.getTime();
}
