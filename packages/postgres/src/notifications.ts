import { createHash, randomUUID } from 'node:crypto';
import { FlagsError } from '@flags/core';
import { delay } from './connection/errors.js';
import { openPool, surviveIdleErrors, takeClient } from './connection/session.js';
import type { Database } from './database.js';
import type { PgClient, PgNotification, PgPool } from './driver.js';
import type { CheckedOptions } from './options.js';
import { quoteIdentifier, type TableLocation } from './tables.js';

/** Receives notifications of other nodes' commits, on a connection of its own. */
export interface Listener {
  /**
   * Calls `onChange` when another node may have committed. Calls it too when the connection is lost, fails or is restored, so
   * that the caller polls and learns whether the database is available.
   */
  watch(onChange: () => void): () => void;
  /** Releases the connection, and resolves then. */
  close(): Promise<void>;
}

export interface ListenerOptions extends Channel {
  readonly pool: PgPool;
  /** Milliseconds. */
  readonly connectTimeout: number;
}

/** Milliseconds. */
const FIRST_PAUSE = 80;
const LONGEST_PAUSE = 15_000;
/** Milliseconds between two sent messages, and between two calls of `onChange`, each of which makes watchers read. */
const GAP = 20;
/** Milliseconds between two checks of the connection, which can be lost without an error. */
const HEARTBEAT = 30_000;

/** Connects while there are listeners. Reconnects with growing pauses. Keeps no process alive. */
function createListener(options: ListenerOptions): Listener {
  const watchers = new Map<symbol, () => void>();
  let running: Promise<void> | undefined;
  let end = new AbortController();

  const calls = throttle(GAP, () => {
    for (const onChange of watchers.values()) onChange();
  });

  async function run(signal: AbortSignal): Promise<void> {
    let failures = 0;
    while (!signal.aborted) {
      const hasListened = await listen({ ...options, signal, notify: calls.request });
      if (!signal.aborted) calls.request();
      failures = hasListened ? 0 : failures + 1;
      const longest = Math.min(FIRST_PAUSE * 2 ** failures, LONGEST_PAUSE);
      await delay(longest * (0.5 + Math.random() / 2), signal);
    }
  }

  async function stop(): Promise<void> {
    end.abort();
    await running;
  }

  return {
    watch(onChange) {
      const key = Symbol('watcher');
      watchers.set(key, onChange);
      if (watchers.size === 1) {
        end = new AbortController();
        const { signal } = end;
        running = (running ?? Promise.resolve()).then(() => run(signal));
      }
      return () => {
        if (watchers.delete(key) && watchers.size === 0) void stop();
      };
    },
    async close() {
      watchers.clear();
      await stop();
      await calls.finish();
    },
  };
}

interface Listening extends ListenerOptions {
  readonly signal: AbortSignal;
  readonly notify: () => void;
}

/** Listens until the connection is lost or the signal aborts. Returns whether it ever listened. */
async function listen({ pool, channel, node, connectTimeout, signal, notify }: Listening): Promise<boolean> {
  let client: PgClient;
  try {
    client = await takeClient(pool, connectTimeout);
  } catch {
    return false;
  }
  const lost = new AbortController();
  client.on('error', () => lost.abort());
  client.on('end', () => lost.abort());
  client.on('notification', (message: PgNotification) => {
    if (message.channel === channel && message.payload !== node) notify();
  });
  client.unref?.();
  const end = AbortSignal.any([signal, lost.signal]);
  try {
    if (!(await answers(client, `LISTEN ${quoteIdentifier(channel)}`, { time: connectTimeout, end }))) return false;
    notify();
    await untilLost(client, end);
    return true;
  } finally {
    // A listening connection must not return to the pool.
    client.release(true);
  }
}

/** Resolves when the signal aborts, or the connection does not answer. */
async function untilLost(client: PgClient, end: AbortSignal): Promise<void> {
  while (!end.aborted) {
    await delay(HEARTBEAT, end);
    if (end.aborted || !(await answers(client, 'SELECT 1', { time: HEARTBEAT, end }))) return;
  }
}

/** Whether a statement succeeds within `time` milliseconds and before `end` aborts. */
async function answers(
  client: PgClient,
  text: string,
  { time, end }: { readonly time: number; readonly end: AbortSignal },
): Promise<boolean> {
  const answered = client.query({ text }).then(
    () => true,
    () => false,
  );
  return Promise.race([answered, delay(time, end).then(() => false)]);
}

/**
 * Creates the listener that the options ask for, or undefined. Fails with `invalid_input` if the host asks for one and its
 * pool has only one connection.
 */
export async function createListening(pool: PgPool, options: CheckedOptions & Channel): Promise<Listener | undefined> {
  const { listen, source, connectTimeout } = options;
  if (listen === false) return undefined;
  const own = 'connectionString' in source ? source.connectionString : undefined;
  const connectionString = typeof listen === 'string' ? listen : own;
  if (connectionString === undefined) {
    if ((pool.options?.max ?? Number.POSITIVE_INFINITY) > 1) return createListener({ ...options, pool });
    if (listen === undefined) return undefined;
    const message =
      'listen occupies one connection of the pool permanently, and this pool has only one: increase its max.';
    throw new FlagsError('invalid_input', message);
  }
  const apart = await openPool({ connectionString, connectTimeout, max: 1 });
  surviveIdleErrors(apart);
  const listener = createListener({ ...options, pool: apart });
  return {
    watch: listener.watch,
    async close() {
      await listener.close();
      await apart.end();
    },
  };
}

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
      await delay(gap, finishing.signal);
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

/**
 * Creates the function that notifies other nodes, after commits, not within them: notifying transactions hold a
 * database-wide lock during their flush, so commits could not share a flush. Messages are throttled, because each is a
 * transaction. Polling covers lost messages.
 */
export function createNotifier(database: Database, { channel, node }: Channel): Throttle {
  return throttle(GAP, () => database.query('SELECT pg_notify($1, $2)', [channel, node]).catch(() => undefined));
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
