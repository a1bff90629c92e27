import { FlagsError } from '@flags/core';

/** Serialization failure and deadlock: PostgreSQL has rolled the transaction back, and it may run again. */
const LOST_RACES = new Set(['40001', '40P01']);

/** SQLSTATEs that end the session: lost connection, shutdown, startup, idle limits. */
const ENDS_SESSION = /^(08|57P|25P03|25P04)/;

/** Also: no resources, read-only, cancelled, input/output error. */
const UNAVAILABLE = /^(08|25006|25P03|25P04|53|57|58|XX000)/;

/** The lock timeout. */
const BUSY = new Set(['55P03']);

/** Retrying does not help; the host has to act. */
const ADVICE: ReadonlyMap<string, string> = new Map([
  ['28000', 'refuses this user. Check the user of the connection string and pg_hba.conf.'],
  ['28P01', 'refuses this password. Check the password of the connection string.'],
  ['3D000', 'has no such database. Create it first: the storage creates tables, not databases.'],
  ['42501', 'does not permit this to the user. Grant the rights that the README of @flags/postgres lists.'],
  ['42P01', 'lacks a table of the storage. Open the storage again with migrations to create it.'],
]);

/** The SQLSTATE of an error that the database has sent; undefined for other errors. */
export function sqlState(error: unknown): string | undefined {
  const { code, severity } = Object(error) as { readonly code?: unknown; readonly severity?: unknown };
  return typeof code === 'string' && severity !== undefined && /^[0-9A-Z]{5}$/.test(code) ? code : undefined;
}

/** Errors without an SQLSTATE are of the connection. */
export function endsSession(error: unknown): boolean {
  const state = sqlState(error);
  return state === undefined || ENDS_SESSION.test(state);
}

/** PostgreSQL has rolled the transaction back in favour of another. It may run again. */
class LostRace extends Error {
  override readonly name = 'LostRace';
}

/** Maps driver errors to a `FlagsError` that says what to do, or to a {@link LostRace}. Returns other errors unchanged. */
export function explainFault(error: unknown): unknown {
  const state = sqlState(error);
  const cause = { cause: error };
  const reason = reasonOf(error);
  if (state !== undefined && LOST_RACES.has(state)) return new LostRace(reason, cause);
  if (state === undefined || UNAVAILABLE.test(state)) {
    return new FlagsError('storage_unavailable', `The database cannot be used now: ${reason}.`, undefined, cause);
  }
  if (BUSY.has(state)) return storageBusy(reason, error);
  const advice = ADVICE.get(state);
  if (!advice) return error;
  return new FlagsError('storage_unsupported', `The database ${advice} (${reason})`, undefined, cause);
}

function storageBusy(reason: string, cause: unknown): FlagsError {
  return new FlagsError('storage_busy', `The database is busy: ${reason}. Try again.`, undefined, { cause });
}

/** An `AggregateError`, for a host name with several addresses, has no message of its own. */
function reasonOf(error: unknown): string {
  const { message, code, errors } = Object(error) as {
    readonly message?: unknown;
    readonly code?: unknown;
    readonly errors?: readonly unknown[];
  };
  const text = message || code || (errors?.length ? reasonOf(errors[0]) : String(error));
  return String(text).replace(/\.$/, '');
}

/** How often a transaction is run before it fails. */
const ATTEMPTS = 10;
/** Milliseconds. */
const LONGEST_PAUSE = 200;

/**
 * Retries an attempt that fails with {@link LostRace}, after random pauses. The attempt must change nothing if it fails.
 * Fails with `storage_busy` after the last.
 */
export async function withRetries<T>(attempt: () => Promise<T>): Promise<T> {
  for (let count = 1; ; count++) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof LostRace)) throw error;
      if (count === ATTEMPTS) throw storageBusy(error.message, error);
    }
    await delay(Math.random() * Math.min(LONGEST_PAUSE, 2 ** count));
  }
}

/** Resolves after `time` milliseconds, or when the signal aborts. A pause with a signal keeps no process alive. */
export function delay(time: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const timer = setTimeout(finish, time);
    if (signal) timer.unref();
    signal?.addEventListener('abort', finish);

    function finish(): void {
      clearTimeout(timer);
      signal?.removeEventListener('abort', finish);
      resolve();
    }
  });
}
