import type { FlagCount, FlagUsage } from '@flags/core';
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
        FROM ${table('counters')} WHERE second > $1 GROUP BY flag ORDER BY flag`,
        [lastSecondUntil(after)],
      );
      return rows.map(({ flag, yes, no }) => ({ flag: fromStoredText(flag), yes: Number(yes), no: Number(no) }));
    },

    async usage(): Promise<FlagUsage[]> {
      const rows = await database.query<Record<'application' | 'flag' | 'count', string>>(
        `SELECT application, flag, ${bounded('sum(count)')} AS count
        FROM ${table('usage')} GROUP BY application, flag ORDER BY application, flag`,
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
