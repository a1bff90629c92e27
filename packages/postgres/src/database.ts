import type { PgClient, PgPool, PgResult } from './driver.js';

/** Runs statements. Every value of a row is text or null, whatever parsers the host has set. */
export interface Statements {
  /** One statement; PostgreSQL's array parameters are passed as arrays. */
  query<Row>(text: string, values?: readonly unknown[]): Promise<readonly Row[]>;
}

/** The database, for the parts of a storage. */
export interface Database extends Statements {
  /**
   * Runs `work` in one READ COMMITTED transaction on one connection and commits. When `work` throws, everything is rolled
   * back. Serialization failures and deadlocks run it again, so it keeps nothing between runs.
   */
  transaction<T>(work: (statements: Statements) => Promise<T>): Promise<T>;
}

/** Leaves values as the text that PostgreSQL sends. */
const asText = { getTypeParser: () => (value: string) => value };

export function openDatabase(pool: PgPool): Database {
  return {
    ...statementsOn(pool),
    async transaction(work) {
      const client = await pool.connect();
      const statements = statementsOn(client);
      try {
        await statements.query('BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE');
        const value = await work(statements);
        await statements.query('COMMIT');
        client.release();
        return value;
      } catch (error) {
        client.release(true);
        throw error;
      }
    },
  };
}

function statementsOn(connection: Pick<PgPool | PgClient, 'query'>): Statements {
  return {
    async query<Row>(text: string, values: readonly unknown[] = []) {
      const { rows }: PgResult = await connection.query({ text, values: [...values], types: asText });
      return rows as Row[];
    },
  };
}
