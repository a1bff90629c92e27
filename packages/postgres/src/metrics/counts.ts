import type { FlagCount, FlagUsage, UsageQuery } from '@flags/core';
import type { Database } from '../database.js';
import type { TableNames } from '../schema/table-names.js';
import { fromStoredText, toStoredText } from '../stored-text.js';
import { bounded } from './bounded-sum.js';

/** The last second that is at or before a time: counters after the time have a greater one. */
export function lastSecondUntil(time: number): number {
  return Math.floor(time / 1000);
}

/** Reads what has been counted, added up over the shards. */
export function countReader(database: Database, { table }: TableNames) {
  return {
    async counts({ after }: { readonly after: number }): Promise<FlagCount[]> {
      const rows = await database.query<Record<'flag' | 'yes' | 'no', string>>(
        `SELECT flag, ${bounded('sum(yes)')} AS yes, ${bounded('sum(no)')} AS no
        FROM (
          SELECT flag, yes, no FROM ${table('counters')} WHERE second > $1
          UNION ALL SELECT flag, yes, no FROM ${table('unknown_counters')} WHERE second > $1
        ) AS counted GROUP BY flag ORDER BY flag`,
        [lastSecondUntil(after)],
      );
      return rows.map(({ flag, yes, no }) => ({ flag: fromStoredText(flag), yes: Number(yes), no: Number(no) }));
    },

    async usage({ order = 'application', after, limit }: UsageQuery = {}): Promise<FlagUsage[]> {
      const [first, second] = order === 'application' ? ['application', 'flag'] : ['flag', 'application'];
      const from = after ?? { application: '', flag: '' };
      const start = order === 'application' ? [from.application, from.flag] : [from.flag, from.application];
      const page = `WHERE ${first} >= $1 AND (${first}, ${second}) > ($1, $2)`;
      const end = `GROUP BY application, flag ORDER BY ${first}, ${second} LIMIT $3`;
      const select = `SELECT application, flag, ${bounded('sum(count)')} AS count`;
      const rows = await database.query<Record<'application' | 'flag' | 'count', string>>(
        `${select} FROM (
          (${select} FROM ${table('usage')} ${page} ${end})
          UNION ALL (${select} FROM ${table('unknown_names')} ${page} ${end})
        ) AS used ${end}`,
        [...start.map(toStoredText), limit ?? null],
      );
      return rows.map(({ application, flag, count }) => ({
        application: fromStoredText(application),
        flag: fromStoredText(flag),
        count: Number(count),
      }));
    },

    async lastSeen(flags: readonly string[]): Promise<Map<string, number>> {
      const rows = await database.query<Record<'flag' | 'at', string>>(
        `SELECT flag, max(at) AS at FROM ${table('last_seen')} WHERE flag = ANY ($1::text[]) GROUP BY flag`,
        [flags.map(toStoredText)],
      );
      return new Map(rows.map(({ flag, at }) => [fromStoredText(flag), Number(at)]));
    },
  };
}
