import type { Pool } from 'pg';
import { inTransaction } from './driver-transaction.js';

export interface Report {
  readonly appName: string;
  readonly instanceId: string;
  readonly flags: readonly string[];
  readonly yes: number;
  readonly no: number;
}

/** Counts a report in the rows that the engine counts it in, in a transaction for each report. */
export function openDriverMetrics(pool: Pool, schema: string) {
  const table = (name: string) => `${schema}.flags_${name}`;
  return ({ appName, instanceId, flags, yes, no }: Report) =>
    inTransaction(pool, async (client) => {
      const now = Date.now();
      await client.query(
        `INSERT INTO ${table('applications')} (name, strategies, description, url, icon, created_at)
        VALUES ($1, '[]', '', '', '', $2) ON CONFLICT (name) DO NOTHING`,
        [appName, now],
      );
      await client.query(
        `INSERT INTO ${table('instances')} (application, id, created_at, seen_at) VALUES ($1, $2, $3, $3)
        ON CONFLICT (application, id) DO UPDATE SET seen_at = excluded.seen_at`,
        [appName, instanceId, now],
      );
      await client.query(
        `INSERT INTO ${table('usage')} AS known (application, flag, shard, count)
        SELECT $1, flag, 0, $3::bigint FROM unnest($2::text[]) AS flag
        ON CONFLICT (application, flag, shard) DO UPDATE SET count = known.count + excluded.count`,
        [appName, flags, yes + no],
      );
      await client.query(
        `INSERT INTO ${table('last_seen')} (flag, shard, at) SELECT flag, 0, $2::bigint FROM unnest($1::text[]) AS flag
        ON CONFLICT (flag, shard) DO UPDATE SET at = excluded.at`,
        [flags, now],
      );
      await client.query(
        `INSERT INTO ${table('counters')} AS known (second, flag, shard, yes, no)
        SELECT $2::bigint, flag, 0, $3::bigint, $4::bigint FROM unnest($1::text[]) AS flag
        ON CONFLICT (second, flag, shard) DO UPDATE SET yes = known.yes + excluded.yes, no = known.no + excluded.no`,
        [flags, Math.floor(now / 1000), yes, no],
      );
    });
}
