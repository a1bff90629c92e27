import type { PgPool } from '../driver.js';

/** How many storages use each pool. */
const users = new WeakMap<PgPool, number>();

/**
 * Lets idle connections of a pool be lost: an error that nobody listens to would end the process. The next call takes
 * another connection.
 *
 * @returns a function that listens no more, for this caller
 */
export function surviveIdleErrors(pool: PgPool): () => void {
  const before = users.get(pool) ?? 0;
  if (before === 0) pool.on('error', noted);
  users.set(pool, before + 1);
  return () => {
    const left = (users.get(pool) ?? 1) - 1;
    users.set(pool, left);
    if (left === 0) pool.removeListener('error', noted);
  };
}

function noted(): void {}
