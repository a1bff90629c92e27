import { FlagsError } from '@flags/core';

/**
 * The part of a `pg` pool that the library uses. It is a structural type, because this package does not depend on the
 * driver: the host passes its own pool.
 */
export interface PgPool {
  query(query: PgQuery): Promise<PgResult>;
  connect(): Promise<PgClient>;
  on(event: 'error', listener: (error: Error) => void): unknown;
  /** The pool emits `connect` before the promise of its method `connect` resolves. */
  on(event: 'connect', listener: (client: PgClient) => void): unknown;
  removeListener(event: 'error', listener: (error: Error) => void): unknown;
  removeListener(event: 'connect', listener: (client: PgClient) => void): unknown;
  end(): Promise<unknown>;
  readonly options?: { readonly max?: number };
}

/** A client that was taken out of a {@link PgPool}. */
export interface PgClient {
  query(query: PgQuery): Promise<PgResult>;
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'end', listener: () => void): unknown;
  on(event: 'notification', listener: (message: PgNotification) => void): unknown;
  removeListener(event: 'error', listener: (error: Error) => void): unknown;
  /** Lets the process exit while the connection is open. */
  unref?(): void;
  /** Returns the client to the pool. With an error or true, the pool closes it. */
  release(error?: Error | boolean): unknown;
}

/** A notification of `LISTEN`, as `pg` delivers it. */
export interface PgNotification {
  readonly channel: string;
  readonly payload?: string | undefined;
}

/** A query, as `pg` takes it. */
export interface PgQuery {
  readonly text: string;
  readonly values?: unknown[];
  /** Parses values, instead of the parsers that the host may have set for its process. */
  readonly types?: { readonly getTypeParser: () => (value: string) => unknown };
}

/** The result of a query, as `pg` returns it. */
export interface PgResult {
  readonly rows: unknown[];
  readonly rowCount: number | null;
}

interface Driver {
  readonly Pool: new (options: PoolOptions) => PgPool;
}

interface PoolOptions {
  readonly connectionString: string;
  readonly connectionTimeoutMillis: number;
  /** The name in `pg_stat_activity`. */
  readonly application_name: string;
  readonly max?: number;
  readonly keepAlive: true;
  /** An idle pool keeps no process alive. */
  readonly allowExitOnIdle: true;
}

/** Loads the host's own `pg`. Fails with `storage_unsupported` if it is missing. */
export async function loadDriver(): Promise<Driver> {
  try {
    // Bundlers understand `import()` in every format. The default export is the whole module, also where it is CommonJS.
    const { default: driver } = (await import('pg')) as { readonly default: unknown };
    return driver as Driver;
  } catch (error) {
    const { code } = Object(error) as { readonly code?: unknown };
    if (code !== 'MODULE_NOT_FOUND' && code !== 'ERR_MODULE_NOT_FOUND') throw error;
    const message = 'A PostgreSQL storage needs the package pg. Install it beside your application: npm install pg@8';
    throw new FlagsError('storage_unsupported', message, undefined, { cause: error });
  }
}
