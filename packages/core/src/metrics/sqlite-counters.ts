import { prepare, preparePluck, type SqliteDatabase } from '../storage/sqlite/database.js';
import { boundedSum } from './bounded-sum.js';
import { addToSums, type Counters } from './composition.js';
import { counterSecond, lastSecondUntil } from './counter-second.js';
import { mergedRows } from './merged-rows.js';
import type { FlagCount } from './port.js';
import { SLICE_ROWS } from './slices.js';

/** One slice sums up so many rows, and those of the second in which it ends. */
const SUMMED_ROWS = 10_000;

/** Sums stop at the largest exact number instead of failing a report, and `total` cannot overflow as `sum` can. */
export function sqliteCounters(database: SqliteDatabase, prefix: string): Counters {
  const { add, sum, endOfSlice, nextSecond, remove, dropUntil } = counterStatements(database, `${prefix}counters`);

  return {
    add(reports) {
      const rows = mergedRows<number, FlagCount>(addCounts);
      for (const { stop, counts } of reports) {
        for (const count of counts) rows.add(counterSecond(stop), count.flag, count);
      }
      rows.forEach(({ yes, no }, second, flag) => void add.run(second, flag, yes, no));
    },
    sumAfter(time, sums) {
      let after = lastSecondUntil(time);
      return () => {
        const end = (endOfSlice.get(after) as number | undefined) ?? Number.MAX_SAFE_INTEGER;
        for (const count of sum.all(after, end) as FlagCount[]) addToSums(sums, count);
        after = end;
        return end < Number.MAX_SAFE_INTEGER;
      };
    },
    // The key begins with the second: one look-up for each is less than a look at all rows.
    forget(flag) {
      let second = nextSecond.get(Number.MIN_SAFE_INTEGER) as number | undefined;
      while (second !== undefined) {
        remove.run(second, flag);
        second = nextSecond.get(second) as number | undefined;
      }
    },
    dropUntil: (time) => () => dropUntil.run(lastSecondUntil(time)).changes === SLICE_ROWS,
  };
}

function counterStatements(database: SqliteDatabase, table: string) {
  const limit = Number.MAX_SAFE_INTEGER;
  return {
    add: prepare(
      database,
      `INSERT INTO ${table} (second, flag, yes, no) VALUES (?, ?, ?, ?)
      ON CONFLICT (second, flag) DO UPDATE SET
        yes = min(yes + excluded.yes, ${limit}),
        no = min(no + excluded.no, ${limit})`,
    ),
    sum: prepare(
      database,
      `SELECT flag, min(total(yes), ${limit}) AS yes, min(total(no), ${limit}) AS no
      FROM ${table} WHERE second > ? AND second <= ? GROUP BY flag`,
    ),
    endOfSlice: preparePluck(
      database,
      `SELECT second FROM ${table} WHERE second > ? ORDER BY second, flag LIMIT 1 OFFSET ${SUMMED_ROWS}`,
    ),
    nextSecond: preparePluck(database, `SELECT second FROM ${table} WHERE second > ? ORDER BY second, flag LIMIT 1`),
    remove: prepare(database, `DELETE FROM ${table} WHERE second = ? AND flag = ?`),
    dropUntil: prepare(
      database,
      `DELETE FROM ${table} WHERE (second, flag) IN (
        SELECT second, flag FROM ${table} WHERE second <= ? ORDER BY second, flag LIMIT ${SLICE_ROWS})`,
    ),
  };
}

function addCounts(one: FlagCount, next: FlagCount): FlagCount {
  return { flag: one.flag, yes: boundedSum(one.yes, next.yes), no: boundedSum(one.no, next.no) };
}
