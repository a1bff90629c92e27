import { FlagsError } from '@flags/core';
import { describeUnknownOption } from '@flags/core/integration';
import type { PgPool } from './driver.js';
import type { FeedKind } from './feed/order.js';
import { toStoredText } from './tables.js';

/** Where a PostgreSQL storage lives: a connection string, or more. */
export type PostgresStorageOptions =
  | string
  | (PostgresStorageSettings & {
      /** `postgres://user:password@host:5432/database`; the storage opens a pool of its own, and closes it. */
      readonly connectionString: string;
    })
  | (PostgresStorageSettings & {
      /** A `pg` pool that the host has opened and will close. */
      readonly pool: PgPool;
    });

export interface PostgresStorageSettings {
  /** The schema that holds the tables. Created when it is missing and `migrate` is not false. Default `public`. */
  readonly schema?: string;
  /** Heads the name of every table and index; letters, digits and `_`, at most 30. Default `flags_`. */
  readonly tablePrefix?: string;
  /** False: never changes a table, and fails with `storage_unsupported` where that is needed. Default true. */
  readonly migrate?: boolean;
  /**
   * How events are ordered, for the whole database and for good: decided by the node that creates the tables.
   * `snapshot`: by transaction ids; commits do not wait for each other. `counter`: by a number that commits take in turn; for
   * databases that speak PostgreSQL's protocol without its transaction ids. Default: what the database can do.
   */
  readonly feed?: FeedKind;
  /**
   * Whether to keep one connection that hears at once of other nodes' commits; without it they are found by polling. Behind a
   * proxy that pools transactions pass false, or the connection string of the database itself. Default true: one
   * client of the pool is kept, unless the pool has only one.
   */
  readonly listen?: boolean | string;
  /** How long, in milliseconds, a call waits for a connection before it fails with `storage_unavailable`. Default 5000. */
  readonly connectTimeout?: number;
  /**
   * How long, in milliseconds, a statement may take before its connection is taken to be lost. For as long a node may be
   * silent in the middle of a commit: then PostgreSQL undoes it, and others get its locks. Default 10000.
   */
  readonly queryTimeout?: number;
  /**
   * How long, in milliseconds, a commit that lost its connection asks what became of it before it fails with
   * `outcome_unknown`. Default 10000.
   */
  readonly outcomeTimeout?: number;
}

export interface CheckedOptions {
  readonly source: { readonly connectionString: string } | { readonly pool: PgPool };
  readonly schema: string;
  readonly tablePrefix: string;
  readonly migrate: boolean;
  readonly feed: FeedKind | undefined;
  readonly listen: boolean | string | undefined;
  readonly connectTimeout: number;
  readonly queryTimeout: number;
  readonly outcomeTimeout: number;
}

/** Names in PostgreSQL are cut off after 63 bytes; the longest that follows a prefix has 28. */
const LONGEST_PREFIX = 30;
const LONGEST_NAME = 63;

/** A record, so that a setting that is added to the type alone does not compile. */
const SETTINGS: Readonly<Record<keyof PostgresStorageSettings, true>> = {
  schema: true,
  tablePrefix: true,
  migrate: true,
  feed: true,
  listen: true,
  connectTimeout: true,
  queryTimeout: true,
  outcomeTimeout: true,
};

/** Fails with `invalid_input`; host applications written in JavaScript have no compiler to tell them. */
export function assertOptions(options: PostgresStorageOptions): CheckedOptions {
  if (options === undefined || options === null) {
    throw invalid('postgresStorage needs a connection string, or { connectionString } or { pool }.');
  }
  const settings = typeof options === 'string' ? { connectionString: options } : options;
  const fault = describeUnknownOption(settings, ['connectionString', 'pool', ...Object.keys(SETTINGS)]);
  if (fault) throw invalid(`postgresStorage ${fault}`);
  const { migrate = true, feed, listen } = settings;
  const { connectTimeout = 5_000, queryTimeout = 10_000, outcomeTimeout = 10_000 } = settings;
  if (typeof migrate !== 'boolean') throw invalid('migrate must be true or false.');
  if (feed !== undefined && feed !== 'snapshot' && feed !== 'counter') {
    throw invalid("feed must be 'snapshot' or 'counter'.");
  }
  if (listen !== undefined && typeof listen !== 'boolean' && !isConnectionString(listen)) {
    throw invalid('listen must be true, false or a connection string.');
  }
  assertTime('connectTimeout', connectTimeout);
  assertTime('queryTimeout', queryTimeout);
  assertTime('outcomeTimeout', outcomeTimeout);
  const times = { connectTimeout, queryTimeout, outcomeTimeout };
  return { source: assertSource(settings), ...assertPlace(settings), migrate, feed, listen, ...times };
}

/** Where the tables are to be. */
export function assertPlace(place: Pick<PostgresStorageSettings, 'schema' | 'tablePrefix'>): {
  readonly schema: string;
  readonly tablePrefix: string;
} {
  const { schema = 'public', tablePrefix = 'flags_' } = place;
  if (typeof tablePrefix !== 'string' || !/^[A-Za-z_][A-Za-z0-9_]*$/.test(tablePrefix)) {
    throw invalid('tablePrefix must begin with a letter or _ and hold letters, digits and _ alone.');
  }
  if (tablePrefix.length > LONGEST_PREFIX) {
    throw invalid(`tablePrefix must have at most ${LONGEST_PREFIX} characters.`);
  }
  if (typeof schema !== 'string' || schema === '' || toStoredText(schema) !== schema) {
    throw invalid('schema must be the name of a schema.');
  }
  if (Buffer.byteLength(schema) > LONGEST_NAME || /^pg_/i.test(schema)) {
    throw invalid(`schema must have at most ${LONGEST_NAME} bytes and not be one of PostgreSQL's own.`);
  }
  return { schema, tablePrefix };
}

function assertSource(settings: Exclude<PostgresStorageOptions, string>): CheckedOptions['source'] {
  if ('pool' in settings) {
    const { pool } = settings;
    if (typeof pool?.connect === 'function' && typeof pool.query === 'function') return { pool };
    throw invalid('pool must be a Pool of the package pg.');
  }
  // pg takes an empty string as its defaults: the usual result of a missing environment variable.
  if (isConnectionString(settings.connectionString)) return { connectionString: settings.connectionString };
  throw invalid('connectionString must be a connection string such as postgres://user@host:5432/database.');
}

function isConnectionString(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '';
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
