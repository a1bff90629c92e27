import { FlagsError } from '@flags/core';

/** Serialization failure and deadlock: the transaction was undone for the sake of another one, and may run again. */
const LOST_RACES = new Set(['40001', '40P01']);

/** SQLSTATEs that end the session: lost connection, shutdown, startup, idle limits. */
const ENDS_SESSION = /^(08|57P|25P03|25P04)/;

/** Also: no resources, read-only, cancelled, input/output error. */
const UNAVAILABLE = /^(08|25006|25P03|25P04|53|57|58|XX000)/;

/** Codes of locks that were not to be had in time, by a limit that the host has set. */
const BUSY = new Set(['55P03']);

/** Nothing will change by trying again: the host has to put it right. */
const ADVICE: ReadonlyMap<string, string> = new Map([
  ['28000', 'refuses this user. Check the user of the connection string and pg_hba.conf.'],
  ['28P01', 'refuses this password. Check the password of the connection string.'],
  ['3D000', 'has no such database. Create it first: the storage creates tables, not databases.'],
  ['42501', 'does not permit this to the user. Grant what the README of @flags/postgres lists.'],
  ['42P01', 'has lost a table of the storage. Open the storage again, with migrations, to have it created.'],
]);

/** The SQLSTATE of an error that the database itself has sent; undefined for every other error. */
export function sqlState(error: unknown): string | undefined {
  const { code, severity } = Object(error) as { readonly code?: unknown; readonly severity?: unknown };
  return typeof code === 'string' && severity !== undefined && /^[0-9A-Z]{5}$/.test(code) ? code : undefined;
}

/** What is not said by the database comes from the way to it. */
export function endsSession(error: unknown): boolean {
  const state = sqlState(error);
  return state === undefined || ENDS_SESSION.test(state);
}

/** The transaction was undone for the sake of another one, and may run again. */
export class LostRace extends Error {
  override readonly name = 'LostRace';
}

/** Turns what the driver throws into a `FlagsError` that says what to do, or a {@link LostRace}; others stay as they are. */
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

export function storageBusy(reason: string, cause: unknown): FlagsError {
  return new FlagsError('storage_busy', `Others keep the database busy: ${reason}. Try again.`, undefined, { cause });
}

/** A refused connection to a name with several addresses is one error of several, without a message of its own. */
function reasonOf(error: unknown): string {
  const { message, code, errors } = Object(error) as {
    readonly message?: unknown;
    readonly code?: unknown;
    readonly errors?: readonly unknown[];
  };
  const text = message || code || (errors?.length ? reasonOf(errors[0]) : String(error));
  return String(text).replace(/\.$/, '');
}

/** Losing more races than this in a row is told. */
const ATTEMPTS = 10;
/** Milliseconds. */
const LONGEST_PAUSE = 200;

/**
 * Runs what is undone whole when it fails, and again as long as it only loses races against others. Fails with
 * `storage_busy` when it keeps losing.
 */
export async function withRetries<T>(attempt: () => Promise<T>): Promise<T> {
  for (let count = 1; ; count++) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof LostRace)) throw error;
      if (count === ATTEMPTS) throw storageBusy(error.message, error);
    }
    await pause(Math.random() * Math.min(LONGEST_PAUSE, 2 ** count));
  }
}

/** Resolves after so many milliseconds, or when the signal is given. A pause that has a signal keeps no process alive. */
export function pause(time: number, signal?: AbortSignal): Promise<void> {
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
