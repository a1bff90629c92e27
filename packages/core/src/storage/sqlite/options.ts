import { FlagsError } from '../../errors.js';
import { describeUnknownOption } from '../../misuse.js';
import type { SqliteDatabase } from './database.js';

/** Where a SQLite storage lives: the path of a file, or more. */
export type SqliteStorageOptions =
  | string
  | (SqliteStorageSettings & {
      /**
       * The file to open with the installed better-sqlite3; `:memory:` for a database in memory. It is created when absent, with
       * mode 0600: only its owner may read it. An existing file keeps its mode.
       */
      readonly path: string;
    })
  | (SqliteStorageSettings & {
      /**
       * A better-sqlite3 database that the host has opened and will close. It keeps its own pragmas, and with them its
       * own durability: in WAL mode better-sqlite3 defaults to `synchronous = NORMAL`, where an acknowledged change
       * survives the end of the process, but may be lost in a power cut. Its `timeout` blocks the event loop.
       *
       * While a transaction of the host's is open on it, or a query is iterated over (`iterate`), it shows the state of
       * before: reads and writes of the storage wait until that is over, and fail with `storage_busy` after `busyTimeout`.
       * A handle in `unsafeMode` does not tell that it iterates.
       *
       * Its journal is best left as it is while the storage is open. A host that turns WAL off and on again before the
       * storage has written in between makes a new `-wal`, which cannot be told from one that was put in the place of the
       * other: changes fail with `storage_unavailable` until they find WAL off, or another storage is made of the handle.
       */
      readonly database: SqliteDatabase;
    });

export interface SqliteStorageSettings {
  /** Heads the name of every table and index; letters, digits and `_`. Default `flags_`. */
  readonly tablePrefix?: string;
  /** How long, in milliseconds, a call waits for a locked database before it fails with `storage_busy`. Default 5000. */
  readonly busyTimeout?: number;
}

export interface CheckedOptions {
  readonly source: { readonly path: string } | { readonly database: SqliteDatabase };
  readonly tablePrefix: string;
  readonly busyTimeout: number;
}

const OPTIONS = ['path', 'database', 'tablePrefix', 'busyTimeout'];

/** Fails with `invalid_input`; host applications written in JavaScript have no compiler to tell them. */
export function assertOptions(options: SqliteStorageOptions): CheckedOptions {
  if (options === undefined || options === null) {
    throw invalid("sqliteStorage needs the path of a database file: write sqliteStorage('./flags.db').");
  }
  const settings = typeof options === 'string' ? { path: options } : options;
  const fault = describeUnknownOption(settings, OPTIONS);
  if (fault) throw invalid(`sqliteStorage ${fault}`);
  const { tablePrefix = 'flags_', busyTimeout = 5_000 } = settings;
  if (!isIdentifier(tablePrefix) || /^sqlite_/i.test(tablePrefix)) {
    throw invalid(
      "tablePrefix must be a string that begins with a letter or _, holds letters, digits and _ alone, and is not SQLite's own.",
    );
  }
  if (!Number.isSafeInteger(busyTimeout) || busyTimeout < 0) {
    throw invalid('busyTimeout must be a whole number of milliseconds, at least 0.');
  }
  return { source: assertSource(settings), tablePrefix, busyTimeout };
}

/** The prefix becomes part of SQL statements. An array or object would be another text each time it is read. */
function isIdentifier(value: unknown): value is string {
  return typeof value === 'string' && /^[A-Za-z_][A-Za-z0-9_]*$/.test(value);
}

function assertSource(settings: Exclude<SqliteStorageOptions, string>): CheckedOptions['source'] {
  if ('database' in settings) {
    if (typeof settings.database?.prepare === 'function') return { database: settings.database };
    throw invalid('database must be an open better-sqlite3 database.');
  }
  // SQLite takes an empty path as a file that vanishes: the usual result of a missing environment variable.
  const { path } = settings;
  if (typeof path === 'string' && path.trim() !== '' && !path.includes('\0')) return { path };
  throw invalid('path must be the path of a database file, or ":memory:".');
}

function invalid(message: string): FlagsError {
  return new FlagsError('invalid_input', message);
}
