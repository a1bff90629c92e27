import { createHash, randomUUID } from 'node:crypto';
import { pause } from '../connection/errors.js';
import type { Database } from '../database.js';
import type { Place } from '../tables.js';

/** Something that is done when it is asked for, and not again before a pause is over. */
export interface Spaced {
  /** Does it at once, or once after the pause, however often it is asked for meanwhile. */
  ask(): void;
  /** Does without the pause what waits for it, and resolves when nothing is under way. */
  finish(): Promise<void>;
}

/** @param gap milliseconds; they keep no process alive */
export function throttle(gap: number, work: () => unknown): Spaced {
  let underway: Promise<void> | undefined;
  let isWanted = false;
  const finishing = new AbortController();

  async function run(): Promise<void> {
    while (isWanted) {
      isWanted = false;
      await work();
      await pause(gap, finishing.signal);
    }
    underway = undefined;
  }

  return {
    ask() {
      isWanted = true;
      underway ??= run();
    },
    async finish() {
      finishing.abort();
      await underway;
    },
  };
}

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
  const { ask, finish } = throttle(GAP, () =>
    database.query('SELECT pg_notify($1, $2)', [channel, node]).catch(() => undefined),
  );
  return { notify: ask, finish };
}

export interface Channel {
  readonly channel: string;
  /** This storage, among all that notify; its own messages are no news to it. */
  readonly node: string;
}

/** The channel of the tables at a place. Names of channels are cut off like those of tables, so it is a hash. */
export function channelOf({ schema, tablePrefix }: Place): Channel {
  const hash = createHash('sha256')
    .update(JSON.stringify([schema, tablePrefix]))
    .digest('hex');
  return { channel: `flags_${hash.slice(0, 16)}`, node: randomUUID() };
}
