import { assertEnvironment } from '../../base/assert-environment.js';
import type { ListPage, PageQuery } from '../../base/common.types.js';
import { pageBounds, parseCursor, takePage } from '../../base/pages.js';
import type { Validator } from '../../base/validator.js';
import { Namespace, run } from '../../kernel/changes/run-operation.js';
import type { Engine } from '../../kernel/engine.js';
import { type Call, call, defineOperations, NO_REFERENCE, type Page } from '../../kernel/operation.js';
import type { SumQuery, UsageKeys, UsageStorage } from '../../storage/usage/port.js';
import { boundedSum, DAY, HOUR, startOf } from '../../storage/usage/rules.js';
import { flagDocuments, throwFlagNotFound } from '../flags/flag.kind.js';
import { countEvaluations } from './report.operations.js';
import { iterateSums } from './sum-pages.js';
import type { EvaluationCounts, SeenFlags, UsageFilter, UsagePeriod } from './usage.types.js';

/** Rows per read. */
const PAGE = 1000;
const DEFAULT_HOURS = 24;
const BY = ['flag', 'application', 'environment', 'start', 'variant'] as const;
/** Follows all names of variants, which are part of a URL. */
const AFTER_VARIANTS = '\uffff';
/** Approximate size of a row without its names, in characters. */
const ROW_SIZE = 150;

/** The engine, with the check of the filter. */
export interface UsageEngine extends Engine {
  readonly validate: { readonly usageFilter: Validator<UsageFilter> };
}

async function listUsage(
  engine: UsageEngine,
  input: UsageFilter = {},
  query?: PageQuery,
): Promise<ListPage<UsagePeriod>> {
  const filter = engine.validate.usageFilter(input);
  if (filter.environment !== undefined) assertEnvironment(engine, filter.environment);
  const range = rangeOf(engine, filter);
  const bounds = pageBounds(query);
  const after = bounds.after === undefined ? undefined : parseCursor(bounds.after, (parts) => toKey(parts, filter));
  await assertFlag(engine, filter);
  return takePage(iterateUsage(engine, range, after), bounds, { cursorOf, sizeOf });
}

/** Another process may have just created the flag. */
async function assertFlag({ memory }: Engine, { flag }: UsageFilter): Promise<void> {
  const isKnown = () => flag === undefined || memory.statesOf(flagDocuments).has(flag);
  if (isKnown()) return;
  await memory.refresh();
  if (flag !== undefined && !isKnown()) throwFlagNotFound(flag);
}

/** The key of a row: a flag in an hour or day, by application and environment. */
type PeriodKey = Omit<UsageKeys, 'variant'>;

/** The counts of a period; the variants without zeros. */
interface PeriodCounts extends PeriodKey {
  readonly yes: number;
  readonly no: number;
  readonly variants: ReadonlyMap<string, number>;
}

interface Range extends Pick<SumQuery, 'flag' | 'application' | 'environment'> {
  readonly resolution: 'hour' | 'day';
  readonly from: number;
  /** The start of the current hour or day. */
  readonly latest: number;
  /** The length of an hour or day, in milliseconds. */
  readonly length: number;
}

function rangeOf({ now }: Engine, { hours, days, flag, environment, application }: UsageFilter): Range {
  const [resolution, length] = days === undefined ? (['hour', HOUR] as const) : (['day', DAY] as const);
  const latest = startOf(resolution, now().getTime());
  const from = latest - ((days ?? hours ?? DEFAULT_HOURS) - 1) * length;
  return {
    ...{ resolution, length, latest, from },
    ...(flag !== undefined && { flag }),
    ...(environment !== undefined && { environment }),
    ...(application !== undefined && { application }),
  };
}

/** Iterates over the rows that follow `after`: without gaps for one flag, otherwise without rows of zero. */
async function* iterateUsage(engine: Engine, range: Range, after: PeriodKey | undefined): AsyncGenerator<UsagePeriod> {
  const rows = range.flag === undefined ? nonZero(storedUsage(engine, range, after)) : filled(engine, range, after);
  for await (const row of rows) yield toPeriod(row, range.resolution);
}

async function* storedUsage(
  { usage }: Engine,
  { latest, length, ...query }: Range,
  after: PeriodKey | undefined,
): AsyncGenerator<PeriodCounts> {
  // Another process, whose clock is ahead, may have recorded a later hour.
  const range = { ...query, until: latest + length, limit: PAGE };
  const start = after && { ...after, variant: AFTER_VARIANTS };
  let counted: (PeriodKey & { yes: number; no: number; variants: Map<string, number> }) | undefined;
  for await (const { variant, ...row } of iterateSums(usage, { ...range, by: BY, ...(start && { after: start }) })) {
    if (variant === '') {
      if (counted) yield counted;
      counted = { ...row, variants: new Map() };
    } else if (counted && row.yes > 0 && isSamePeriod(counted, row)) counted.variants.set(variant, row.yes);
  }
  if (counted) yield counted;
}

async function* nonZero(rows: AsyncIterable<PeriodCounts>): AsyncGenerator<PeriodCounts> {
  for await (const row of rows) if (row.yes + row.no > 0) yield row;
}

