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
  /** A pool of the host. */
  readonly pool: () => Pool;
  /** Runs a statement as the owner of the database, and returns the rows. */
  readonly ask: (statement: string, values?: unknown[]) => Promise<Record<string, unknown>[]>;
}

/** How a database is created and removed. */
interface DatabaseLifecycle {
  readonly origin: () => DatabaseOrigin;
  readonly remove: (database: FreshDatabase) => Promise<void>;
}

/** A database for the tests of a file, dropped after them. Default: on the server that the run shares. */
export function ownDatabase(origin: DatabaseLifecycle['origin'] = () => ({})): OwnDatabase {
  return databaseOf({ origin, remove: (database) => database.drop() });
}

/** SQL that deletes all rows of a storage. TRUNCATE creates new files, which takes longer for a few rows. */
export async function deletionOfRows({ ask }: OwnDatabase, schema: string): Promise<string> {
  const tables = await ask(
    `SELECT format('DELETE FROM %I.%I;', schemaname, tablename) AS deletion FROM pg_tables
    WHERE schemaname = $1 AND tablename NOT LIKE '%meta'`,
    [schema],
  );
  return tables.map(({ deletion }) => deletion).join(' ');
}

function databaseOf({ origin, remove }: DatabaseLifecycle): OwnDatabase {
  let database: FreshDatabase;
  let pool: Pool;

  beforeAll(async () => {
    database = await freshDatabase(origin());
    pool = new Pool({ connectionString: database.url, max: 20 });
    // Dropping the database ends connections that the pool is still closing.
    pool.on('error', () => undefined);
  });

  afterAll(async () => {
    await pool.end();
    await remove(database);
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
  // The database is removed with its server, which may be down after a failed test.
  const database = databaseOf({ origin: () => ({ server: server.url() }), remove: async () => undefined });
  afterAll(() => server.close());
  return { ...database, server: () => server };
}
