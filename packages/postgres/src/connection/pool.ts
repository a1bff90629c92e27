import type { PgClient, PgPool } from '../driver.js';
import { loadDriver } from '../load-driver.js';

/** Opens a pool with the host's own `pg`. Fails with `storage_unsupported` if it is missing. */
export async function openPool(options: {
  readonly connectionString: string;
  readonly connectTimeout: number;
  readonly max?: number;
}): Promise<PgPool> {
  const { connectionString, connectTimeout, max } = options;
  const { Pool } = await loadDriver();
  return new Pool({
    connectionString,
    connectionTimeoutMillis: connectTimeout,
    application_name: 'flags',
    keepAlive: true,
    allowExitOnIdle: true,
    ...(max !== undefined && { max }),
  });
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
