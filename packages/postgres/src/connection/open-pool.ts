import { FlagsError } from '@flags/core';
import type { PgPool } from '../driver.js';
import driverLoader from '../load-driver.cjs';

interface Driver {
  readonly Pool: new (options: PoolOptions) => PgPool;
}

interface PoolOptions {
  readonly connectionString: string;
  readonly connectionTimeoutMillis: number;
  /** What the database calls these connections where it lists them. */
  readonly application_name: string;
  readonly max?: number;
  readonly keepAlive: true;
  /** An idle pool keeps no process alive. */
  readonly allowExitOnIdle: true;
}

/** Opens a pool with the host's own `pg`. Fails with `storage_unsupported` when it is missing. */
export function openPool(options: {
  readonly connectionString: string;
  readonly connectTimeout: number;
  readonly max?: number;
}): PgPool {
  const { connectionString, connectTimeout, max } = options;
  const { Pool } = findDriver();
  return new Pool({
    connectionString,
    connectionTimeoutMillis: connectTimeout,
    application_name: 'flags',
    keepAlive: true,
    allowExitOnIdle: true,
    ...(max !== undefined && { max }),
  });
}

function findDriver(): Driver {
  try {
    return driverLoader.loadDriver() as Driver;
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'MODULE_NOT_FOUND') throw error;
    const message = 'A PostgreSQL storage needs the package pg. Install it beside your application: npm install pg@8';
    throw new FlagsError('storage_unsupported', message, undefined, { cause: error });
  }
}
