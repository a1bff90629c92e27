import type { Pool, PoolClient } from 'pg';

/** As one writes it by hand: every statement is waited for. A failure ends the benchmark. */
export async function inTransaction(pool: Pool, work: (client: PoolClient) => Promise<void>): Promise<void> {
  const client = await pool.connect();
  await client.query('BEGIN');
  await work(client);
  await client.query('COMMIT');
  client.release();
}
