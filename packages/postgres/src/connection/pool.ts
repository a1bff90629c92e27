import { FlagsError } from '@flags/core';
import type { PgClient, PgPool } from '../driver.js';
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

/** How many storages use each pool. */
const users = new WeakMap<PgPool, number>();

/**
 * Lets connections of a pool be lost while nobody has asked them anything: an error that nobody listens to would end the
 * process. The next call takes another connection.
 *
 * The pool listens to clients that are idle, and who takes one out listens once it has it. A new connection and the message
 * that ends it can arrive together, before that: so every client is listened to from the start, for as long as it lives.
 *
 * @returns a function that listens no more, for this caller
 */
export function surviveIdleErrors(pool: PgPool): () => void {
  const before = users.get(pool) ?? 0;
  if (before === 0) {
    pool.on('error', noted);
    pool.on('connect', listenTo);
  }
  users.set(pool, before + 1);
  return () => {
    const left = (users.get(pool) ?? 1) - 1;
    users.set(pool, left);
    if (left > 0) return;
    pool.removeListener('error', noted);
    pool.removeListener('connect', listenTo);
  };
}

function listenTo(client: PgClient): void {
  client.on('error', noted);
}

function noted(): void {}
