import { setImmediate } from 'node:timers/promises';
import type { Page, PageQuery } from '../base/common.types.js';
import type { Engine } from '../changesets/engine.js';
import { assertEnvironment, throwFlagNotFound } from '../flags/flag-documents.js';
import { arrayOf, pageBounds, parseCursor, takePage } from '../pages.js';
import type { TimedUsage, TimedUsageKey, TimedUsageQuery } from '../storage/metrics-port.js';
import { DAY, HOUR, startOf } from '../storage/timed-usage.js';
import type { UsageFilter, UsagePeriod } from './metrics.types.js';

/** Rows per read. */
const PAGE = 1000;
const DEFAULT_HOURS = 24;
/** Approximate size of a row without its names, in characters. */
const ROW_SIZE = 150;

export function listUsage(engine: Engine, filter?: UsageFilter): Promise<readonly UsagePeriod[]>;
export function listUsage(engine: Engine, filter: UsageFilter, page: PageQuery): Promise<Page<UsagePeriod>>;
export async function listUsage(
  engine: Engine,
  input: UsageFilter = {},
  query?: PageQuery,
): Promise<readonly UsagePeriod[] | Page<UsagePeriod>> {
  const filter = engine.validate.usageFilter(input);
  if (filter.environment !== undefined) assertEnvironment(engine, filter.environment);
  const range = rangeOf(engine, filter);
  if (query === undefined) {
    await assertFlag(engine, filter);
    return arrayOf(iterateUsage(engine, range, undefined));
  }
  const bounds = pageBounds(engine, query);
  const after = bounds.after === undefined ? undefined : parseCursor(bounds.after, (parts) => toKey(parts, filter));
  await assertFlag(engine, filter);
  return takePage(iterateUsage(engine, range, after), bounds, { cursorOf, sizeOf });
}

/** Another process may have just created the flag, so the replica is refreshed first. */
async function assertFlag({ replica }: Engine, { flag }: UsageFilter): Promise<void> {
  if (flag === undefined || replica.documents.flags.has(flag)) return;
  await replica.poller.refresh();
  if (!replica.documents.flags.has(flag)) throwFlagNotFound(flag);
}

interface Range extends TimedUsageQuery {
  /** The start of the current hour or day. */
  readonly latest: number;
  /** The length of an hour or day, in milliseconds. */
  readonly length: number;
}

function rangeOf({ now }: Engine, { hours, days, flag, environment, application }: UsageFilter): Range {
  const [unit, length] = days === undefined ? (['hour', HOUR] as const) : (['day', DAY] as const);
  const latest = startOf(unit, now().getTime());
  const from = latest - ((days ?? hours ?? DEFAULT_HOURS) - 1) * length;
  return {
    ...{ unit, length, latest, from },
    ...(flag !== undefined && { flag }),
    ...(environment !== undefined && { environment }),
    ...(application !== undefined && { application }),
  };
}

/** Iterates over the rows that follow `after`: without gaps for one flag, otherwise without rows of zero. */
async function* iterateUsage(
  engine: Engine,
  range: Range,
  after: TimedUsageKey | undefined,
): AsyncGenerator<UsagePeriod> {
  const rows = range.flag === undefined ? nonZero(storedUsage(engine, range, after)) : filled(engine, range, after);
  for await (const row of rows) yield toPeriod(row, range.unit);
}

async function* storedUsage(
  { metrics }: Engine,
  { latest, length: _, ...query }: Range,
  after: TimedUsageKey | undefined,
): AsyncGenerator<TimedUsage> {
  let page = await metrics.timedUsage({ ...query, limit: PAGE, ...(after && { after }) });
  for (;;) {
    // Another process, whose clock is ahead, may have recorded a later hour.
    for (const row of page) if (row.start <= latest) yield row;
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    await setImmediate();
    page = await metrics.timedUsage({ ...query, limit: PAGE, after: last });
  }
}

async function* nonZero(rows: AsyncIterable<TimedUsage>): AsyncGenerator<TimedUsage> {
  for await (const row of rows) if (row.yes + row.no > 0) yield row;
}

/** Iterates over the rows of a flag, and adds those of zero. */
async function* filled(engine: Engine, range: Range, after: TimedUsageKey | undefined): AsyncGenerator<TimedUsage> {
  const { flag = '', application, environment } = range;
  let next = after && { ...after, start: after.start + range.length };
  if (application !== undefined && environment !== undefined) {
    next ??= { flag, application, environment, start: range.from };
  }
  // Reading begins with the series of the cursor, so that its last rows are filled even if they are not stored.
  for await (const row of storedUsage(engine, range, after)) {
    if (next && !isSameSeries(next, row)) yield* zeros(next, range.latest, range);
    const first = next && isSameSeries(next, row) ? next : { ...row, start: range.from };
    yield* zeros(first, row.start - range.length, range);
    yield row;
    next = { ...row, start: row.start + range.length };
  }
  if (next) yield* zeros(next, range.latest, range);
}

function* zeros(first: TimedUsageKey, last: number, { from, length }: Range): Iterable<TimedUsage> {
  const { flag, application, environment } = first;
  for (let start = Math.max(first.start, from); start <= last; start += length) {
    yield { flag, application, environment, start, yes: 0, no: 0, variants: [] };
  }
}

function isSameSeries(one: TimedUsageKey, other: TimedUsageKey): boolean {
  return one.application === other.application && one.environment === other.environment;
}

function toPeriod(row: TimedUsage, unit: TimedUsageQuery['unit']): UsagePeriod {
  const { flag, environment, application: appName, start, yes, no } = row;
  const variants = new Map(row.variants.flatMap(({ variant, count }) => (count > 0 ? [[variant, count]] : [])));
  const at = new Date(start).toISOString();
  return { flag, environment, appName, ...(unit === 'hour' ? { hour: at } : { day: at }), yes, no, variants };
}

/** The cursor of the page that follows a row. */
function cursorOf({ flag, appName, environment, hour, day }: UsagePeriod): string {
  return JSON.stringify([flag, appName, environment, hour ?? day]);
}

function sizeOf({ flag, environment, appName, variants }: UsagePeriod): number {
  const names = flag.length + environment.length + appName.length;
  return [...variants.keys()].reduce((sum, variant) => sum + variant.length + 10, ROW_SIZE + names);
}

function toKey(parts: readonly unknown[], { flag: wanted }: UsageFilter): TimedUsageKey | undefined {
  const [flag, application, environment, time] = parts;
  const start = typeof time === 'string' ? Date.parse(time) : Number.NaN;
  const isKey = typeof flag === 'string' && typeof application === 'string' && typeof environment === 'string';
  if (!isKey || Number.isNaN(start) || (wanted !== undefined && wanted !== flag)) return undefined;
  return { flag, application, environment, start };
}