/** Iterates over the rows of a flag, and adds those of zero. */
async function* filled(engine: Engine, range: Range, after: PeriodKey | undefined): AsyncGenerator<PeriodCounts> {
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

function* zeros(first: PeriodKey, last: number, { from, length }: Range): Iterable<PeriodCounts> {
  const { flag, application, environment } = first;
  for (let start = Math.max(first.start, from); start <= last; start += length) {
    yield { flag, application, environment, start, yes: 0, no: 0, variants: new Map() };
  }
}

/** A bound may have deleted the counts of a flag, and not those of its variants. */
function isSamePeriod(one: PeriodKey, other: PeriodKey): boolean {
  return one.flag === other.flag && one.start === other.start && isSameSeries(one, other);
}

function isSameSeries(one: PeriodKey, other: PeriodKey): boolean {
  return one.application === other.application && one.environment === other.environment;
}

function toPeriod(row: PeriodCounts, resolution: Range['resolution']): UsagePeriod {
  const { flag, environment, application, start, yes, no, variants } = row;
  const at = new Date(start).toISOString();
  return {
    flag,
    environment,
    application,
    ...(resolution === 'hour' ? { hour: at } : { day: at }),
    yes,
    no,
    variants,
  };
}

/** The cursor of the page that follows a row. */
function cursorOf({ flag, application, environment, hour, day }: UsagePeriod): string {
  return JSON.stringify([flag, application, environment, hour ?? day]);
}

function sizeOf({ flag, environment, application, variants }: UsagePeriod): number {
  const names = flag.length + environment.length + application.length;
  return [...variants.keys()].reduce((sum, variant) => sum + variant.length + 10, ROW_SIZE + names);
}

function toKey(parts: readonly unknown[], { flag: wanted }: UsageFilter): PeriodKey | undefined {
  const [flag, application, environment, time] = parts;
  const start = typeof time === 'string' ? Date.parse(time) : Number.NaN;
  const isKey = typeof flag === 'string' && typeof application === 'string' && typeof environment === 'string';
  if (!isKey || Number.isNaN(start) || (wanted !== undefined && wanted !== flag)) return undefined;
  return { flag, application, environment, start };
}

/** How often flags were evaluated. */
async function listSeenFlags(engine: Engine, query?: PageQuery): Promise<ListPage<SeenFlags>> {
  const bounds = pageBounds(query);
  return takePage(iterateSeenFlags(engine.usage, bounds.after), bounds, {
    cursorOf: ({ application }) => application,
    sizeOf: ({ flags }) => flags.reduce((sum, flag) => sum + flag.length, 0),
  });
}

async function* iterateSeenFlags(usage: UsageStorage, after: string | undefined): AsyncGenerator<SeenFlags> {
  const by = ['application', 'flag'] as const;
  // The next text after a name is the name with U+0000, so this skips all flags of that application.
  const start = after !== undefined && { after: { application: `${after}\u0000`, flag: '' } };
  let seen: { application: string; flags: string[]; evaluations: number } | undefined;
  for await (const sum of iterateSums(usage, { resolution: 'ever', by, limit: PAGE, ...start })) {
    if (seen && seen.application !== sum.application) yield seen;
    if (seen?.application !== sum.application) seen = { application: sum.application, flags: [], evaluations: 0 };
    seen.flags.push(sum.flag);
    seen.evaluations = boundedSum(seen.evaluations, boundedSum(sum.yes, sum.no));
  }
  if (seen) yield seen;
}

export const usageOperations = defineOperations({
  listUsage: call({
    method: 'usage.list',
    ref: NO_REFERENCE,
    run: (engine: UsageEngine, { input, context }: Call<undefined, UsageFilter | undefined, Page>) =>
      listUsage(engine, input, context),
  }),
  countEvaluations: call({
    method: 'usage.count',
    ref: NO_REFERENCE,
    run: (engine: Engine, _: Call) => countEvaluations(engine),
  }),
  listSeenFlags: call({
    method: 'usage.listSeenFlags',
    ref: NO_REFERENCE,
    run: (engine: Engine, { input }: Call<undefined, Page>) => listSeenFlags(engine, input),
  }),
});

/** What clients report, and how often flags were evaluated: `flags.usage`. */
export class Usage extends Namespace {
  /**
   * Lists how often flags were evaluated, by the hour or the day: by flag, application, environment, then time.
   *
   * A report counts in the hour in which its period ends. Includes the evaluations of this process, and of others that
   * share the storage. The storage keeps 168 hours and 30 days, at most 1,000,000 rows; it drops the oldest rows, and
   * `status().dropped` counts them.
   *
   * With `flag`, there are no gaps: each application and environment with evaluations in that time has a row for every
   * hour or day. With `environment` and `application` too, the rows exist even without evaluations. Without `flag`, rows
   * of zero are left out. The whole list is in memory; a page has at most 1 MiB.
   *
   * @throws FlagsError `invalid_input`, `flag_not_found`
   * @example
   * const { items } = await flags.usage.list({ flag: 'checkout', days: 7 });
   * for (const { day, yes, no } of items) console.log(day, yes, no);
   */
  list(filter?: UsageFilter, page?: PageQuery): Promise<ListPage<UsagePeriod>> {
    return run(this, usageOperations.listUsage, { input: filter, context: page });
  }

  /**
   * Counts the evaluations of each flag in the last minute and the last hour. A report counts at the end of its period.
   * The windows slide with the clock by the minute, so both may reach up to a minute further back.
   *
   * @example
   * const { yes, no } = (await flags.usage.count()).lastHour.get('checkout') ?? { yes: 0, no: 0 };
   */
  count(): Promise<EvaluationCounts> {
    return run(this, usageOperations.countEvaluations, {});
  }

  /**
   * Lists the evaluated flags of each application, by application name. Includes at least the reports of the last hour.
   * A page has at most 1 MiB.
   *
   * @example
   * const { items } = await flags.usage.listSeenFlags();
   * for (const { application, evaluations } of items) console.log(application, evaluations);
   */
  listSeenFlags(page?: PageQuery): Promise<ListPage<SeenFlags>> {
    return run(this, usageOperations.listSeenFlags, { input: page });
  }
}
