import { prepare, type SqliteDatabase } from '../storage/sqlite/database.js';
import { boundedSum } from './bounded-sum.js';
import { mergedRows } from './merged-rows.js';
import type { FlagUsage, UsageReport } from './port.js';

export interface SqliteUsage {
  add(reports: readonly UsageReport[]): void;
  all(): FlagUsage[];
  flagsOf(application: string): string[];
  forget(flag: string): void;
  /** Drops the usage of the applications that were last seen before the time: call it while they are still there. */
  dropUnseenSince(time: number): void;
}

/** Sums stop at the largest exact number instead of failing a report. */
export function sqliteUsage(database: SqliteDatabase, prefix: string): SqliteUsage {
  const table = `${prefix}usage`;
  const add = prepare(
    database,
    `INSERT INTO ${table} (application, flag, count)
    VALUES (?, ?, ?)
    ON CONFLICT (application, flag) DO UPDATE SET count = min(count + excluded.count, ${Number.MAX_SAFE_INTEGER})`,
  );
  const findAll = prepare(database, `SELECT application, flag, count FROM ${table} ORDER BY application, flag`);
  const findOf = prepare(database, `SELECT flag FROM ${table} WHERE application = ? ORDER BY flag`);
  const forget = prepare(database, `DELETE FROM ${table} WHERE flag = ?`);
  const dropUnseenSince = prepare(
    database,
    `DELETE FROM ${table} WHERE application IN (SELECT name FROM ${prefix}applications WHERE seen_at < ?)`,
  );

  return {
    add(reports) {
      const rows = mergedRows<string, number>(boundedSum);
      for (const { application, counts } of reports) {
        for (const { flag, yes, no } of counts) rows.add(application, flag, boundedSum(yes, no));
      }
      rows.forEach((count, application, flag) => void add.run(application, flag, count));
    },
    all: () => findAll.all() as FlagUsage[],
    flagsOf: (application) => (findOf.all(application) as { flag: string }[]).map(({ flag }) => flag),
    forget(flag) {
      forget.run(flag);
    },
    dropUnseenSince(time) {
      dropUnseenSince.run(time);
    },
  };
}
