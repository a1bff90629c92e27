import { boundedSum } from '../counters.js';
import type { FlagCount, FlagUsage, TimedUsage, UsageQuery, UsageReport, VariantCount } from '../metrics-port.js';
import { SLICE_ROWS } from '../slices.js';
import { addVariants, hourOf } from '../timed-usage.js';
import { createRowMerger, prepare, preparePluck, prepareRaw, prepareRows, type SqliteDatabase } from './database.js';
import { parseVariantText, type SqliteTimedUsage, sqliteTimedUsage, toVariantText } from './timed-usage.js';

const LIMIT = Number.MAX_SAFE_INTEGER;

/** Returns a function that reads a table of applications, flags and counts: all pairs, or a page. */
export function sqliteUsagePages(
  database: SqliteDatabase,
  table: string,
  count = 'count',
): (query: UsageQuery) => FlagUsage[] {
  const select = (first: string, second: string) =>
    prepare(
      database,
      `SELECT application, flag, min(total(${count}), ${LIMIT}) AS count FROM ${table} WHERE (${first}, ${second}) > (?, ?)
      GROUP BY ${first}, ${second} ORDER BY ${first}, ${second} LIMIT ?`,
    );
  const byApplication = select('application', 'flag');
  const byFlag = select('flag', 'application');
  return ({ order = 'application', after, limit = -1 }) => {
    const { application, flag } = after ?? { application: '', flag: '' };
    const rows =
      order === 'application' ? byApplication.all(application, flag, limit) : byFlag.all(flag, application, limit);
    return rows as FlagUsage[];
  };
}

export interface SqliteUsage extends Pick<SqliteTimedUsage, 'drop' | 'forgetSlice'> {
  /** Returns the number of dropped rows of timed usage. */
  add(reports: readonly UsageReport[]): number;
  read(query: UsageQuery): FlagUsage[];
  readTimed: SqliteTimedUsage['read'];
  flagsOf(application: string): string[];
  forget(flag: string): void;
  /** Deletes a part of an application's usage, but not its timed usage. Returns whether more is left. */
  removeSlice(application: string): boolean;
}

/** A row of `usage_now`. */
interface CurrentUsage extends FlagCount {
  readonly application: string;
  readonly environment: string;
  /** The start of the hour that `yes`, `no` and `variants` count. */
  readonly hour: number;
  /** The sum of all other hours. */
  readonly count: number;
  readonly variants: readonly VariantCount[] | undefined;
}

/**
 * Stores one row per application, flag and environment: the counts of the current hour, and the sum of the other hours. So
 * a report writes one row per flag. The first report of the next hour moves the counts of the hour before.
 */
export function sqliteUsage(database: SqliteDatabase, prefix: string): SqliteUsage {
  const statements = usageStatements(database, `${prefix}usage_now`);
  const { add, find, findHour, findVariants, put } = statements;
  const timed = sqliteTimedUsage(database, prefix);

  /** Adds counts to a row of another hour. Returns those of the earlier hour. */
  function addToOtherHour(row: CurrentUsage): CurrentUsage {
    const known = toCurrent(find.get(...keyOf(row)) as CurrentRow);
    const [current, earlier] = known.hour < row.hour ? [row, known] : [known, row];
    const count = boundedSum(known.count, boundedSum(earlier.yes, earlier.no));
    put.run(...parametersOf({ ...current, count }, toVariantText(current.variants)));
    return earlier;
  }

  /** Returns the text of the row's variants and of those that are stored for the same hour. */
  function variantTextOf({ application, flag, environment, hour, variants }: CurrentUsage): string | null {
    if (!variants?.length) return null;
    const known = findVariants.get(application, flag, environment, hour) as string | null | undefined;
    return toVariantText(known ? addVariants(parseVariantText(known), variants) : variants);
  }

  return {
    add(reports) {
      const rows = currentUsageOf(reports);
      const written = add(rows.map((row) => parametersOf(row, variantTextOf(row))));
      if (written === rows.length) return 0;
      const others = rows.filter((row) => findHour.get(...keyOf(row)) !== row.hour);
      const past = others.map(addToOtherHour).filter(({ hour }) => hour > 0);
      return timed.add(past.map(toTimed), latestOf(reports));
    },
    read: sqliteUsagePages(database, `${prefix}usage_now`, 'count + yes + no'),
    readTimed: timed.read,
    flagsOf: (application) => (statements.findOf.all(application) as [string][]).map(([flag]) => flag),
    forget(flag) {
      statements.forget.run(flag);
    },
    forgetSlice: timed.forgetSlice,
    drop: timed.drop,
    removeSlice(application) {
      const page = (statements.page.all(application) as CurrentRow[]).map(toCurrent);
      for (const { flag, environment } of page) statements.remove.run(application, flag, environment);
      timed.add(page.filter(({ hour }) => hour > 0).map(toTimed), 0);
      return page.length === SLICE_ROWS;
    },
  };
}

