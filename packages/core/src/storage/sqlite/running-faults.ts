import { FlagsError } from '../../errors.js';

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
