import type { Pool, PoolClient, QueryResult } from 'pg';
import type { PgPool, PgQuery } from '../src/index.js';

/** Called with each answer of the database, before its client gets it. The client gets the error that it throws. */
export type Interference = (query: PgQuery, client: PoolClient, answer: QueryResult) => void;

/** A pool that injects faults between the database and its clients. */
export function interferedPool(pool: Pool, interfere: Interference): PgPool {
  return Object.assign(Object.create(pool), {
    async connect() {
      const client = await pool.connect();
      return Object.assign(Object.create(client), {
        query: async (query: PgQuery) => {
          const answer = await client.query(query);
          interfere(query, client, answer);
          return answer;
        },
      });
    },
  });
}

/** An error of the database, in the driver's form. */
export function databaseError(code: string, message: string): Error {
  return Object.assign(new Error(message), { code, severity: 'ERROR' });
}
