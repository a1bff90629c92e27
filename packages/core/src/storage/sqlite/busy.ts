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
 * Turns a driver error of a failing disk into `storage_unavailable`, with the driver error as its cause. Returns other errors
 * unchanged. SQLite rolls back what such a fault interrupts.
 */
function explainRunning(error: unknown): unknown {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  if (error instanceof SyntaxError) return unavailable(`${DAMAGED}: it holds a text that is not JSON`, error);
  if (typeof code !== 'string') return error;
  const known = REASONS.find(({ codes }) => codes.test(code));
  if (known) return unavailable(known.reason, error);
  const isWithoutTables = code === 'SQLITE_ERROR' && String(message).startsWith('no such table');
  return isWithoutTables ? unavailable('The tables are no longer in the SQLite database', error) : error;
}

/** @param reason a sentence without a full stop */
export function unavailable(reason: string, cause?: unknown): FlagsError {
  const message = `${reason}. Nothing was changed; try again when that is put right.`;
  return new FlagsError('storage_unavailable', message, undefined, cause === undefined ? undefined : { cause });
}

/**
 * Runs a synchronous read at once and returns its result, or a promise if the connection is busy.
 *
 * The connection is busy while another connection holds the lock, and while the host has a transaction or an iterator open
 * on it: a read inside them could return an older state than an acknowledged one. Rejects with `storage_busy` after
 * `busyTimeout`, and with `closed` if the host has closed the database.
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
    // Beside an open iterator the driver would read its old snapshot. It refuses to execute anything, even an empty text.
    connection.database.exec('');
    return read();
  });
}

/** Returns the result of `work`, or `'busy'` if the connection cannot be used now. Throws explained driver errors. */
export function unlessBusy<T>({ database }: Connection, work: () => T): { readonly value: T } | 'busy' {
  if (database.inTransaction) return 'busy';
  try {
    return { value: work() };
  } catch (error) {
    if (isBusy(error)) return 'busy';
    throw explainRunning(error);
  }
}

/** Waits between two attempts, for a random time, so that waiting processes do not retry in step. */
export async function pause(): Promise<void> {
  await setTimeout(5 + Math.random() * 20);
}

/** Throws `closed` if the host has closed the database that the storage uses. */
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
 * Returns whether another connection holds the lock, or the host iterates over a query on this one. Compares code and
 * text, because driver errors may come from another realm.
 */
function isBusy(error: unknown): boolean {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  if (typeof code === 'string') return code.startsWith('SQLITE_BUSY');
  return typeof message === 'string' && message.endsWith('is busy executing a query');
}
