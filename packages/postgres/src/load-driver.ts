import { FlagsError } from '@flags/core';
import type { PgPool } from './driver.js';

interface Driver {
  readonly Pool: new (options: PoolOptions) => PgPool;
}

interface PoolOptions {
  readonly connectionString: string;
  readonly connectionTimeoutMillis: number;
  /** The name in `pg_stat_activity`. */
  readonly application_name: string;
  readonly max?: number;
  readonly keepAlive: true;
  /** An idle pool keeps no process alive. */
  readonly allowExitOnIdle: true;
}

/** Loads the host's own `pg`. Fails with `storage_unsupported` if it is missing. */
export async function loadDriver(): Promise<Driver> {
  try {
    // Bundlers understand `import()` in every format. The default export is the whole module, also where it is CommonJS.
    const { default: driver } = (await import('pg')) as { readonly default: unknown };
    return driver as Driver;
  } catch (error) {
    const { code } = Object(error) as { readonly code?: unknown };
    if (code !== 'MODULE_NOT_FOUND' && code !== 'ERR_MODULE_NOT_FOUND') throw error;
    const message = 'A PostgreSQL storage needs the package pg. Install it beside your application: npm install pg@8';
    throw new FlagsError('storage_unsupported', message, undefined, { cause: error });
  }
}
