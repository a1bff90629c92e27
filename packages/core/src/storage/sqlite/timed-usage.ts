import { LIMITS } from '../../base/limits.js';
import { boundedSum } from '../counters.js';
import type { Retention, TimedUsage, TimedUsageKey, TimedUsageQuery, VariantCount } from '../metrics-port.js';
import { SLICE_ROWS, type SlicedWork } from '../slices.js';
import { addVariants, DAY, firstKept, HOUR, mergeTimedUsage, startOf } from '../timed-usage.js';
import { prepare, preparePluck, prepareRaw, type SqliteDatabase } from './database.js';

/** Rows that one slice reads. */
const PAGE = 1000;

const UNITS = [
  { unit: 'hour', table: 'usage_hours', length: HOUR, limit: LIMITS.usageHourRows },
  { unit: 'day', table: 'usage_days', length: DAY, limit: LIMITS.usageDayRows },
] as const;

/** The hours that are over, and the days. The current hour of a flag is in its row of `usage_now`. */
export interface SqliteTimedUsage {
  /** Adds up hours and their days. Skips those that are too old at the time `at`. Returns the number of dropped rows. */
  add(hours: readonly TimedUsage[], at: number): number;
  /** Appends the rows to `found`. */
  read(query: TimedUsageQuery, found: TimedUsage[]): SlicedWork;
  /** Deletes a part of a flag's rows. Returns whether more is left. */
  forgetSlice(flag: string): boolean;
  drop(retention: Retention): readonly SlicedWork[];
}

export function sqliteTimedUsage(database: SqliteDatabase, prefix: string): SqliteTimedUsage {
  const hours = periodTable(database, prefix, UNITS[0]);
  const days = periodTable(database, prefix, UNITS[1]);

  return {
    add(rows, at) {
      if (rows.length === 0) return 0;
      const [firstHour, firstDay] = [firstKept('hour', at), firstKept('day', at)];
      for (const row of rows) {
        if (row.start >= firstHour) hours.add(row);
        const day = startOf('day', row.start);
        if (day >= firstDay) days.add({ ...row, start: day });
      }
      return hours.trim() + days.trim();
    },
    read: (query, found) => (query.unit === 'hour' ? hours : days).read(query, found),
    forgetSlice: (flag) => hours.forgetSlice(flag) || days.forgetSlice(flag),
    drop: ({ hoursBefore, daysBefore }) => [
      ...(hoursBefore === undefined ? [] : [() => hours.dropBefore(hoursBefore)]),
      ...(daysBefore === undefined ? [] : [() => days.dropBefore(daysBefore)]),
    ],
  };
}

/** Serializes counts by variant as a JSON list of names and counts in turn; null if there are none. */
export function toVariantText(variants: readonly VariantCount[] | undefined): string | null {
  if (variants === undefined || variants.length === 0) return null;
  const list: (string | number)[] = [];
  for (const { variant, count } of variants) list.push(variant, count);
  return JSON.stringify(list);
}

export function parseVariantText(text: string | null): readonly VariantCount[] {
  const variants: VariantCount[] = [];
  const stored = text === null ? [] : (JSON.parse(text) as readonly unknown[]);
  // Earlier builds of 0.2 stored pairs.
  const list = Array.isArray(stored[0]) ? stored.flat() : stored;
  for (let at = 0; at < list.length; at += 2) {
    variants.push({ variant: list[at] as string, count: list[at + 1] as number });
  }
  return variants;
}

function periodTable(database: SqliteDatabase, prefix: string, { table, length, limit }: (typeof UNITS)[number]) {
  const { find, update, insert, dropOldest, forgetSlice, dropBefore, countRows } = periodStatements(
    database,
    prefix,
    table,
  );
  const reader = periodReader(database, prefix, { table, length });
  // `usage_rows` has the number of rows, because counting them takes too long.
  let inserted = 0;

  function remove(rows: number): number {
    if (rows > 0) countRows.get(-rows);
    return rows;
  }

  return {
    add({ flag, application, environment, start, yes, no, variants }: TimedUsage): void {
      const key = [flag, application, environment, start];
      const known = find.get(...key) as readonly [number, number, string | null] | undefined;
      if (known === undefined) {
        insert.run(...key, yes, no, toVariantText(variants));
        countRows.get(1);
        inserted += 1;
        return;
      }
      const sums = addVariants(parseVariantText(known[2]), variants);
      update.run(boundedSum(known[0], yes), boundedSum(known[1], no), toVariantText(sums), ...key);
    },
    /** Deletes the oldest rows beyond the limit. */
    trim(): number {
      if (inserted === 0) return 0;
      inserted = 0;
      const excess = (countRows.get(0) as number) - limit;
      return excess > 0 ? remove(dropOldest.run(excess).changes) : 0;
    },
    read: reader,
    forgetSlice: (flag: string): boolean => remove(forgetSlice.run(flag, flag).changes) === SLICE_ROWS,
    dropBefore: (time: number): boolean => remove(dropBefore.run(time).changes) === SLICE_ROWS,
  };
}

