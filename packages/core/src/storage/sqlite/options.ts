import { FlagsError } from '../../base/errors.js';
import { describeUnknownOption } from '../../base/option-names.js';
import type { SqliteDatabase } from './database.js';
import { adaptNodeDatabase, isNodeDatabase, type NodeDatabase } from './node-database.js';

/** The path of a database file, or options with a path or an open database. */
export type SqliteStorageOptions =
  | string
  | (SqliteStorageSettings & {
      /**
       * The file to open, or `:memory:`. Uses better-sqlite3 if it is installed, or else `node:sqlite`. A new file gets
       * mode 0600: only its owner may read it. An existing file keeps its mode.
       */
      readonly path: string;
      /**
       * A folder whose better-sqlite3 is used, for a command that is installed elsewhere. Default: the one that this
       * library finds.
       */
      readonly driverFrom?: string | undefined;
    })
  | (SqliteStorageSettings & {
      /**
       * A better-sqlite3 database, or a `DatabaseSync` of `node:sqlite`, that the host opens and closes. It keeps its
       * own pragmas and durability: in WAL mode, better-sqlite3 defaults to `synchronous = NORMAL`. Acknowledged
       * changes then survive a crash of the process, but may be lost in a power cut. Its `timeout` blocks the event
       * loop.
       *
       * While the host has a transaction open on it, or iterates over a query (`iterate`), reads and writes of the
       * storage wait. They throw `storage_busy` after `busyTimeout`. A handle in `unsafeMode`, and a `DatabaseSync`, do
       * not report that they iterate: reads of the storage then return the state at the start of the iteration.
       *
       * Do not change the journal mode while the storage is open. If the host turns WAL off and on again between two
       * writes of the storage, the new `-wal` looks like a replaced file: changes throw `storage_unavailable` until
       * they find WAL off, or until the host creates another storage on the handle.
       */
      readonly database: SqliteDatabase | NodeDatabase;
    });

/** The effective options of a SQLite storage, with their defaults. */
export interface SqliteStorageSettings {
  /** Prefix of every table and index: letters, digits and `_`. Default: `flags_`. */
  readonly tablePrefix?: string | undefined;
  /**
   * Whether opening creates or migrates the tables. Default: true. With false, opening changes nothing, and throws
   * `storage_unsupported` unless the tables are of this version of the library.
   */
  readonly migrate?: boolean;
  /** How long a call waits for a locked database before it throws `storage_busy`, in milliseconds. Default: 5,000. */
  readonly busyTimeout?: number;
}

/** A file, and the folder whose driver opens it. */
export interface FileSource {
  readonly path: string;
  readonly driverFrom?: string | undefined;
}

export interface CheckedOptions {
  readonly source: FileSource | { readonly database: SqliteDatabase };
  readonly tablePrefix: string;
  readonly migrate: boolean;
  readonly busyTimeout: number;
}

/** Milliseconds. */
export const DEFAULT_BUSY_TIMEOUT = 5_000;

type NameIn<Options> = Options extends object ? keyof Options : never;

const OPTIONS: Readonly<Record<NameIn<SqliteStorageOptions>, true>> = {
  path: true,
  driverFrom: true,
  database: true,
  tablePrefix: true,
  migrate: true,
  busyTimeout: true,
};

/** Throws `invalid_input` for invalid options, because hosts in JavaScript have no compiler. */
export function assertOptions(options: SqliteStorageOptions): CheckedOptions {
  if (typeof options !== 'string' && (typeof options !== 'object' || options === null)) {
    throw invalid("sqliteStorage needs the path of a database file: write sqliteStorage('./flags.db').");
  }
  const settings = typeof options === 'string' ? { path: options } : options;
  const fault = describeUnknownOption(settings, Object.keys(OPTIONS));
  if (fault) throw invalid(`sqliteStorage ${fault}`);
  const { tablePrefix = 'flags_', migrate = true, busyTimeout = DEFAULT_BUSY_TIMEOUT } = settings;
  if (!isIdentifier(tablePrefix) || /^sqlite_/i.test(tablePrefix)) {
    throw invalid(
      'tablePrefix must be a string that begins with a letter or _, contains only letters, digits and _, and is not reserved by SQLite.',
    );
  }
  if (typeof migrate !== 'boolean') throw invalid('migrate must be true or false.');
  if (!Number.isSafeInteger(busyTimeout) || busyTimeout < 0) {
    throw invalid('busyTimeout must be a whole number of milliseconds, at least 0.');
  }
  return { source: assertSource(settings), tablePrefix, migrate, busyTimeout };
}

/** Requires a string, because the prefix becomes part of SQL: an object's text could differ at each use. */
function isIdentifier(value: unknown): value is string {
  return typeof value === 'string' && /^[A-Za-z_][A-Za-z0-9_]*$/.test(value);
}

function assertSource(settings: Exclude<SqliteStorageOptions, string>): CheckedOptions['source'] {
  if ('database' in settings) {
    const { database } = settings;
    if (typeof database?.prepare !== 'function') {
      throw invalid('database must be an open better-sqlite3 database, or a DatabaseSync of node:sqlite.');
    }
    return { database: isNodeDatabase(database) ? adaptNodeDatabase(database) : database };
  }
  // SQLite opens an empty path, such as a missing environment variable, as a temporary file.
  const { path, driverFrom } = settings;
  if (driverFrom !== undefined && (typeof driverFrom !== 'string' || driverFrom === '')) {
    throw invalid('driverFrom must be the path of a folder.');
  }
  if (typeof path === 'string' && path.trim() !== '' && !path.includes('\0')) return { path, driverFrom };
  throw invalid('path must be the path of a database file, or ":memory:".');
}

function invalid(message: string): FlagsError {
  return new FlagsError('invalid_input', message);
}
