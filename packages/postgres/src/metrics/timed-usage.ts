import {
  LIMITS,
  type ReportedCount,
  type TimedUsage,
  type TimedUsageQuery,
  type UsageReport,
  type VariantCount,
} from '@flags/core';
import { addVariants, firstKept, hourOf, startOf } from '@flags/core/integration';
import type { Database } from '../database.js';
import { fromStoredText, type TableNames, toStoredText } from '../tables.js';

/** The counts of one series in its latest hour, and the sum of all counts. */
export interface CurrentUsageRow {
  readonly application: string;
  readonly flag: string;
  readonly environment: string;
  readonly count: number;
  readonly hour: number;
  readonly yes: number;
  readonly no: number;
  readonly variants: string | null;
}

export interface UsageRows {
  readonly usageNow: readonly CurrentUsageRow[];
  /** The counts of earlier hours, for series that have several. */
  readonly earlierUsage: readonly CurrentUsageRow[];
}

interface Hour extends ReportedCount {
  readonly application: string;
  readonly environment: string;
  readonly start: number;
}

/** Merges reports so that each key occurs once. */
export function mergeUsage(reports: readonly UsageReport[]): UsageRows {
  const series = new Map<string, { readonly newest: Hour; readonly count: number }>();
  const earlier: Hour[] = [];
  for (const hour of hoursOf(reports)) {
    const key = keyOf(hour.application, hour.flag, hour.environment);
    const known = series.get(key);
    const count = bounded(hour.yes + hour.no);
    if (known === undefined) {
      series.set(key, { newest: hour, count });
      continue;
    }
    const [newest, past] = known.newest.start < hour.start ? [hour, known.newest] : [known.newest, hour];
    series.set(key, { newest, count: bounded(known.count + count) });
    earlier.push(past);
  }
  const at = reports.reduce((latest, report) => Math.max(latest, report.at), 0);
  const isKept = ({ start }: Hour) => startOf('day', start) >= firstKept('day', at);
  return {
    usageNow: [...series.values()].map(({ newest, count }) => toCurrentRow(newest, count)),
    earlierUsage: earlier.filter(isKept).map((hour) => toCurrentRow(hour, 0)),
  };
}

function hoursOf(reports: readonly UsageReport[]): Iterable<Hour> {
  const sums = new Map<string, Hour>();
  for (const report of reports) {
    const { application, environment = '', counts } = report;
    const start = hourOf(report);
    for (const count of counts) {
      const key = keyOf(application, count.flag, environment, start);
      const [before, hour] = [sums.get(key), { ...count, application, environment, start }];
      sums.set(key, before ? add(before, hour) : hour);
    }
  }
  return sums.values();
}

function add(one: Hour, next: Hour): Hour {
  const variants = addVariants(one.variants, next.variants);
  return { ...one, yes: bounded(one.yes + next.yes), no: bounded(one.no + next.no), variants };
}

function toCurrentRow({ application, flag, environment, start, yes, no, variants }: Hour, count: number) {
  return { application, flag, environment, count, hour: start, yes, no, variants: toVariantText(variants) };
}

