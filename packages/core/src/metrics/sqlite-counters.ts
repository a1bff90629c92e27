import { prepare, type SqliteDatabase } from '../storage/sqlite/database.js';
import { boundedSum } from './bounded-sum.js';
import type { Counters } from './composition.js';
import { counterSecond, lastSecondUntil } from './counter-second.js';
import { mergedRows } from './merged-rows.js';
import type { FlagCount } from './port.js';

/** Sums stop at the largest exact number instead of failing a report, and `total` cannot overflow as `sum` can. */
export function sqliteCounters(database: SqliteDatabase, prefix: string): Counters {
  const add = prepare(
    database,
    `INSERT INTO ${prefix}counters (second, flag, yes, no) VALUES (?, ?, ?, ?)
    ON CONFLICT (second, flag) DO UPDATE SET
      yes = min(yes + excluded.yes, ${Number.MAX_SAFE_INTEGER}),
      no = min(no + excluded.no, ${Number.MAX_SAFE_INTEGER})`,
  );
  const sumAfter = prepare(
    database,
    `SELECT flag, min(total(yes), ${Number.MAX_SAFE_INTEGER}) AS yes, min(total(no), ${Number.MAX_SAFE_INTEGER}) AS no
    FROM ${prefix}counters
    WHERE second > ? GROUP BY flag ORDER BY flag`,
  );
  const forget = prepare(database, `DELETE FROM ${prefix}counters WHERE flag = ?`);
  const dropUntil = prepare(database, `DELETE FROM ${prefix}counters WHERE second <= ?`);

  return {
    add(reports) {
      const rows = mergedRows<number, FlagCount>(addCounts);
      for (const { stop, counts } of reports) {
        for (const count of counts) rows.add(counterSecond(stop), count.flag, count);
      }
      rows.forEach(({ yes, no }, second, flag) => void add.run(second, flag, yes, no));
    },
    sumAfter: (time) => sumAfter.all(lastSecondUntil(time)) as FlagCount[],
    forget(flag) {
      forget.run(flag);
    },
    dropUntil(time) {
      dropUntil.run(lastSecondUntil(time));
    },
  };
}

function addCounts(one: FlagCount, next: FlagCount): FlagCount {
  return { flag: one.flag, yes: boundedSum(one.yes, next.yes), no: boundedSum(one.no, next.no) };
}
