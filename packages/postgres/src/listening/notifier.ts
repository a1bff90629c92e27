import type { Database } from '../database.js';
import { spaced } from './spaced.js';

/** Tells other nodes that something was committed. */
export interface Notifier {
  /** Returns at once. However many commits there are meanwhile, one message is under way and one waits. */
  notify(): void;
  /** Sends what waits, and resolves when nothing is under way. */
  finish(): Promise<void>;
}

/** Milliseconds between two messages. */
const GAP = 20;

/**
 * Notifies after the commit, not within it: transactions that notify hold a lock of the whole database while they
 * are flushed, so that no two of them would share a flush. A message that is lost is made up for by polling. The first
 * goes at once; a message is a transaction of its own, so that of many commits in a row each would cost another.
 */
export function createNotifier(database: Database, { channel, node }: Channel): Notifier {
  const { ask, finish } = spaced(GAP, () =>
    database.query('SELECT pg_notify($1, $2)', [channel, node]).catch(() => undefined),
  );
  return { notify: ask, finish };
}

export interface Channel {
  readonly channel: string;
  /** This storage, among all that notify; its own messages are no news to it. */
  readonly node: string;
}
