import { FlagsError } from '@flags/core';
import { isStorageFailure } from '@flags/core/integration/postgres';
import { delay, withRetries } from './connection/errors.js';
import { openSession, type Session, type SessionLimits } from './connection/session.js';
import type { PgPool } from './driver.js';

/** Runs statements. Every value of a row is text or null, independent of the host's parsers. */
export interface Statements {
  /** Runs one statement. Array parameters are passed as arrays. Without values, the text may hold several statements. */
  query<Row>(text: string, values?: readonly unknown[]): Promise<readonly Row[]>;
}

/** A text with its parameters. */
export interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** The database. Known faults are thrown as `FlagsError`. */
export interface Database extends Statements {
  /**
   * Runs `work` in one READ COMMITTED transaction and commits. Rolls back if `work` throws. Runs it again after serialization
   * failures and deadlocks, so it must keep no state between runs. `work` gets the rows of each statement of `first`.
   *
   * Fails with `storage_unavailable` if the connection is lost before the commit: nothing has changed. If it is lost during
   * the commit, `findOutcome` decides. Without it the call fails with `outcome_unknown`.
   */
  transaction<T>(work: Work<T>, options?: TransactionOptions<T>): Promise<T>;

  /**
   * Runs one idempotent statement, and repeats it if its answer is lost. Fails with `outcome_unknown` if the repetition fails
   * too. After any other error, nothing has changed.
   */
  write(statement: Statement): Promise<void>;
}

type Rows = readonly Readonly<Record<string, string | null>>[];

export type Work<T> = (statements: Statements, first: readonly Rows[]) => Promise<T>;

export interface TransactionOptions<T> {
  /** Statements without values that are sent together with BEGIN. */
  readonly first?: string | undefined;
  /** Returns whether the transaction was committed. Throws if that cannot be found. */
  readonly findOutcome?: ((value: T) => Promise<boolean>) | undefined;
}

export interface DatabaseLimits extends SessionLimits {
  /** Milliseconds within which the outcome of a statement or commit must be found after its answer was lost. */
  readonly outcomeTimeout: number;
}

const BEGIN = 'BEGIN ISOLATION LEVEL READ COMMITTED';

export function openDatabase(pool: PgPool, limits: DatabaseLimits): Database {
  const beginning = [
    BEGIN,
    // A suspended node must not keep its locks for ever.
    `SET LOCAL idle_in_transaction_session_timeout = ${limits.queryTimeout}`,
    // A time-out of the role would end the wait for a synchronous standby, and acknowledge a commit that only this server has.
    'SET LOCAL statement_timeout = 0',
  ];

  async function query<Row>(text: string, values?: readonly unknown[], onLost = () => {}): Promise<readonly Row[]> {
    const session = await openSession(pool, limits);
    try {
      return await session.query(text, values);
    } finally {
      if (session.isLost()) onLost();
      session.release();
    }
  }

  return {
    query: (text, values) => withRetries(() => query(text, values)),
    async write({ text, values }) {
      let isLost = false;
      const send = () =>
        withRetries(async () => {
          await query(text, values, () => {
            isLost = true;
          });
          return true;
        });
      try {
        await send();
      } catch (error) {
        if (!isLost) throw error;
        await untilAnswered(limits.outcomeTimeout, send);
      }
    },
    transaction: (work, { first, findOutcome } = {}) =>
      withRetries(async () => {
        const session = await openSession(pool, limits);
        try {
          const statements = first === undefined ? beginning : [...beginning, first];
          const answers = await session.queryAll<Rows[number]>(statements.join(';\n'));
          const value = await work(session, answers.slice(beginning.length));
          return await commit(session, { value, findOutcome });
        } catch (error) {
          await rollBack(session);
          throw error;
        } finally {
          session.release();
        }
      }),
  };
}

/** Milliseconds between two attempts. */
const FIRST_PAUSE = 20;
const LONGEST_PAUSE = 500;

/**
 * Repeats a question about a lost answer while the database cannot be reached, or it returns undefined. Fails with
 * `outcome_unknown` after `time` milliseconds, and if the database refuses the question.
 */
export async function untilAnswered<T>(time: number, ask: () => Promise<T | undefined>): Promise<T> {
  const deadline = performance.now() + time;
  for (let longest = FIRST_PAUSE; ; longest = Math.min(2 * longest, LONGEST_PAUSE)) {
    let failure: unknown;
    try {
      const answer = await ask();
      if (answer !== undefined) return answer;
    } catch (error) {
      if (!isStorageFailure(error)) throw outcomeUnknown(error);
      failure = error;
    }
    if (performance.now() > deadline) throw outcomeUnknown(failure);
    await delay(longest * (0.5 + Math.random() / 2));
  }
}

interface Finished<T> {
  readonly value: T;
  readonly findOutcome: ((value: T) => Promise<boolean>) | undefined;
}

async function commit<T>(session: Session, { value, findOutcome }: Finished<T>): Promise<T> {
  const wasLost = session.isLost();
  try {
    await session.query('COMMIT');
    return value;
  } catch (error) {
    // A connection that was lost earlier did not send the COMMIT.
    if (wasLost || !session.isLost()) throw error;
    session.discard();
    if (!findOutcome) throw outcomeUnknown(error);
    if (await findOutcome(value)) return value;
    throw error;
  }
}

function outcomeUnknown(cause: unknown): FlagsError {
  const message =
    'The connection was lost during the commit, and the database cannot report its outcome. ' +
    'Check whether the change exists before you repeat it.';
  return new FlagsError('outcome_unknown', message, undefined, { cause });
}

/** Rolls back, or closes the connection: its next user must not find an open transaction. */
async function rollBack(session: Session): Promise<void> {
  if (session.isLost()) return session.discard();
  try {
    await session.query('ROLLBACK');
  } catch {
    session.discard();
  }
}
