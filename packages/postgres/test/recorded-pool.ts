import type { Pool } from 'pg';
import type { PgPool, PgQuery } from '../src/index.js';

/** A pool that calls `onQuery` before each query of its clients. */
export function recordedPool(pool: Pool, onQuery: (query: PgQuery) => Promise<void> | void): PgPool {
  return {
    query: (query) => pool.query(query),
    on: (event, listener) => pool.on(event, listener),
    removeListener: (event, listener) => pool.removeListener(event, listener),
    end: () => pool.end(),
    async connect() {
      const client = await pool.connect();
      return {
        async query(query) {
          await onQuery(query);
          return client.query(query);
        },
        on: (event: string, listener: (...parameters: never[]) => void) => client.on(event as 'end', listener),
        removeListener: (event, listener) => client.removeListener(event, listener),
        release: (error) => client.release(error),
      };
    },
  };
}
