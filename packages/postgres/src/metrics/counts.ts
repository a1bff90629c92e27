import type { FlagCount, FlagUsage, Retention, UsageQuery } from '@flags/core';
import type { Database, Statements } from '../database.js';
import { fromStoredText, type TableNames, toStoredText } from '../tables.js';
import { bumpVersionShard } from '../version-shards.js';
import { rankOf } from './admission.js';
import { bounded } from './merged-reports.js';
import type { RecordingParts } from './record.js';

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

/** So many rows are dropped at once: reports wait for no longer than that. */
const SLICE = 5000;

/** Drops what is no longer needed, in parts. */
export function dropping({ database, names, lock }: RecordingParts) {
  const { table } = names;

  async function dropExpired({ countersUntil }: Retention): Promise<void> {
    await dropBeside('metrics_writes', { key: 'id', condition: 'at <= $1', value: countersUntil });
    const until = { condition: 'second <= $1', value: lastSecondUntil(countersUntil) };
    await dropBeside('counters', { key: 'second, flag, shard', ...until });
    await dropBeside('unknown_counters', { key: 'application, flag, second', ...until });
  }

  const dropSlice = (name: string, { key, condition }: Expired) => `
    WITH gone AS (
      DELETE FROM ${table(name)} WHERE (${key}) IN (
        SELECT ${key} FROM ${table(name)} WHERE ${condition} LIMIT ${SLICE})
      RETURNING 1)
    SELECT count(*) FROM gone`;

  /** Beside the reports that arrive: what is long past concerns nobody else. */
  async function dropBeside(name: string, expired: Expired): Promise<void> {
    const text = dropSlice(name, expired);
    for (let count = SLICE; count === SLICE; ) count = await countOf(database, text, expired);
  }

  /** Instances, then applications that have none, then what those have used. */
  async function dropUnseen({ unseenSince }: Retention): Promise<void> {
    const named = (column: string) => `NOT EXISTS (SELECT 1 FROM ${table('applications')} WHERE name = ${column})`;
    await dropAlone('instances', { key: 'application, id', condition: 'seen_at < $1', value: unseenSince });
    await dropAlone('applications', {
      key: 'name',
      condition: `NOT EXISTS (SELECT 1 FROM ${table('instances')} WHERE application = name)`,
    });
    await dropAlone('usage', { key: 'application, flag, shard', condition: named('application') });
    await dropAlone('unknown_names', {
      key: 'application, flag',
      condition: `rank < $1 OR ${named('application')}`,
      value: rankOf(unseenSince),
    });
    await dropAlone('dropped_names', { key: 'application', condition: named('application') });
  }

  async function dropAlone(name: string, expired: Expired): Promise<void> {
    const text = dropSlice(name, expired);
    let count = SLICE;
    while (count === SLICE) {
      await lock.exclusive(async (statements) => {
        count = await countOf(statements, text, expired);
      });
    }
  }

  /** Names that were last seen long ago, page by page: the caller tells which of them are flags. */
  async function dropStrangers({ unseenSince, isFlag }: Retention): Promise<void> {
    let last: string | undefined = '';
    while (last !== undefined) {
      const page: readonly { readonly flag: string }[] = await database.query(
        `SELECT flag FROM ${table('last_seen')} WHERE flag > $1
        GROUP BY flag HAVING max(at) < $2 ORDER BY flag LIMIT ${SLICE}`,
        [last, unseenSince],
      );
      const strangers = page.map(({ flag }) => flag).filter((flag) => !isFlag(fromStoredText(flag)));
      if (strangers.length > 0) {
        await lock.exclusive(async (statements) => {
          await statements.query(
            `WITH strangers AS (
              SELECT flag FROM ${table('last_seen')} WHERE flag = ANY ($1::text[]) GROUP BY flag HAVING max(at) < $2
            ),
            uses AS (DELETE FROM ${table('usage')} WHERE flag IN (SELECT flag FROM strangers))
            DELETE FROM ${table('last_seen')} WHERE flag IN (SELECT flag FROM strangers)`,
            [strangers, unseenSince],
          );
        });
      }
      last = page.length === SLICE ? page.at(-1)?.flag : undefined;
    }
  }

  return {
    async prune(retention: Retention): Promise<void> {
      await dropExpired(retention);
      await dropUnseen(retention);
      await dropStrangers(retention);
      await database.write({ text: bumpVersionShard(names), values: [] });
    },

    async forget(flags: readonly string[]): Promise<void> {
      const tables = ['counters', 'usage', 'unknown_names', 'unknown_counters', 'last_seen'];
      await lock.exclusive(async (statements) => {
        for (const name of tables) {
          await statements.query(`DELETE FROM ${table(name)} WHERE flag = ANY ($1::text[])`, [flags.map(toStoredText)]);
        }
        await statements.query(bumpVersionShard(names));
      });
    },

    /** Gives whether the application was known. */
    async forgetApplication(application: string): Promise<boolean> {
      const tables = ['instances', 'usage', 'unknown_names', 'unknown_counters', 'dropped_names'];
      const values = [toStoredText(application)];
      let isKnown = false;
      await lock.exclusive(async (statements) => {
        const found = await statements.query(
          `DELETE FROM ${table('applications')} WHERE name = $1 RETURNING 1`,
          values,
        );
        isKnown = found.length > 0;
        for (const name of tables) await statements.query(`DELETE FROM ${table(name)} WHERE application = $1`, values);
        await statements.query(bumpVersionShard(names));
      });
      return isKnown;
    },
  };
}

interface Expired {
  /** The columns of the primary key. */
  readonly key: string;
  /** Which rows to drop; `$1` is the value. */
  readonly condition: string;
  readonly value?: number;
}

async function countOf(statements: Statements, text: string, { value }: Expired): Promise<number> {
  const [row] = await statements.query<{ readonly count: string }>(text, value === undefined ? [] : [value]);
  return Number(row?.count ?? 0);
}