function periodStatements(database: SqliteDatabase, prefix: string, name: string) {
  const table = `${prefix}${name}`;
  const key = 'flag, application, environment, start';
  const isRow = 'flag = ? AND application = ? AND environment = ? AND start = ?';
  return {
    find: prepareRaw(database, `SELECT yes, no, variants FROM ${table} WHERE ${isRow}`),
    update: prepare(database, `UPDATE ${table} SET yes = ?, no = ?, variants = ? WHERE ${isRow}`),
    insert: prepare(database, `INSERT INTO ${table} (${key}, yes, no, variants) VALUES (?, ?, ?, ?, ?, ?, ?)`),
    dropOldest: prepare(
      database,
      `DELETE FROM ${table} WHERE (${key}) IN (SELECT ${key} FROM ${table} ORDER BY start LIMIT ?)`,
    ),
    forgetSlice: prepare(
      database,
      `DELETE FROM ${table} WHERE flag = ? AND (application, environment, start) IN (
        SELECT application, environment, start FROM ${table} WHERE flag = ? LIMIT ${SLICE_ROWS})`,
    ),
    dropBefore: prepare(
      database,
      `DELETE FROM ${table} WHERE (${key}) IN (
        SELECT ${key} FROM ${table} WHERE start < ? ORDER BY start LIMIT ${SLICE_ROWS})`,
    ),
    countRows: preparePluck(
      database,
      `INSERT INTO ${prefix}usage_rows (name, count) VALUES ('${name}', ?)
      ON CONFLICT (name) DO UPDATE SET count = count + excluded.count RETURNING count`,
    ),
  };
}

type PeriodRow = readonly [
  flag: string,
  application: string,
  environment: string,
  start: number,
  yes: number,
  no: number,
  variants: string | null,
];

const BEGINNING: TimedUsageKey = { flag: '', application: '', environment: '', start: -1 };

/**
 * Returns a function that reads rows of a table and the current hours. A slice reads a number of rows, whether the query
 * selects them or not.
 */
function periodReader(
  database: SqliteDatabase,
  prefix: string,
  { table, length }: Pick<(typeof UNITS)[number], 'table' | 'length'>,
) {
  const start = `hour - hour % ${length}`;
  const select = (condition: string, begin: readonly string[]) => {
    const [columns, values] = [begin.join(', '), begin.map((column) => `@${column}`).join(', ')];
    return prepareRaw(
      database,
      `SELECT flag, application, environment, start, yes, no, variants FROM ${prefix}${table}
      WHERE ${condition} (${columns}, start) > (${values}, @start)
      UNION ALL
      SELECT flag, application, environment, ${start} AS start, yes, no, variants FROM ${prefix}usage_now
      WHERE ${condition} (${columns}) >= (${values}) AND (${columns}, ${start}) > (${values}, @start)
      ORDER BY flag, application, environment, start LIMIT ${PAGE + 1}`,
    );
  };
  const all = select('', ['flag', 'application', 'environment']);
  const ofFlag = select('flag = @flag AND', ['application', 'environment']);

  return (
    { from, flag, application, environment, after, limit = Number.POSITIVE_INFINITY }: TimedUsageQuery,
    found: TimedUsage[],
  ): SlicedWork => {
    const beginning = { ...BEGINNING, flag: flag ?? '' };
    let last = flag === undefined || after?.flag === flag ? (after ?? beginning) : beginning;
    const isWanted = (row: TimedUsage) =>
      row.start >= from &&
      (application === undefined || row.application === application) &&
      (environment === undefined || row.environment === environment);
    return () => {
      if (limit <= 0) return false;
      const page = (flag === undefined ? all : ofFlag).all(last) as PeriodRow[];
      const rows = mergeTimedUsage(page.map(toTimedUsage));
      // The next slice reads the last row again: the rest of it may be beyond the page.
      if (page.length > PAGE) rows.pop();
      for (const row of rows) {
        last = row;
        if (isWanted(row)) found.push(row);
        if (found.length >= limit) return false;
      }
      return page.length > PAGE;
    };
  };
}

function toTimedUsage([flag, application, environment, start, yes, no, variants]: PeriodRow): TimedUsage {
  return {
    flag,
    application,
    environment,
    start,
    yes,
    no,
    // Stored in the order of the first report.
    variants: addVariants(parseVariantText(variants), undefined),
  };
}
