import { type PostgresServer, startPostgres } from './start-postgres.js';

/** The environment variable with the connection string of the run's server. */
const VARIABLE = 'FLAGS_TEST_POSTGRES';

let shared: PostgresServer | undefined;

/**
 * Starts the PostgreSQL that a whole run of jest shares. Rules share tables, so statistics of one rule would choose the
 * plans of the next: without them, plans do not depend on when they were collected.
 */
export async function startSharedServer(): Promise<void> {
  shared = await startPostgres({ settings: { autovacuum: 'off' } });
  process.env[VARIABLE] = shared.url();
}

export async function closeSharedServer(): Promise<void> {
  await shared?.close();
}

/** The connection string of the server that the whole run shares. Create your own database with `freshDatabase()`. */
export function sharedServer(): string {
  const url = process.env[VARIABLE];
  if (url) return url;
  throw new Error('No PostgreSQL was started: this test belongs to the project "postgres" of jest.config.ts.');
}
