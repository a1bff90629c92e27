import { setTimeout } from 'node:timers/promises';
import type { Awaitable } from '../../common.types.js';
import { FlagsError } from '../../errors.js';
import type { Connection } from './database.js';

const DAMAGED = 'The file of the SQLite database is damaged, restore it from a backup';

const REASONS: readonly { readonly codes: RegExp; readonly reason: string }[] = [
  { codes: /^SQLITE_FULL/, reason: 'The disk of the SQLite database is full, or the database as large as it may be' },
  { codes: /^SQLITE_READONLY/, reason: 'The SQLite database cannot be written to at the moment' },
  { codes: /^SQLITE_(NOTADB|CORRUPT)/, reason: DAMAGED },
  { codes: /^SQLITE_CANTOPEN/, reason: 'A file of the SQLite database cannot be opened' },
  { codes: /^SQLITE_(IOERR|PERM|PROTOCOL|NOLFS)/, reason: 'The disk of the SQLite database fails' },
];

/**
 * Turns what a disk does to an open database into `storage_unavailable`, with the driver's error as its cause; gives other
 * errors back as they are. SQLite undoes what such a fault interrupts.
 */
export function explainRunning(error: unknown): unknown {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  if (error instanceof SyntaxError) return unavailable(`${DAMAGED}: it holds a text that is not JSON`, error);
  if (typeof code !== 'string') return error;
  const known = REASONS.find(({ codes }) => codes.test(code));
  if (known) return unavailable(known.reason, error);
  const isWithoutTables = code === 'SQLITE_ERROR' && String(message).startsWith('no such table');
  return isWithoutTables ? unavailable('The tables are no longer in the SQLite database', error) : error;
}

/** @param reason a clause that names what has happened, without a full stop */
export function unavailable(reason: string, cause?: unknown): FlagsError {
  const message = `${reason}. Nothing was changed; try again when that is put right.`;
  return new FlagsError('storage_unavailable', message, undefined, cause === undefined ? undefined : { cause });
}

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