function usageStatements(database: SqliteDatabase, table: string) {
  const names = ['application', 'flag', 'environment', 'count', 'hour', 'yes', 'no', 'variants'];
  const columns = names.join(', ');
  const isRow = 'application = ? AND flag = ? AND environment = ?';
  return {
    // Sums stop at the largest safe integer, so that no report fails.
    add: prepareRows(database, {
      table,
      columns: names,
      end: `ON CONFLICT (application, flag, environment) DO UPDATE SET
        yes = min(yes + excluded.yes, ${LIMIT}), no = min(no + excluded.no, ${LIMIT}),
        variants = ifnull(excluded.variants, variants)
        WHERE hour = excluded.hour`,
    }),
    findVariants: preparePluck(database, `SELECT variants FROM ${table} WHERE ${isRow} AND hour = ?`),
    findHour: preparePluck(database, `SELECT hour FROM ${table} WHERE ${isRow}`),
    find: prepareRaw(database, `SELECT ${columns} FROM ${table} WHERE ${isRow}`),
    put: prepare(
      database,
      `INSERT INTO ${table} (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (application, flag, environment) DO UPDATE SET
        count = excluded.count, hour = excluded.hour, yes = excluded.yes, no = excluded.no, variants = excluded.variants`,
    ),
    findOf: prepareRaw(database, `SELECT DISTINCT flag FROM ${table} WHERE application = ? ORDER BY flag`),
    forget: prepare(database, `DELETE FROM ${table} WHERE flag = ?`),
    page: prepareRaw(database, `SELECT ${columns} FROM ${table} WHERE application = ? LIMIT ${SLICE_ROWS}`),
    remove: prepare(database, `DELETE FROM ${table} WHERE ${isRow}`),
  };
}

type CurrentRow = readonly [
  application: string,
  flag: string,
  environment: string,
  count: number,
  hour: number,
  yes: number,
  no: number,
  variants: string | null,
];

function toCurrent([application, flag, environment, count, hour, yes, no, variants]: CurrentRow): CurrentUsage {
  return { application, flag, environment, count, hour, yes, no, variants: parseVariantText(variants) };
}

function parametersOf(
  { application, flag, environment, count, hour, yes, no }: CurrentUsage,
  variants: string | null,
): CurrentRow {
  return [application, flag, environment, count, hour, yes, no, variants];
}

function toTimed({ application, flag, environment, hour, yes, no, variants = [] }: CurrentUsage): TimedUsage {
  return { application, flag, environment, start: hour, yes, no, variants };
}

/** Returns the merged counts of reports, so that each row is written once. */
function currentUsageOf(reports: readonly UsageReport[]): readonly CurrentUsage[] {
  const [report] = reports;
  if (report !== undefined && reports.length === 1) return currentUsageIn(report);
  const rows = createRowMerger<string, CurrentUsage>(addUsage);
  for (const one of reports) {
    const key = JSON.stringify([one.application, one.environment, hourOf(one)]);
    for (const row of currentUsageIn(one)) rows.add(key, row.flag, row);
  }
  const merged: CurrentUsage[] = [];
  rows.forEach((row) => void merged.push(row));
  return merged;
}

function currentUsageIn(report: UsageReport): readonly CurrentUsage[] {
  const { application, environment = '', counts } = report;
  const hour = hourOf(report);
  return counts.map(({ flag, yes, no, variants }) => {
    return { application, flag, environment, hour, count: 0, yes, no, variants };
  });
}

function addUsage(one: CurrentUsage, next: CurrentUsage): CurrentUsage {
  return {
    ...one,
    yes: boundedSum(one.yes, next.yes),
    no: boundedSum(one.no, next.no),
    variants: next.variants ? addVariants(one.variants, next.variants) : one.variants,
  };
}

function keyOf({ application, flag, environment }: CurrentUsage) {
  return [application, flag, environment] as const;
}

function latestOf(reports: readonly UsageReport[]): number {
  return reports.reduce((latest, { at }) => Math.max(latest, at), 0);
}
