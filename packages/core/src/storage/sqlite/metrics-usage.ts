import { boundedSum, type FlagUsage, type UsageQuery, type UsageReport } from '../metrics-port.js';
import { SLICE_ROWS } from '../slices.js';
import { prepare, type SqliteDatabase } from './database.js';
import { createRowMerger } from './metrics-batches.js';

/** Returns a function that reads a table of applications, flags and counts: all rows, or a page. */
export function sqliteUsagePages(database: SqliteDatabase, table: string): (query: UsageQuery) => FlagUsage[] {
  const select = (first: string, second: string) =>
    prepare(
      database,
      `SELECT application, flag, count FROM ${table} WHERE (${first}, ${second}) > (?, ?)
      ORDER BY ${first}, ${second} LIMIT ?`,
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

export interface SqliteUsage {
  add(reports: readonly UsageReport[]): void;
  read(query: UsageQuery): FlagUsage[];
  flagsOf(application: string): string[];
  forget(flag: string): void;
  /** Deletes a part of an application's usage. Returns whether more is left. */
  removeSlice(application: string): boolean;
}

/** Sums stop at the largest safe integer, so that no report fails. */
export function sqliteUsage(database: SqliteDatabase, prefix: string): SqliteUsage {
  const table = `${prefix}usage`;
  const add = prepare(
    database,
    `INSERT INTO ${table} (application, flag, count)
    VALUES (?, ?, ?)
    ON CONFLICT (application, flag) DO UPDATE SET count = min(count + excluded.count, ${Number.MAX_SAFE_INTEGER})`,
  );
  const findOf = prepare(database, `SELECT flag FROM ${table} WHERE application = ? ORDER BY flag`);
  const forget = prepare(database, `DELETE FROM ${table} WHERE flag = ?`);
  const removeSlice = prepare(
    database,
    `DELETE FROM ${table} WHERE application = @application AND flag IN (
      SELECT flag FROM ${table} WHERE application = @application LIMIT ${SLICE_ROWS})`,
  );

  return {
    add(reports) {
      const rows = createRowMerger<string, number>(boundedSum);
      for (const { application, counts } of reports) {
        for (const { flag, yes, no } of counts) rows.add(application, flag, boundedSum(yes, no));
      }
      rows.forEach((count, application, flag) => void add.run(application, flag, count));
    },
    read: sqliteUsagePages(database, table),
    flagsOf: (application) => (findOf.all(application) as { flag: string }[]).map(({ flag }) => flag),
    forget(flag) {
      forget.run(flag);
    },
    removeSlice: (application) => removeSlice.run({ application }).changes === SLICE_ROWS,
  };
}
