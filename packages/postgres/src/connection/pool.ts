import { FlagsError } from '@flags/core';
import type { PgClient, PgPool } from '../driver.js';
import driverLoader from '../load-driver.cjs';

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

/** Opens a pool with the host's own `pg`. Fails with `storage_unsupported` if it is missing. */
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

/** How many storages use each pool. */
const users = new WeakMap<PgPool, number>();

/**
 * Listens to errors of the pool and its clients, because an error event without a listener ends the process. The next call
 * takes another connection.
 *
 * The pool listens to idle clients, and a session to its own. A new connection can fail before either listens, so every
 * client gets a listener when it connects.
 *
 * @returns a function that removes the listeners of this caller
 */
export function surviveIdleErrors(pool: PgPool): () => void {
  const before = users.get(pool) ?? 0;
  if (before === 0) {
    pool.on('error', noop);
    pool.on('connect', listenTo);
  }
  users.set(pool, before + 1);
  return () => {
    const left = (users.get(pool) ?? 1) - 1;
    users.set(pool, left);
    if (left > 0) return;
    pool.removeListener('error', noop);
    pool.removeListener('connect', listenTo);
  };
}

function listenTo(client: PgClient): void {
  client.on('error', noop);
}

function noop(): void {}
