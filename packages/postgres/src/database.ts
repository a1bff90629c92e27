import { FlagsError } from '@flags/core';
import { withRetries } from './connection/errors.js';
import { openSession, repeatableWriter, type Session, type SessionLimits } from './connection/session.js';
import type { PgPool } from './driver.js';

/** Runs statements. Every value of a row is text or null, whatever parsers the host has set. */
export interface Statements {
  /** One statement; PostgreSQL's array parameters are passed as arrays. Without values, the text may hold several. */
  query<Row>(text: string, values?: readonly unknown[]): Promise<readonly Row[]>;
}

/** A text with its parameters. */
export interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** The database, for the parts of a storage. Faults come as a `FlagsError` where they are known. */
export interface Database extends Statements {
  /**
   * Runs `work` in one READ COMMITTED transaction on one connection and commits. When `work` throws, everything is rolled
   * back. Serialization failures and deadlocks run it again, so it keeps nothing between runs. It is given the rows of
   * each of the statements that were `first`.
   *
   * Fails with `storage_unavailable` when the connection is lost before the commit: nothing has changed. When it is lost
   * during the commit, `findOutcome` is asked what became of it, and without one it fails with `outcome_unknown`.
   */
  transaction<T>(work: Work<T>, options?: TransactionOptions<T>): Promise<T>;

  /**
   * One statement that changes no more when it is carried out twice: when its answer is lost, it is carried out again.
   * Fails with `outcome_unknown` when that does not succeed either; with everything else, nothing has changed.
   */
  write(statement: Statement): Promise<void>;
}

type Rows = readonly Readonly<Record<string, string | null>>[];

export type Work<T> = (statements: Statements, first: readonly Rows[]) => Promise<T>;

export interface TransactionOptions<T> {
  /** Statements without values that go to the database together with BEGIN. */
  readonly first?: string | undefined;
  /** Gives true when the transaction has been committed, false when it has not; throws when nobody knows. */
  readonly findOutcome?: ((value: T) => Promise<boolean>) | undefined;
}

export interface DatabaseLimits extends SessionLimits {
  /** Milliseconds within which the outcome of a statement or commit must be found after its answer was lost. */
  readonly outcomeTimeout: number;
}

const BEGIN = 'BEGIN ISOLATION LEVEL READ COMMITTED';

export function openDatabase(pool: PgPool, limits: DatabaseLimits): Database {
  // A suspended node must not keep its locks for ever.
  const beginning = [BEGIN, `SET LOCAL idle_in_transaction_session_timeout = ${limits.queryTimeout}`];
  return {
    query: (text, values) =>
      withRetries(async () => {
        const session = await openSession(pool, limits);
        try {
          return await session.query(text, values);
        } finally {
          session.release();
        }
      }),
    write: repeatableWriter(pool, { ...limits, failure: outcomeUnknown }),
    transaction: (work, { first, findOutcome } = {}) =>
      withRetries(async () => {
        const session = await openSession(pool, limits);
        try {
          const statements = first === undefined ? beginning : [...beginning, first];
          const answers = await session.queryAll<Rows[number]>(statements.join(';\n'));
          const value = await work(session, answers.slice(beginning.length));
          return await commit(session, { value, findOutcome });
        } catch (error) {
          await undo(session);
          throw error;
        } finally {
          session.release();
        }
      }),
  };
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
    // What was lost before has not been sent, and so has not happened.
    if (wasLost || !session.isLost()) throw error;
    session.discard();
    if (!findOutcome) throw outcomeUnknown(error);
    if (await findOutcome(value)) return value;
    throw error;
  }
}

export function outcomeUnknown(cause: unknown): FlagsError {
  const message =
    'The connection was lost during the commit, and the database cannot be asked what became of it. ' +
    'Look whether the change is there before you repeat it.';
  return new FlagsError('outcome_unknown', message, undefined, { cause });
}

/** Leaves the connection outside a transaction, or closes it: the next who gets it must not find ours. */
async function undo(session: Session): Promise<void> {
  if (session.isLost()) return session.discard();
  try {
    await session.query('ROLLBACK');
  } catch {
    session.discard();
  }
}
