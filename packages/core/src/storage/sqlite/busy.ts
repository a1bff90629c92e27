import { setTimeout } from 'node:timers/promises';
import type { Awaitable } from '../../awaitable.js';
import { FlagsError } from '../../errors.js';
import type { Connection } from './database.js';
import { explainRunning } from './running-faults.js';

/**
 * Runs a synchronous read at once and gives what it gives; or, while another connection holds the lock, or the host is inside a
 * transaction of its own or iterates over a query, promises to run it as soon as that is over: a read among what the host
 * reads could see an older state than was already acknowledged. Fails with `storage_busy` after `busyTimeout`.
 */
export function readWhenFree<T>(connection: Connection, read: () => T): Awaitable<T> {
  try {
    assertOpen(connection);
    const outcome = readUnlessBusy(connection, read);
    return outcome === 'busy' ? readLater(connection, read) : outcome.value;
  } catch (error) {
    return Promise.reject(error);
  }
}

async function readLater<T>(connection: Connection, read: () => T): Promise<T> {
  const deadline = performance.now() + connection.busyTimeout;
  while (performance.now() < deadline) {
    await pause();
    assertOpen(connection);
    const outcome = readUnlessBusy(connection, read);
    if (outcome !== 'busy') return outcome.value;
  }
  throw busyError(connection);
}

function readUnlessBusy<T>(connection: Connection, read: () => T): { readonly value: T } | 'busy' {
  if (!connection.isHosts) return unlessBusy(connection, read);
  return unlessBusy(connection, () => {
    // The driver reads beside an open iterator, from its old snapshot; it executes nothing there, not even an empty text.
    connection.database.exec('');
    return read();
  });
}

/** The value, or `'busy'` when the connection cannot be used at the moment. Other faults are thrown, explained. */
export function unlessBusy<T>({ database }: Connection, work: () => T): { readonly value: T } | 'busy' {
  if (database.inTransaction) return 'busy';
  try {
    return { value: work() };
  } catch (error) {
    if (isBusy(error)) return 'busy';
    throw explainRunning(error);
  }
}

/** A pause between two attempts; of random length, so that waiting processes do not try in step. */
export async function pause(): Promise<void> {
  await setTimeout(5 + Math.random() * 20);
}

/** Fails with `closed` when the host has closed its handle under the storage. */
export function assertOpen({ database }: Connection): void {
  if (!database.open) throw new FlagsError('closed', 'The SQLite database has been closed.');
}

export function busyError({ busyTimeout }: Connection): FlagsError {
  return new FlagsError(
    'storage_busy',
    `The SQLite database stayed locked for ${busyTimeout} ms, by another connection, or by a transaction or an iterator ` +
      'left open on this one. Nothing was changed; try again, or raise busyTimeout.',
  );
}

/**
 * Locked by another connection, or in the middle of a query that the host iterates over on this one. Told by code and
 * text: the driver's errors may come from another realm.
 */
function isBusy(error: unknown): boolean {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  if (typeof code === 'string') return code.startsWith('SQLITE_BUSY');
  return typeof message === 'string' && message.endsWith('is busy executing a query');
}
