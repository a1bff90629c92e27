import { createHash, randomUUID } from 'node:crypto';
import { pause } from '../connection/errors.js';
import type { Database } from '../database.js';
import type { TableLocation } from '../tables.js';

export interface Throttle {
  /** Starts the work at once, or once after the pause, however often it is requested meanwhile. */
  request(): void;
  /** Does requested work without the pause. Resolves when no work is running. */
  finish(): Promise<void>;
}

/**
 * Runs work on request, with a pause after each run.
 *
 * @param gap the pause in milliseconds; it keeps no process alive
 */
export function throttle(gap: number, work: () => unknown): Throttle {
  let running: Promise<void> | undefined;
  let isRequested = false;
  const finishing = new AbortController();

  async function run(): Promise<void> {
    while (isRequested) {
      isRequested = false;
      await work();
      await pause(gap, finishing.signal);
    }
    running = undefined;
  }

  return {
    request() {
      isRequested = true;
      running ??= run();
    },
    async finish() {
      finishing.abort();
      await running;
    },
  };
}

/** Notifies other nodes of commits. */
export interface Notifier {
  /** Returns at once. At most one message is being sent and one waits, however many commits there are. */
  notify(): void;
  /** Sends a waiting message. Resolves when none is being sent. */
  finish(): Promise<void>;
}

/** Milliseconds between two messages. */
const GAP = 20;

/**
 * Sends notifications after commits, not within them: notifying transactions hold a database-wide lock during their flush, so
 * commits could not share a flush. Messages are throttled, because each is a transaction. Polling covers lost messages.
 */
export function createNotifier(database: Database, { channel, node }: Channel): Notifier {
  const { request, finish } = throttle(GAP, () =>
    database.query('SELECT pg_notify($1, $2)', [channel, node]).catch(() => undefined),
  );
  return { notify: request, finish };
}

export interface Channel {
  readonly channel: string;
  /** Identifies this storage, which ignores its own messages. */
  readonly node: string;
}

/** The channel for these tables. It is a hash, because PostgreSQL cuts off long names. */
export function channelOf({ schema, tablePrefix }: TableLocation): Channel {
  const hash = createHash('sha256')
    .update(JSON.stringify([schema, tablePrefix]))
    .digest('hex');
  return { channel: `flags_${hash.slice(0, 16)}`, node: randomUUID() };
}