/** Serializes counts by variant as a JSON list of pairs in ASCII, which the database can parse. */
function toVariantText(variants: readonly VariantCount[] = []): string | null {
  if (variants.length === 0) return null;
  const text = JSON.stringify(variants.map(({ variant, count }) => [toStoredText(variant), count]));
  return text.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function parseVariantText(text: string | null): readonly VariantCount[] {
  if (text === null) return [];
  return (JSON.parse(text) as [string, number][]).map(([variant, count]) => {
    return { variant: fromStoredText(variant), count };
  });
}

function bounded(sum: number): number {
  return Math.min(sum, Number.MAX_SAFE_INTEGER);
}

function keyOf(...parts: readonly (string | number)[]): string {
  return JSON.stringify(parts);
}

interface FoundRow {
  readonly flag: string;
  readonly application: string;
  readonly environment: string;
  readonly start: string;
  readonly yes: string;
  readonly no: string;
  /** A JSON list of the variants of each shard. */
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
    const start = unit === 'hour' ? 'hour' : 'hour - hour % 86400000';
    const select = (source: string, time: string) => `
      (SELECT flag, application, environment, ${time} AS start, yes, no, variants FROM ${table(source)}
      WHERE ${time} >= $1 AND (flag, application, environment) >= ($2, $3, $4)
        AND (flag, application, environment, ${time}) > ($2, $3, $4, $5::bigint) ${conditions.join(' ')})`;
    const rows = await database.query<FoundRow>(
      `SELECT flag, application, environment, start, least(sum(yes), ${Number.MAX_SAFE_INTEGER}) AS yes,
        least(sum(no), ${Number.MAX_SAFE_INTEGER}) AS no,
        json_agg(variants::json) FILTER (WHERE variants IS NOT NULL) AS variants
      FROM (${select(`usage_${unit}s`, 'start')} UNION ALL ${select('usage_now', start)}) AS used
      GROUP BY flag, application, environment, start ORDER BY flag, application, environment, start LIMIT $6`,
      values,
    );
    return rows.map(toTimedUsage);
  };
}

function toTimedUsage({ flag, application, environment, start, yes, no, variants }: FoundRow): TimedUsage {
  const lists = variants === null ? [] : (JSON.parse(variants) as unknown[]);
  return {
    flag: fromStoredText(flag),
    application: fromStoredText(application),
    environment: fromStoredText(environment),
    start: Number(start),
    yes: Number(yes),
    no: Number(no),
    variants: lists.reduce<readonly VariantCount[]>(
      (sums, list) => addVariants(sums, parseVariantText(JSON.stringify(list))),
      [],
    ),
  };
}

/** Deletes the oldest rows beyond the limits. */
export interface UsageTrimming {
  /** Returns the number of deleted rows. */
  trim(): Promise<number>;
  /** Trims after many reports of earlier hours. The growth by the hour is trimmed when metrics are pruned. */
  trimAfter(written: UsageRows, at: number): Promise<number>;
}

/** Rows of earlier hours before the next trimming, and rows per deletion. */
const SLICE = 5000;

const ROW_LIMITS = { usage_hours: LIMITS.usageHourRows, usage_days: LIMITS.usageDayRows } as const;

export function createUsageTrimming(
  database: Database,
  { table }: TableNames,
  limits: Readonly<Record<keyof typeof ROW_LIMITS, number>> = ROW_LIMITS,
): UsageTrimming {
  const key = 'flag, application, environment, start, shard';
  let earlierRows = 0;

  async function countOf(text: string, values: unknown[] = []): Promise<number> {
    const [row] = await database.query<{ readonly count: string }>(text, values);
    return Number(row?.count ?? 0);
  }

  async function trimTable(name: keyof typeof ROW_LIMITS): Promise<number> {
    const rows = table(name);
    const excess = (await countOf(`SELECT count(*) FROM ${rows}`)) - limits[name];
    let deleted = 0;
    while (deleted < excess) {
      const count = await countOf(
        `WITH gone AS (
          DELETE FROM ${rows} WHERE (${key}) IN (SELECT ${key} FROM ${rows} ORDER BY start LIMIT $1) RETURNING 1)
        SELECT count(*) FROM gone`,
        [Math.min(SLICE, excess - deleted)],
      );
      if (count === 0) break;
      deleted += count;
    }
    return deleted;
  }

  const trim = async () => (await trimTable('usage_hours')) + (await trimTable('usage_days'));

  return {
    trim,
    async trimAfter({ usageNow, earlierUsage }, at) {
      const current = startOf('hour', at);
      earlierRows += earlierUsage.length + usageNow.filter(({ hour }) => hour < current).length;
      if (earlierRows < SLICE) return 0;
      earlierRows = 0;
      return trim();
    },
  };
}
