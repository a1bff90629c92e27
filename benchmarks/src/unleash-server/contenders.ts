import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Contender, Installation } from './contender.js';

const REFERENCE_SERVER = fileURLToPath(new URL('../../../examples/server/dist/main.js', import.meta.url));
const ADMIN_TOKEN = '*:*.benchmark-of-the-servers-of-this-api-family';

/** The reference server on a SQLite file, or on a database of PostgreSQL. */
export function flagsServer(database: string): Contender {
  return {
    name: `@flags, ${database.startsWith('postgres:') ? 'PostgreSQL' : 'SQLite'}`,
    of: 'this library',
    program: REFERENCE_SERVER,
    adminToken: ADMIN_TOKEN,
    environment: (port) => ({
      PORT: String(port),
      HOST: '127.0.0.1',
      FLAGS_DB: database,
      FLAGS_ADMIN_TOKEN: ADMIN_TOKEN,
    }),
  };
}

/**
 * Unleash's server as it is installed, on a database of PostgreSQL. It tells nobody, bounds nothing that is measured, and
 * may have a connection to the database for each of the load.
 */
export function unleashServer(version: string, { folder }: Installation, database: string): Contender {
  const { pathname, searchParams } = new URL(database);
  return {
    name: `Unleash ${version}`,
    of: 'Unleash',
    program: join(folder, 'node_modules/unleash-server/dist/server.js'),
    adminToken: ADMIN_TOKEN,
    environment: (port) => ({
      HTTP_PORT: String(port),
      HTTP_HOST: '127.0.0.1',
      DATABASE_HOST: searchParams.get('host') ?? '',
      DATABASE_PORT: '5432',
      DATABASE_NAME: pathname.slice(1),
      DATABASE_USERNAME: 'postgres',
      DATABASE_PASSWORD: 'none',
      DATABASE_SSL: 'false',
      DATABASE_POOL_MAX: '10',
      INIT_ADMIN_API_TOKENS: ADMIN_TOKEN,
      CHECK_VERSION: 'false',
      SEND_TELEMETRY: 'false',
      CLIENT_METRICS_RATE_LIMIT_PER_MINUTE: '100000000',
      REGISTER_CLIENT_RATE_LIMIT_PER_MINUTE: '100000000',
      UNLEASH_FEATURE_FLAGS_LIMIT: '1000000',
      UNLEASH_FEATURE_ENVIRONMENT_STRATEGIES_LIMIT: '10000',
    }),
  };
}
