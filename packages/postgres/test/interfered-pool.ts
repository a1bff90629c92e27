import type { Pool, PoolClient, QueryResult } from 'pg';
import type { PgPool, PgQuery } from '../src/index.js';

/** Told when the database has carried a statement out, before its client hears: what it throws is heard instead. */
export type Interference = (query: PgQuery, client: PoolClient, answer: QueryResult) => void;

/**
 * The host's pool, with something that comes between the database and its clients.
 *
 * @param rewrite gives what the database is asked instead
 */
export function interferedPool(pool: Pool, interfere: Interference, rewrite = (text: string) => text): PgPool {
  return Object.assign(Object.create(pool), {
    async connect() {
      const client = await pool.connect();
      return Object.assign(Object.create(client), {
        query: async (query: PgQuery) => {
          const answer = await client.query({ ...query, text: rewrite(query.text) });
          interfere(query, client, answer);
          return answer;
        },
      });
    },
  });
}

/** An error of the database, as the driver gives it. */
export function databaseError(code: string, message: string): Error {
  return Object.assign(new Error(message), { code, severity: 'ERROR' });
}
