import { loadDriver, type PgClient, type PgPool, type PgQuery, type PgResult } from '../driver.js';
import { endsSession, explainFault } from './errors.js';

/** Opens a pool with the host's own `pg`. Fails with `storage_unsupported` if it is missing. */
export async function openPool(options: {
  readonly connectionString: string;
  readonly connectTimeout: number;
  readonly max?: number;
}): Promise<PgPool> {
  const { connectionString, connectTimeout, max } = options;
  const { Pool } = await loadDriver();
  return new Pool({
    connectionString,
    connectionTimeoutMillis: connectTimeout,
    application_name: 'flags',
    keepAlive: true,
    allowExitOnIdle: true,
    ...(max !== undefined && { max }),
  });
}

/** How many storages use each pool. */
const users = new WeakMap<PgPool, number>();

/**
 * Listens to errors of the pool and its clients, because an error event without a listener ends the process. The next call
 * takes another connection.
 *
 * The pool listens to idle clients, and a session to its own. A new connection can fail before either listens, so every
 * client gets a listener when it connects.
 *
 * @returns a function that removes the listeners of this caller
 */
export function surviveIdleErrors(pool: PgPool): () => void {
  const before = users.get(pool) ?? 0;
  if (before === 0) {
    pool.on('error', noop);
    pool.on('connect', listenTo);
  }
  users.set(pool, before + 1);
  return () => {
    const left = (users.get(pool) ?? 1) - 1;
    users.set(pool, left);
    if (left > 0) return;
    pool.removeListener('error', noop);
    pool.removeListener('connect', listenTo);
  };
}

function listenTo(client: PgClient): void {
  client.on('error', noop);
}

function noop(): void {}

/** Settles like the promise, or rejects with `late()` after `time` milliseconds. */
function withTimeout<T>(promise: Promise<T>, time: number, late: () => Error): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(late()), time);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** A connection taken out of the pool. Known faults are thrown as `FlagsError` or `LostRace`. */
export interface Session {
  /** Runs one statement. Every value of a row is text or null. */
  query<Row>(text: string, values?: readonly unknown[]): Promise<readonly Row[]>;
  /** Runs statements without parameters in one round trip, and returns the rows of each. Stops at the first that fails. */
  queryAll<Row>(text: string): Promise<readonly (readonly Row[])[]>;
  /** Returns the connection to the pool. It must not be in a transaction. */
  release(): void;
  /** Closes the connection, because its state is unknown. */
  discard(): void;
  /** Whether the connection has failed. The last statement may have run. */
  isLost(): boolean;
}

export interface SessionLimits {
  /** Milliseconds. */
  readonly connectTimeout: number;
  /** Milliseconds. */
  readonly queryTimeout: number;
}

/** Keeps values as the text that PostgreSQL sends. */
const asText = { getTypeParser: () => (value: string) => value };

/** Takes a connection. Fails after `connectTimeout`, independent of the pool's own limits. */
export async function openSession(pool: PgPool, limits: SessionLimits): Promise<Session> {
  const client = await takeClient(pool, limits.connectTimeout);
  let loss: unknown;
  let isBack = false;
  // An error event without a listener ends the process, and the pool does not listen while the client is out.
  const listener = (error: unknown) => {
    loss ??= error;
  };
  client.on('error', listener);

  function giveBack(error: Error | boolean | undefined): void {
    if (isBack) return;
    isBack = true;
    client.release(error);
    client.removeListener('error', listener);
    // A client that is being closed may still emit errors.
    if (error) client.on('error', () => undefined);
  }

  /** The driver returns a list of results for several statements. */
  async function ask(query: Pick<PgQuery, 'text' | 'values'>): Promise<readonly PgResult[]> {
    if (loss) throw explainFault(loss);
    try {
      const asked = client.query({ ...query, types: asText });
      return [await withTimeout(asked, limits.queryTimeout, () => tooLate('statement', limits.queryTimeout))].flat();
    } catch (error) {
      if (endsSession(error)) loss ??= error;
      throw explainFault(error);
    }
  }

  return {
    async query<Row>(text: string, values?: readonly unknown[]) {
      const [result] = await ask({ text, ...(values && { values: [...values] }) });
      return (result?.rows ?? []) as Row[];
    },
    async queryAll<Row>(text: string) {
      return (await ask({ text })).map(({ rows }) => rows as Row[]);
    },
    release: () => giveBack(loss ? true : undefined),
    discard: () => giveBack(true),
    isLost: () => loss !== undefined,
  };
}

/** Takes a client from the pool. A client that arrives too late is returned. */
export async function takeClient(pool: PgPool, time: number): Promise<PgClient> {
  const connecting = pool.connect();
  try {
    return await withTimeout(connecting, time, () => tooLate('connection', time));
  } catch (error) {
    // The client may still arrive, and must return to the pool.
    connecting.then(
      (client) => client.release(),
      () => undefined,
    );
    throw explainFault(error);
  }
}

function tooLate(what: 'connection' | 'statement', time: number): Error {
  const state = what === 'connection' ? 'no connection was available' : 'a statement was not answered';
  return new Error(`${state} within ${time} ms`);
}
