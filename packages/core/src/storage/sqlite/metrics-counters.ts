import { LIMITS } from '../../base/limits.js';
import { boundedSum, boundsOfMerging, counterSecond, lastSecondUntil, minuteOf } from '../counters.js';
import { addToSums, type Counters, type FlagSums } from '../metrics-composition.js';
import type { FlagCount } from '../metrics-port.js';
import { SLICE_ROWS, type SlicedWork } from '../slices.js';
import { createRowMerger, prepare, preparePluck, prepareRaw, prepareRows, type SqliteDatabase } from './database.js';

/** Rows that one slice sums up. It also completes the second in which it ends. */
const SUMMED_ROWS = 10_000;

export interface SqliteCounters extends Counters {
  /** Keeps the limit of `LIMITS.countersBySecond`. */
  mergeOld(): SlicedWork;
}

/** Sums stop at the largest safe integer, so that no report fails. `total` cannot overflow, unlike `sum`. */
export function sqliteCounters(database: SqliteDatabase, prefix: string): SqliteCounters {
  const statements = counterStatements(database, `${prefix}counters`);
  const { add, sum, endOfSlice, nextSecond, remove, dropUntil } = statements;

  /** Returns the first second after the given one that is not the end of a minute. */
  function nextUnmerged(after: number, until: number): number | undefined {
    let second = nextSecond.get(after) as number | undefined;
    while (second !== undefined && second <= until && second === minuteOf(second)) {
      second = nextSecond.get(second) as number | undefined;
    }
    return second === undefined || second > until ? undefined : second;
  }

  /** Changes whenever old counters were merged or dropped. */
  function stateOfMerging(): string {
    const second = nextUnmerged(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);
    return `${second} ${second === undefined ? '' : statements.sizeOf.get(second)}`;
  }

  /** Moves a part of a second to the end of its minute. Returns whether more is left. */
  function mergePart(second: number): boolean {
    const rows = statements.page.all(second) as [string, number, number][];
    add(rows.map((row) => [minuteOf(second), ...row]));
    for (const [flag] of rows) remove.run(second, flag);
    return rows.length === SLICE_ROWS;
  }

  return {
    add(reports) {
      const [report] = reports;
      if (report !== undefined && reports.length === 1) {
        const second = counterSecond(report.stop);
        add(report.counts.map(({ flag, yes, no }) => [second, flag, yes, no]));
        return;
      }
      const rows = createRowMerger<number, FlagCount>(addCounts);
      for (const { stop, counts } of reports) {
        for (const count of counts) rows.add(counterSecond(stop), count.flag, count);
      }
      const merged: (string | number)[][] = [];
      rows.forEach(({ yes, no }, second, flag) => void merged.push([second, flag, yes, no]));
      add(merged);
    },
    sumAfter(time, sums) {
      const summed: FlagSums = new Map();
      let after = lastSecondUntil(time);
      let state = stateOfMerging();
      return () => {
        const end = (endOfSlice.get(after) as number | undefined) ?? Number.MAX_SAFE_INTEGER;
        for (const count of sum.all(after, end) as FlagCount[]) addToSums(summed, count);
        const isFirst = after === lastSecondUntil(time);
        after = end;
        if (end < Number.MAX_SAFE_INTEGER) return true;
        if (!isFirst && state !== stateOfMerging()) {
          // A merge between two slices may have moved counts from one slice to the other.
          summed.clear();
          after = lastSecondUntil(time);
          state = stateOfMerging();
          return true;
        }
        for (const count of summed.values()) addToSums(sums, count);
        return false;
      };
    },
    mergeOld() {
      let after = Number.MIN_SAFE_INTEGER;
      let bounds: ReturnType<typeof boundsOfMerging> | undefined;
      return () => {
        if (bounds === undefined) {
          if (statements.beyondLimit.get() === undefined) return false;
          bounds = boundsOfMerging(statements.newest.get() as number);
        }
        if (dropUntil.run(bounds.droppedUntil).changes > 0) return true;
        const second = nextUnmerged(after, bounds.mergedUntil);
        if (second === undefined) return false;
        if (!mergePart(second)) after = second;
        return true;
      };
    },
    // The key begins with the second: one look-up per second is cheaper than a scan.
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
    add: prepareRows(database, {
      table,
      columns: ['second', 'flag', 'yes', 'no'],
      end: `ON CONFLICT (second, flag) DO UPDATE SET
        yes = min(yes + excluded.yes, ${limit}),
        no = min(no + excluded.no, ${limit})`,
    }),
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
    newest: preparePluck(database, `SELECT max(second) FROM ${table}`),
    beyondLimit: preparePluck(
      database,
      `SELECT second FROM ${table} ORDER BY second, flag LIMIT 1 OFFSET ${LIMITS.countersBySecond}`,
    ),
    page: prepareRaw(database, `SELECT flag, yes, no FROM ${table} WHERE second = ? LIMIT ${SLICE_ROWS}`),
    sizeOf: preparePluck(database, `SELECT count(*) FROM ${table} WHERE second = ?`),
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
