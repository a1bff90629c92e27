import type { Retention } from '@flags/core';
import type { Statements } from '../database.js';
import { markStatement } from '../stamp/marks.js';
import { toStoredText } from '../stored-text.js';
import { lastSecondUntil } from './counts.js';
import type { RecordingParts } from './record.js';

/** Drops what is no longer needed. */
export function dropping({ database, names, turns }: RecordingParts) {
  const { table } = names;

  async function dropExpired({ countersUntil }: Retention): Promise<void> {
    const text = `
      WITH writes AS (DELETE FROM ${table('metrics_writes')} WHERE at <= $1 RETURNING 1),
      counters AS (DELETE FROM ${table('counters')} WHERE second <= $2 RETURNING 1)
      ${markStatement(names, ['writes', 'counters'])}`;
    await database.write({ text, values: [countersUntil, lastSecondUntil(countersUntil)] });
  }

  async function dropUnseen(statements: Statements, { unseenSince }: Retention): Promise<void> {
    await statements.query(`DELETE FROM ${table('instances')} WHERE seen_at < $1`, [unseenSince]);
    await statements.query(`
      DELETE FROM ${table('applications')} WHERE NOT EXISTS (
        SELECT 1 FROM ${table('instances')} WHERE application = name)`);
    await statements.query(`
      DELETE FROM ${table('usage')} WHERE NOT EXISTS (
        SELECT 1 FROM ${table('applications')} WHERE name = application)`);
  }

  async function dropStrangers(statements: Statements, { unseenSince, flags }: Retention): Promise<void> {
    await statements.query(
      `WITH strangers AS (
        SELECT flag FROM ${table('last_seen')} AS seen
        WHERE NOT EXISTS (SELECT 1 FROM unnest($2::text[]) AS kept (flag) WHERE kept.flag = seen.flag)
        GROUP BY flag HAVING max(at) < $1
      ),
      uses AS (DELETE FROM ${table('usage')} WHERE flag IN (SELECT flag FROM strangers))
      DELETE FROM ${table('last_seen')} WHERE flag IN (SELECT flag FROM strangers)`,
      [unseenSince, flags.map(toStoredText)],
    );
  }

  return {
    /** Counters are dropped beside the reports that arrive: those of seconds long past concern nobody else. */
    async prune(retention: Retention): Promise<void> {
      await dropExpired(retention);
      await turns.alone(async (statements) => {
        await dropUnseen(statements, retention);
        await dropStrangers(statements, retention);
        await statements.query(markStatement(names));
      });
    },

    async forget(flags: readonly string[]): Promise<void> {
      await turns.alone(async (statements) => {
        await statements.query(
          `WITH counters AS (DELETE FROM ${table('counters')} WHERE flag = ANY ($1::text[])),
          uses AS (DELETE FROM ${table('usage')} WHERE flag = ANY ($1::text[]))
          DELETE FROM ${table('last_seen')} WHERE flag = ANY ($1::text[])`,
          [flags.map(toStoredText)],
        );
        await statements.query(markStatement(names));
      });
    },
  };
}
