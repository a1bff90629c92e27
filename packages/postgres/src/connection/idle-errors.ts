import type { PgClient, PgPool } from '../driver.js';

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
