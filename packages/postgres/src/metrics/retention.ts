import type { Retention } from '@flags/core';
import type { Statements } from '../database.js';
import { markStatement } from '../stamp/marks.js';
import { fromStoredText, toStoredText } from '../stored-text.js';
import { lastSecondUntil } from './counts.js';
import { rankOf } from './ranks.js';
import type { RecordingParts } from './record.js';

/** So many rows are dropped at once: reports wait for no longer than that. */
const SLICE = 5000;

/** Drops what is no longer needed, in parts. */
export function dropping({ database, names, turns }: RecordingParts) {
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
      await turns.alone(async (statements) => {
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
        await turns.alone(async (statements) => {
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
      await database.write({ text: markStatement(names), values: [] });
    },

    async forget(flags: readonly string[]): Promise<void> {
      const tables = ['counters', 'usage', 'unknown_names', 'unknown_counters', 'last_seen'];
      await turns.alone(async (statements) => {
        for (const name of tables) {
          await statements.query(`DELETE FROM ${table(name)} WHERE flag = ANY ($1::text[])`, [flags.map(toStoredText)]);
        }
        await statements.query(markStatement(names));
      });
    },

    /** Gives whether the application was known. */
    async forgetApplication(application: string): Promise<boolean> {
      const tables = ['instances', 'usage', 'unknown_names', 'unknown_counters', 'dropped_names'];
      const values = [toStoredText(application)];
      let isKnown = false;
      await turns.alone(async (statements) => {
        const found = await statements.query(
          `DELETE FROM ${table('applications')} WHERE name = $1 RETURNING 1`,
          values,
        );
        isKnown = found.length > 0;
        for (const name of tables) await statements.query(`DELETE FROM ${table(name)} WHERE application = $1`, values);
        await statements.query(markStatement(names));
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
