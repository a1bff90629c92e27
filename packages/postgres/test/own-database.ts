import {
  type DatabaseOrigin,
  type FreshDatabase,
  freshDatabase,
  type PostgresOptions,
  type PostgresServer,
  startPostgres,
} from '@flags/test-postgres';
import { Pool } from 'pg';

export interface OwnDatabase {
  readonly url: () => string;
  /** A host's pool on it. */
  readonly pool: () => Pool;
  /** Runs a statement as the owner of the database; gives the rows. */
  readonly ask: (statement: string, values?: unknown[]) => Promise<Record<string, unknown>[]>;
}

/** Where a database comes from, and what becomes of it. */
interface Stay {
  readonly origin: () => DatabaseOrigin;
  readonly leave: (database: FreshDatabase) => Promise<void>;
}

/** A database for the tests of a file, dropped after them. */
export function ownDatabase(): OwnDatabase {
  return databaseOf({ origin: () => ({}), leave: (database) => database.drop() });
}

function databaseOf({ origin, leave }: Stay): OwnDatabase {
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
    await leave(database);
  });

  return {
    url: () => database.url,
    pool: () => pool,
    ask: async (statement, values) => (await pool.query(statement, values)).rows,
  };
}

/** A database on a server that no other test uses, with settings of its own. */
export function ownServer(options: PostgresOptions = {}): OwnDatabase & { readonly server: () => PostgresServer } {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres(options);
  });
  // It goes with the server. A test that fails while the server is down has nobody to ask to drop it, and is to be told alone.
  const database = databaseOf({ origin: () => ({ server: server.url() }), leave: async () => undefined });
  afterAll(() => server.close());
  return { ...database, server: () => server };
}
