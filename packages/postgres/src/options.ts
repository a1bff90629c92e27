import { FlagsError } from '@flags/core';
import { describeUnknownOption } from '@flags/core/integration/shared';
import type { PgPool } from './driver.js';
import { toStoredText } from './tables.js';

/** A connection string, or settings with a connection string or a pool. */
export type PostgresStorageOptions =
  | string
  | (PostgresStorageSettings & {
      /** `postgres://user:password@host:5432/database`. The storage opens a pool of its own, and closes it. */
      readonly connectionString: string;
    })
  | (PostgresStorageSettings & {
      /** A `pg` pool that the host has opened and will close. */
      readonly pool: PgPool;
    });

/** The effective options of a PostgreSQL storage, with their defaults. */
export interface PostgresStorageSettings {
  /** The schema of the tables. Created if it is missing and `migrate` is not false. Default: `public`. */
  readonly schema?: string | undefined;
  /** Prefix of all tables and indexes: at most 30 letters, digits and `_`. Default: `flags_`. */
  readonly tablePrefix?: string | undefined;
  /** False: changes no table, and fails with `storage_unsupported` if a migration is due. Default: true. */
  readonly migrate?: boolean;
  /**
   * Whether to keep one connection that receives notifications of other nodes' commits. Without it the storage is polled. Behind
   * a proxy that pools transactions, pass false, or the connection string of the database itself. Default: true. One client of
   * the pool is kept then, unless the pool has only one.
   */
  readonly listen?: boolean | string | undefined;
  /** Milliseconds that a call waits for a connection before it fails with `storage_unavailable`. Default: 5,000. */
  readonly connectTimeout?: number;
  /**
   * Milliseconds after which a statement without an answer counts as a lost connection. PostgreSQL rolls a commit back, and
   * frees its locks, if the node is silent for that long in the middle. Default: 10,000.
   */
  readonly queryTimeout?: number;
  /**
   * Milliseconds for which a commit that lost its connection asks for its outcome before it fails with `outcome_unknown`.
   * Default: 10,000.
   */
  readonly outcomeTimeout?: number;
}

export interface CheckedOptions {
  readonly source: { readonly connectionString: string } | { readonly pool: PgPool };
  readonly schema: string;
  readonly tablePrefix: string;
  readonly migrate: boolean;
  readonly listen: boolean | string | undefined;
  readonly connectTimeout: number;
  readonly queryTimeout: number;
  readonly outcomeTimeout: number;
}

/** PostgreSQL cuts names off after 63 bytes. The longest name after a prefix has 28. */
const LONGEST_PREFIX = 30;
const LONGEST_NAME = 63;

/** A record, so that the compiler finds a setting that is missing here. */
const SETTINGS: Readonly<Record<keyof PostgresStorageSettings, true>> = {
  schema: true,
  tablePrefix: true,
  migrate: true,
  listen: true,
  connectTimeout: true,
  queryTimeout: true,
  outcomeTimeout: true,
};

/** Fails with `invalid_input`. Hosts in JavaScript have no compiler that checks options. */
export function assertOptions(options: PostgresStorageOptions): CheckedOptions {
  if (typeof options !== 'string' && (typeof options !== 'object' || options === null)) {
    throw invalid('postgresStorage needs a connection string, or { connectionString } or { pool }.');
  }
  const settings = typeof options === 'string' ? { connectionString: options } : options;
  const fault = describeUnknownOption(settings, ['connectionString', 'pool', ...Object.keys(SETTINGS)]);
  if (fault) throw invalid(`postgresStorage ${fault}`);
  const { migrate = true, listen } = settings;
  const { connectTimeout = 5_000, queryTimeout = 10_000, outcomeTimeout = 10_000 } = settings;
  if (typeof migrate !== 'boolean') throw invalid('migrate must be true or false.');
  if (listen !== undefined && typeof listen !== 'boolean' && !isConnectionString(listen)) {
    throw invalid('listen must be true, false or a connection string.');
  }
  assertTime('connectTimeout', connectTimeout);
  assertTime('queryTimeout', queryTimeout);
  assertTime('outcomeTimeout', outcomeTimeout);
  const times = { connectTimeout, queryTimeout, outcomeTimeout };
  return { source: assertSource(settings), ...assertLocation(settings), migrate, listen, ...times };
}

/** Fails with `invalid_input` for an invalid schema or prefix. */
export function assertLocation(location: Pick<PostgresStorageSettings, 'schema' | 'tablePrefix'>): {
  readonly schema: string;
  readonly tablePrefix: string;
} {
  const { schema = 'public', tablePrefix = 'flags_' } = location;
  if (typeof tablePrefix !== 'string' || !/^[A-Za-z_][A-Za-z0-9_]*$/.test(tablePrefix)) {
    throw invalid('tablePrefix must begin with a letter or _ and contain only letters, digits and _.');
  }
  if (tablePrefix.length > LONGEST_PREFIX) {
    throw invalid(`tablePrefix must have at most ${LONGEST_PREFIX} characters.`);
  }
  if (typeof schema !== 'string' || schema === '' || toStoredText(schema) !== schema) {
    throw invalid('schema must be the name of a schema.');
  }
  if (Buffer.byteLength(schema) > LONGEST_NAME || /^pg_/i.test(schema)) {
    throw invalid(`schema must have at most ${LONGEST_NAME} bytes and not be reserved by PostgreSQL.`);
  }
  return { schema, tablePrefix };
}

function assertSource(settings: Exclude<PostgresStorageOptions, string>): CheckedOptions['source'] {
  if ('pool' in settings) {
    const { pool } = settings;
    if (typeof pool?.connect === 'function' && typeof pool.query === 'function') return { pool };
    throw invalid('pool must be a Pool of the package pg.');
  }
  // pg uses its defaults for an empty string, which is often a missing environment variable.
  if (isConnectionString(settings.connectionString)) return { connectionString: settings.connectionString };
  throw invalid('connectionString must be a connection string such as postgres://user@host:5432/database.');
}

/** A URL, or the directory of a socket. pg would take the beginning of any other text for the name of a host. */
function isConnectionString(value: unknown): value is string {
  return typeof value === 'string' && /^(?:\/|[a-z]+:)/i.test(value.trim());
}

/** The longest time of a timer in Node. */
const LONGEST_TIME = 2 ** 31 - 1;

function assertTime(name: string, value: number): void {
  if (Number.isSafeInteger(value) && value >= 1 && value <= LONGEST_TIME) return;
  throw invalid(`${name} must be a whole number of milliseconds, at least 1.`);
}

function invalid(message: string): FlagsError {
  return new FlagsError('invalid_input', message);
}
