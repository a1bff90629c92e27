import { LIMITS, type TimedUsage, type TimedUsageQuery } from '@flags/core';
import { addVariants, DAY, startOf } from '@flags/core/integration';
import type { Database } from '../database.js';
import { fromStoredText, type TableNames, toStoredText } from '../tables.js';
import { ADD_COUNT, ADD_YES_NO, bounded, type CurrentUsageRow } from './merge.js';
import { countOf, type MetricsTables, SLICE } from './metrics-lock.js';

/**
 * SQL: moves a slice of the rows of `usage_current` to their hours and days, and to the sums of all hours. Counts the rows.
 * It must hold the lock of the metrics exclusively.
 */
export function moveUsage({ table }: TableNames, condition: string): string {
  const addVariants = table('add_variants');
  const key = 'application, flag, environment, start, shard';
  const period = (name: string, start: string) => `
  INSERT INTO ${table(name)} AS known (flag, application, environment, start, shard, yes, no, variants)
  SELECT flag, application, environment, ${start}, shard, ${bounded('sum(yes)')}, ${bounded('sum(no)')},
    ${addVariants}(string_agg(variants, ','), NULL)
  FROM moved GROUP BY flag, application, environment, ${start}, shard
  ON CONFLICT (flag, application, environment, start, shard) DO UPDATE SET ${ADD_YES_NO},
    variants = ${addVariants}(known.variants, excluded.variants)`;
  return `
WITH moved AS (
  DELETE FROM ${table('usage_current')} WHERE (${key}) IN (
    SELECT ${key} FROM ${table('usage_current')} WHERE ${condition} LIMIT ${SLICE})
  RETURNING *),
hours AS (${period('usage_hours', 'start')}),
days AS (${period('usage_days', `start - start % ${DAY}`)}),
used AS (
  INSERT INTO ${table('usage')} AS known (application, flag, shard, count)
  SELECT application, flag, shard, ${bounded('sum(yes + no)')} FROM moved GROUP BY application, flag, shard
  ON CONFLICT (application, flag, shard) DO UPDATE SET ${ADD_COUNT})
SELECT count(*) FROM moved`;
}

interface FoundRow {
  readonly flag: string;
  readonly application: string;
  readonly environment: string;
  readonly start: string;
  readonly yes: string;
  readonly no: string;
  /** Lists of pairs, joined by commas. A variant may be in several. */
  readonly variants: string | null;
}

/** Reads timed usage, summed over the shards. */
export function timedUsageReader(database: Database, { table }: TableNames) {
  return async (query: TimedUsageQuery): Promise<TimedUsage[]> => {
    const { unit, from, flag, application, environment, after, limit } = query;
    const beginning = { flag: flag ?? '', application: '', environment: '', start: -1 };
    const last = after === undefined || (flag !== undefined && after.flag !== flag) ? beginning : after;
    const names = [last.flag, last.application, last.environment].map(toStoredText);
    const values: unknown[] = [from, ...names, last.start, limit ?? null];
    const conditions = Object.entries({ flag, application, environment }).flatMap(([column, value]) =>
      value === undefined ? [] : [`AND ${column} = $${values.push(toStoredText(value))}`],
    );
    const start = unit === 'hour' ? 'start' : `start - start % ${DAY}`;
    const select = (source: string, time: string) => `
      (SELECT flag, application, environment, ${time} AS start, yes, no, variants FROM ${table(source)}
      WHERE ${time} >= $1 AND (flag, application, environment) >= ($2, $3, $4)
        AND (flag, application, environment, ${time}) > ($2, $3, $4, $5::bigint) ${conditions.join(' ')})`;
    const rows = await database.query<FoundRow>(
      `SELECT flag, application, environment, start, ${bounded('sum(yes)')} AS yes, ${bounded('sum(no)')} AS no,
        string_agg(variants, ',') AS variants
      FROM (${select(`usage_${unit}s`, 'start')} UNION ALL ${select('usage_current', start)}) AS used
      GROUP BY flag, application, environment, start ORDER BY flag, application, environment, start LIMIT $6`,
      values,
    );
    return rows.map(toTimedUsage);
  };
}

function toTimedUsage({ flag, application, environment, start, yes, no, variants }: FoundRow): TimedUsage {
  const pairs = (JSON.parse(`[${variants ?? ''}]`) as (readonly [string, number])[][]).flat();
  return {
    flag: fromStoredText(flag),
    application: fromStoredText(application),
    environment: fromStoredText(environment),
    start: Number(start),
    yes: Number(yes),
    no: Number(no),
    variants: addVariants(
      [],
      pairs.map(([variant, count]) => ({ variant: fromStoredText(variant), count })),
    ),
  };
}

/** Deletes the oldest rows beyond the limits. */
export interface UsageTrimming {
  /** Returns the number of deleted rows. */
  trim(): Promise<number>;
  /** Moves and trims rows after many reports of earlier hours. Pruning does so for the growth by the hour. */
  trimAfter(written: readonly CurrentUsageRow[], at: number): Promise<number>;
}

const ROW_LIMITS = { usage_hours: LIMITS.usageHourRows, usage_days: LIMITS.usageDayRows } as const;

export function createUsageTrimming(
  { database, names, lock }: MetricsTables,
  limits: Readonly<Record<keyof typeof ROW_LIMITS, number>> = ROW_LIMITS,
): UsageTrimming {
  const key = 'flag, application, environment, start, shard';
  let earlierRows = 0;

  async function trimTable(name: keyof typeof ROW_LIMITS): Promise<number> {
    const rows = names.table(name);
    const excess = (await countOf(database, `SELECT count(*) FROM ${rows}`)) - limits[name];
    let deleted = 0;
    while (deleted < excess) {
      const count = await countOf(
        database,
        `WITH gone AS (
          DELETE FROM ${rows} WHERE (${key}) IN (SELECT ${key} FROM ${rows} ORDER BY start LIMIT $1) RETURNING 1)
        SELECT count(*) FROM gone`,
        Math.min(SLICE, excess - deleted),
      );
      if (count === 0) break;
      deleted += count;
    }
    return deleted;
  }

  const trim = async () => (await trimTable('usage_hours')) + (await trimTable('usage_days'));

  return {
    trim,
    async trimAfter(written, at) {
      const current = startOf('hour', at);
      earlierRows += written.filter(({ start }) => start < current).length;
      if (earlierRows < SLICE) return 0;
      earlierRows = 0;
      await lock.repeat(moveUsage(names, 'start < $1'), current);
      return trim();
    },
  };
}
