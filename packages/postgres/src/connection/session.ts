import { isFlagsError } from '@flags/core';
import type { PgClient, PgPool, PgQuery, PgResult } from '../driver.js';
import { endsSession, explainFault, pause, withRetries } from './errors.js';

/** Gives what a promise gives, unless that takes longer than so many milliseconds: then it fails with `late()`. */
export function withTimeout<T>(promise: Promise<T>, time: number, late: () => Error): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(late()), time);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** A connection that has been taken out of the pool. Faults come as a `FlagsError` or `LostRace` where they are known. */
export interface Session {
  /** One statement. Every value of a row is text or null. */
  query<Row>(text: string, values?: readonly unknown[]): Promise<readonly Row[]>;
  /** Statements without parameters, in one round trip; gives the rows of each. The first that fails ends them. */
  queryAll<Row>(text: string): Promise<readonly (readonly Row[])[]>;
  /** Gives the connection back. It must not be inside a transaction. */
  release(): void;
  /** Closes the connection: what state it is in is not known. */
  discard(): void;
  /** Whether the connection has failed; what was asked last may have been done. */
  isLost(): boolean;
}

export interface SessionLimits {
  /** Milliseconds. */
  readonly connectTimeout: number;
  /** Milliseconds. */
  readonly queryTimeout: number;
}

/** Leaves values as the text that PostgreSQL sends. */
const asText = { getTypeParser: () => (value: string) => value };

/** Takes a connection; fails when none can be had within the limit, whatever limits the pool itself has. */
export async function openSession(pool: PgPool, limits: SessionLimits): Promise<Session> {
  const client = await takeClient(pool, limits.connectTimeout);
  let loss: unknown;
  let isBack = false;
  // An error that nobody listens to ends the process, and the pool does not listen while the client is out.
  const listener = (error: unknown) => {
    loss ??= error;
  };
  client.on('error', listener);

  function giveBack(error: Error | boolean | undefined): void {
    if (isBack) return;
    isBack = true;
    client.release(error);
    client.removeListener('error', listener);
    // What is thrown away may still fail while it closes.
    if (error) client.on('error', () => undefined);
  }

  /** The driver gives a list of results for several statements. */
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

/** Takes a client; one that comes after the limit goes back. */
export async function takeClient(pool: PgPool, time: number): Promise<PgClient> {
  const connecting = pool.connect();
  try {
    return await withTimeout(connecting, time, () => tooLate('connection', time));
  } catch (error) {
    // It may come yet, and must not be out for ever.
    connecting.then(
      (client) => client.release(),
      () => undefined,
    );
    throw explainFault(error);
  }
}

function tooLate(what: 'connection' | 'statement', time: number): Error {
  const state = what === 'connection' ? 'no connection was to be had' : 'a statement was not answered';
  return new Error(`${state} within ${time} ms`);
}

/** A statement that changes no more when it is carried out twice. */
export interface RepeatableStatement {
  readonly text: string;
  readonly values: readonly unknown[];
}

export interface Repetition {
  /** Milliseconds in which a statement whose answer was lost has to succeed. */
  readonly outcomeTimeout: number;
  /** The error when it has not. */
  readonly failure: (cause: unknown) => Error;
}

const FIRST_PAUSE = 20;
const LONGEST_PAUSE = 500;

/**
 * Carries statements out. One whose connection is lost before the answer is carried out again on other connections, until
 * one of them answers. An error is that of a statement which has changed nothing, or `failure`.
 */
export function repeatableWriter(pool: PgPool, limits: SessionLimits & Repetition) {
  return async (write: RepeatableStatement): Promise<void> => {
    const deadline = performance.now() + limits.outcomeTimeout;
    const progress = { isSent: false };
    for (let longest = FIRST_PAUSE; ; longest = Math.min(2 * longest, LONGEST_PAUSE)) {
      try {
        return await withRetries(() => send(write, { pool, limits, progress }));
      } catch (error) {
        if (!progress.isSent) throw error;
        // It may have been carried out before: no error of a repetition tells that it was not.
        if (!mayPass(error) || performance.now() > deadline) throw limits.failure(error);
      }
      await pause(longest * (0.5 + Math.random() / 2));
    }
  };
}

interface Sending {
  readonly pool: PgPool;
  readonly limits: SessionLimits;
  /** Whether it was sent and the answer lost. */
  readonly progress: { isSent: boolean };
}

async function send({ text, values }: RepeatableStatement, { pool, limits, progress }: Sending): Promise<void> {
  const session = await openSession(pool, limits);
  const wasLost = session.isLost();
  try {
    await session.query(text, values);
  } finally {
    progress.isSent ||= session.isLost() && !wasLost;
    session.release();
  }
}

function mayPass(error: unknown): boolean {
  return isFlagsError(error) && (error.code === 'storage_unavailable' || error.code === 'storage_busy');
}
