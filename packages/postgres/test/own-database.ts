import { type DatabaseOrigin, type FreshDatabase, freshDatabase } from '@flags/test-postgres';
import { Pool } from 'pg';

export interface OwnDatabase {
  readonly url: () => string;
  /** A host's pool on it. */
  readonly pool: () => Pool;
  /** Runs a statement as the owner of the database; gives the rows. */
  readonly ask: (statement: string, values?: unknown[]) => Promise<Record<string, unknown>[]>;
}

/** A database for the tests of a file, dropped after them. */
export function ownDatabase(origin: () => DatabaseOrigin = () => ({})): OwnDatabase {
  let database: FreshDatabase;
  let pool: Pool;

  beforeAll(async () => {
    database = await freshDatabase(origin());
    pool = new Pool({ connectionString: database.url, max: 20 });
    // Dropping the database ends connections that the pool has not quite closed.
    pool.on('error', () => undefined);
  });

  afterAll(async () => {
    await pool.end();
    await database.drop();
  });

  return {
    url: () => database.url,
    pool: () => pool,
    ask: async (statement, values) => (await pool.query(statement, values)).rows,
  };
}
