import { type FlagCount, type FlagUsage, LIMITS, type Retention, type UsageQuery } from '@flags/core';
import { boundsOfMerging, HOUR, rankOf } from '@flags/core/integration';
import { bumpVersionShard } from '../data-version.js';
import type { Database } from '../database.js';
import { fromStoredText, type TableNames, toStoredText } from '../tables.js';
import { bounded } from './merge.js';
import { countOf, type MetricsTables, SLICE } from './metrics-lock.js';
import { moveUsage } from './timed-usage.js';

/** The last full second of a time. Counters after the time have a greater one. */
function lastSecondUntil(time: number): number {
  return Math.floor(time / 1000);
}

/**
 * Joins names of flags, and their last-seen times, because the driver needs longer for a list than for one text. Stored
 * texts do not contain it: they have U+0001 only before U+0001 and U+0002.
 */
const SEPARATOR = '\u0001\u0003';

/** Reads counts, summed over the shards. */
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
      const select = (count: string) => `SELECT application, flag, ${bounded(`sum(${count})`)} AS count`;
      const rows = await database.query<Record<'application' | 'flag' | 'count', string>>(
        `${select('count')} FROM (
          (${select('count')} FROM ${table('usage')} ${page} ${end})
          UNION ALL (${select('yes + no')} FROM ${table('usage_current')} ${page} ${end})
          UNION ALL (${select('count')} FROM ${table('unknown_names')} ${page} ${end})
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
      const [row] = await database.query<{ readonly seen: string | null }>(
        `SELECT string_agg(at || ' ' || flag, $2) AS seen FROM (
          SELECT flag, max(at) AS at FROM ${table('last_seen')} WHERE flag = ANY (string_to_array($1, $2)) GROUP BY flag
        ) AS latest`,
        [flags.map(toStoredText).join(SEPARATOR), SEPARATOR],
      );
      const found = new Map<string, number>();
      for (const pair of row?.seen?.split(SEPARATOR) ?? []) {
        const space = pair.indexOf(' ');
        found.set(fromStoredText(pair.slice(space + 1)), Number(pair.slice(0, space)));
      }
      return found;
    },
  };
}

/** Counters of flags up to a second. */
const COUNTER_ROWS = { key: 'second, flag, shard', condition: 'second <= $1' };

/** Deletes and merges metrics, in slices. */
export function metricsDeletion({ database, names, lock }: MetricsTables) {
  const { table } = names;

  async function deletePeriods(name: string, before: number | undefined): Promise<void> {
    const key = 'flag, application, environment, start, shard';
    if (before !== undefined) await deleteUnlocked(name, { key, condition: 'start < $1', value: before });
  }

  async function deleteExpired({ countersUntil, hoursBefore, daysBefore }: Retention): Promise<void> {
    await deleteUnlocked('metrics_writes', { key: 'id', condition: 'at <= $1', value: countersUntil });
    const until = { ...COUNTER_ROWS, value: lastSecondUntil(countersUntil) };
    await deleteUnlocked('counters', until);
    await deleteUnlocked('unknown_counters', { ...until, key: 'application, flag, second' });
    if (hoursBefore !== undefined) {
      await lock.repeat(moveUsage(names, 'start < $1'), hoursBefore + (LIMITS.usageHours - 1) * HOUR);
    }
    await deletePeriods('usage_hours', hoursBefore);
    await deletePeriods('usage_days', daysBefore);
  }

  /** Keeps the limit of `LIMITS.countersBySecond`. Holds the lock, because reports may write the same rows. */
  async function mergeCounters(): Promise<void> {
    const counters = table('counters');
    const [found] = await database.query<{ readonly newest: string | null }>(
      `SELECT max(second) AS newest FROM ${counters} HAVING EXISTS (SELECT 1 FROM ${counters} OFFSET ${LIMITS.countersBySecond})`,
    );
    if (!found) return;
    const { droppedUntil, mergedUntil } = boundsOfMerging(Number(found.newest));
    await deleteUnlocked('counters', { ...COUNTER_ROWS, value: droppedUntil });
    // The end of a minute stands for it.
    const text = `
      WITH moved AS (
        DELETE FROM ${counters} WHERE (${COUNTER_ROWS.key}) IN (
          SELECT ${COUNTER_ROWS.key} FROM ${counters} WHERE ${COUNTER_ROWS.condition} AND second % 60 <> 0 LIMIT ${SLICE})
        RETURNING *),
      merged AS (
        INSERT INTO ${counters} AS known (second, flag, shard, yes, no)
        SELECT (second + 59) / 60 * 60 AS minute, flag, shard, ${bounded('sum(yes)')}, ${bounded('sum(no)')}
        FROM moved GROUP BY minute, flag, shard
        ON CONFLICT (second, flag, shard) DO UPDATE SET
          yes = ${bounded('known.yes + excluded.yes')}, no = ${bounded('known.no + excluded.no')})
      SELECT count(*) FROM moved`;
    await lock.repeat(text, mergedUntil);
  }

  const deleteSlice = (name: string, { key, condition }: Expired) => `
    WITH gone AS (
      DELETE FROM ${table(name)} WHERE (${key}) IN (
        SELECT ${key} FROM ${table(name)} WHERE ${condition} LIMIT ${SLICE})
      RETURNING 1)
    SELECT count(*) FROM gone`;

  /** Needs no lock: no report writes expired rows. */
  async function deleteUnlocked(name: string, expired: Expired): Promise<void> {
    const text = deleteSlice(name, expired);
    for (let count = SLICE; count === SLICE; ) count = await countOf(database, text, expired.value);
  }

  /** Deletes instances, then applications without any, then the usage of those. Their timed usage remains. */
  async function deleteUnseen({ unseenSince }: Retention): Promise<void> {
    const named = (column: string) => `NOT EXISTS (SELECT 1 FROM ${table('applications')} WHERE name = ${column})`;
    await deleteLocked('instances', { key: 'application, id', condition: 'seen_at < $1', value: unseenSince });
    await deleteLocked('applications', {
      key: 'name',
      condition: `NOT EXISTS (SELECT 1 FROM ${table('instances')} WHERE application = name)`,
    });
    await lock.repeat(moveUsage(names, named('application')));
    await deleteLocked('usage', { key: 'application, flag, shard', condition: named('application') });
    await deleteLocked('unknown_names', {
      key: 'application, flag',
      condition: `rank < $1 OR ${named('application')}`,
      value: rankOf(unseenSince),
    });
    await deleteLocked('dropped_names', { key: 'application', condition: named('application') });
  }

  async function deleteLocked(name: string, expired: Expired): Promise<void> {
    await lock.repeat(deleteSlice(name, expired), expired.value);
  }

  /** Deletes names that were last seen long ago and are no flag's, page by page. */
  async function deleteUnusedNames({ unseenSince, isFlag }: Retention): Promise<void> {
    let last: string | undefined = '';
    while (last !== undefined) {
      const page: readonly { readonly flag: string }[] = await database.query(
        `SELECT flag FROM ${table('last_seen')} WHERE flag > $1
        GROUP BY flag HAVING max(at) < $2 ORDER BY flag LIMIT ${SLICE}`,
        [last, unseenSince],
      );
      const unused = page.map(({ flag }) => flag).filter((flag) => !isFlag(fromStoredText(flag)));
      if (unused.length > 0) {
        await lock.exclusive(async (statements) => {
          await statements.query(moveUsage(names, 'flag = ANY ($1::text[])'), [unused]);
          await statements.query(
            `WITH unused AS (
              SELECT flag FROM ${table('last_seen')} WHERE flag = ANY ($1::text[]) GROUP BY flag HAVING max(at) < $2
            ),
            uses AS (DELETE FROM ${table('usage')} WHERE flag IN (SELECT flag FROM unused))
            DELETE FROM ${table('last_seen')} WHERE flag IN (SELECT flag FROM unused)`,
            [unused, unseenSince],
          );
        });
      }
      last = page.length === SLICE ? page.at(-1)?.flag : undefined;
    }
  }

  return {
    mergeCounters,

    async prune(retention: Retention): Promise<void> {
      await deleteExpired(retention);
      await deleteUnseen(retention);
      await deleteUnusedNames(retention);
      await database.write({ text: bumpVersionShard(names), values: [] });
    },

    async forget(flags: readonly string[]): Promise<void> {
      const usage = ['usage', 'usage_current', 'usage_hours', 'usage_days'];
      const tables = ['counters', ...usage, 'unknown_names', 'unknown_counters', 'last_seen'];
      await lock.exclusive(async (statements) => {
        for (const name of tables) {
          await statements.query(`DELETE FROM ${table(name)} WHERE flag = ANY ($1::text[])`, [flags.map(toStoredText)]);
        }
        await statements.query(bumpVersionShard(names));
      });
    },

    /** Returns whether the application was known. */
    async forgetApplication(application: string): Promise<boolean> {
      const tables = ['instances', 'usage', 'unknown_names', 'unknown_counters', 'dropped_names'];
      const values = [toStoredText(application)];
      let isKnown = false;
      await lock.repeat(moveUsage(names, 'application = $1'), values[0]);
      await lock.exclusive(async (statements) => {
        const found = await statements.query(
          `DELETE FROM ${table('applications')} WHERE name = $1 RETURNING 1`,
          values,
        );
        isKnown = found.length > 0;
        await statements.query(moveUsage(names, 'application = $1'), values);
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
  /** SQL: the rows to delete; `$1` is the value. */
  readonly condition: string;
  readonly value?: number;
}
