import { prepare, type SqliteDatabase } from '../storage/sqlite/database.js';
import type { FlagUsage, UsageQuery } from './port.js';

/** Reads a table of applications, flags and counts, whole or a page at a time. */
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
