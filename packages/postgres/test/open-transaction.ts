import type { Pool, PoolClient } from 'pg';

/** Opens a foreign transaction with an id, as one that writes. */
export async function openTransaction(pool: Pool): Promise<PoolClient> {
  const client = await pool.connect();
  await client.query('BEGIN');
  await client.query('SELECT pg_current_xact_id()');
  return client;
}

export async function endTransaction(client: PoolClient): Promise<void> {
  await client.query('COMMIT');
  client.release();
}
