import { isFlagsError } from '@flags/core';
import type { PgPool } from '../driver.js';
import { pause, withRetries } from './retries.js';
import { openSession, type SessionLimits } from './session.js';

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
