import { LIMITS } from '../../base/limits.js';
import {
  addSecond,
  boundedSum,
  counterSecond,
  createRanks,
  lastSecondUntil,
  rankOf,
  type SecondCount,
} from '../counters.js';
import { addToSums, type UnknownNames } from '../metrics-composition.js';
import type { FlagCount, FlagUsage, UsageReport } from '../metrics-port.js';
import { SLICE_ROWS } from '../slices.js';
import { prepare, preparePluck, prepareRaw, type SqliteDatabase } from './database.js';
import { sqliteUsagePages } from './metrics-usage.js';

type StoredName = readonly [count: number, seconds: string];
type ListedName = readonly [application: string, flag: string, seconds: string];

export function sqliteUnknownNames(database: SqliteDatabase, prefix: string): UnknownNames {
  const statements = unknownNameStatements(database, prefix);
  const usage = sqliteUsagePages(database, `${prefix}unknown_names`);
  const nextRank = createRanks();

  function addOne({ application, at, stop }: UsageReport, { flag, yes, no }: FlagCount): void {
    const [before, stored] = (statements.find.get(application, flag) as StoredName | undefined) ?? [0, '[]'];
    const seconds = addSecond(JSON.parse(stored) as SecondCount[], [counterSecond(stop), yes, no]);
    const count = boundedSum(before, boundedSum(yes, no));
    statements.put.run(application, flag, nextRank(at), count, JSON.stringify(seconds));
  }

  /** Deletes the least recent names beyond the limits. Returns the application of each deleted name. */
  function trim(reports: readonly UsageReport[]): string[] {
    const dropped: string[] = [];
    for (const application of new Set(reports.map((report) => report.application))) {
      for (const flag of Array.from(statements.beyond.all(application) as string[])) {
        statements.remove.run(application, flag);
        dropped.push(application);
      }
    }
    const excess = (statements.countAll.get() as number) - LIMITS.unknownNames;
    if (excess <= 0) return dropped;
    for (const [application, flag] of statements.oldest.all(excess) as [string, string][]) {
      statements.remove.run(application, flag);
      dropped.push(application);
    }
    return dropped;
  }

  return {
    add(reports) {
      const concerned = reports.filter(({ unknown = [], droppedNames = 0 }) => unknown.length + droppedNames > 0);
      if (concerned.length === 0) return 0;
      for (const report of concerned) for (const one of report.unknown ?? []) addOne(report, one);
      const counts = new Map<string, number>();
      const drop = (application: string, count: number) =>
        counts.set(application, (counts.get(application) ?? 0) + count);
      for (const { application, droppedNames = 0 } of concerned) drop(application, droppedNames);
      for (const application of trim(concerned)) drop(application, 1);
      for (const [application, count] of counts) if (count > 0) statements.addDropped.run(application, count);
      return [...counts.values()].reduce((sum, count) => sum + count, 0);
    },
    sumAfter(time, sums) {
      const until = lastSecondUntil(time);
      let after: readonly string[] = ['', ''];
      return () => {
        const page = statements.page.all(...after, SLICE_ROWS) as ListedName[];
        for (const [application, flag, seconds] of page) {
          after = [application, flag];
          for (const [second, yes, no] of JSON.parse(seconds) as SecondCount[]) {
            if (second > until) addToSums(sums, { flag, yes, no });
          }
        }
        return page.length === SLICE_ROWS;
      };
    },
    usage: (query) => usage(query) as FlagUsage[],
    of: (application) => Array.from(statements.of.all(application) as string[]),
    droppedOf: (application) => (statements.droppedOf.get(application) as number | undefined) ?? 0,
    forget(flag) {
      statements.forget.run(flag);
    },
    removeApplication(application) {
      statements.removeApplication.run(application);
      statements.removeDropped.run(application);
    },
    drop: ({ unseenSince }) => [() => statements.dropBefore.run(rankOf(unseenSince)).changes === SLICE_ROWS],
  };
}

function unknownNameStatements(database: SqliteDatabase, prefix: string) {
  const table = `${prefix}unknown_names`;
  const dropped = `${prefix}dropped_names`;
  return {
    find: prepareRaw(database, `SELECT count, seconds FROM ${table} WHERE application = ? AND flag = ?`),
    put: prepare(
      database,
      `INSERT INTO ${table} (application, flag, rank, count, seconds) VALUES (?, ?, ?, ?, ?)
      ON CONFLICT (application, flag) DO UPDATE SET
        rank = excluded.rank, count = excluded.count, seconds = excluded.seconds`,
    ),
    beyond: preparePluck(
      database,
      `SELECT flag FROM ${table} WHERE application = ? ORDER BY rank DESC
      LIMIT -1 OFFSET ${LIMITS.unknownNamesPerApplication}`,
    ),
    countAll: preparePluck(database, `SELECT count(*) FROM ${table}`),
    oldest: prepareRaw(database, `SELECT application, flag FROM ${table} ORDER BY rank LIMIT ?`),
    remove: prepare(database, `DELETE FROM ${table} WHERE application = ? AND flag = ?`),
    page: prepareRaw(
      database,
      `SELECT application, flag, seconds FROM ${table} WHERE (application, flag) > (?, ?)
      ORDER BY application, flag LIMIT ?`,
    ),
    of: preparePluck(database, `SELECT flag FROM ${table} WHERE application = ?`),
    forget: prepare(database, `DELETE FROM ${table} WHERE flag = ?`),
    removeApplication: prepare(database, `DELETE FROM ${table} WHERE application = ?`),
    dropBefore: prepare(
      database,
      `DELETE FROM ${table} WHERE (application, flag) IN (
        SELECT application, flag FROM ${table} WHERE rank < ? ORDER BY rank LIMIT ${SLICE_ROWS})`,
    ),
    addDropped: prepare(
      database,
      `INSERT INTO ${dropped} (application, count) VALUES (?, ?)
      ON CONFLICT (application) DO UPDATE SET count = count + excluded.count`,
    ),
    droppedOf: preparePluck(database, `SELECT count FROM ${dropped} WHERE application = ?`),
    removeDropped: prepare(database, `DELETE FROM ${dropped} WHERE application = ?`),
  };
}
