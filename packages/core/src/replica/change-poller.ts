import { setImmediate } from 'node:timers/promises';
import type { DocumentUpdate } from '../changes/aggregate.js';
import { nameOf } from '../changes/reader.js';
import type { EvaluationStatus } from '../evaluation/evaluation.types.js';
import { readFeedHeads, type StoredEventHead } from '../events/feed-cursor.js';
import type { DocumentKey, Storage } from '../storage/port.js';

export interface PollingOptions {
  /** Milliseconds, at least 1. */
  readonly interval: number;
  /** Gives whether it has worked; does not fail. */
  readonly look: () => Promise<boolean>;
}

export interface Polling {
  /** Somebody else has found that it works again: the next look comes after the interval, however seldom looks had become. */
  worked(): void;
  /** Ends it. */
  stop(): void;
}

/** Milliseconds; or the interval, where that is longer. */
const LONGEST_PAUSE = 15_000;

/**
 * Looks once per interval. While that fails it looks ever more seldom, at random times: of many who wait for one database,
 * not all come back in the same moment. Keeps no process alive.
 */
export function startPolling({ interval, look }: PollingOptions): Polling {
  let failures = 0;
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;

  function wait(): void {
    timer = setTimeout(poll, pauseAfter(failures, interval)).unref();
  }

  async function poll(): Promise<void> {
    timer = undefined;
    failures = (await look()) ? 0 : failures + 1;
    if (!isStopped) wait();
  }

  wait();
  return {
    worked() {
      if (failures === 0 || timer === undefined || isStopped) return;
      failures = 0;
      clearTimeout(timer);
      wait();
    },
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}

function pauseAfter(failures: number, interval: number): number {
  if (failures === 0) return interval;
  const longest = Math.min(interval * 2 ** failures, Math.max(interval, LONGEST_PAUSE));
  return longest * (0.5 + Math.random() / 2);
}

/** So many events are read at once. */
const BATCH = 500;
/** So many documents are read at once: a database far away is asked for them side by side. */
const AT_ONCE = 64;

export interface ChangePoller {
  /** Reads what has happened since the last time. Does not fail: the status tells. */
  refresh(): Promise<EvaluationStatus>;
  status(): EvaluationStatus;
  /** Ends the timer. Resolves when the storage is no longer read. */
  close(): Promise<unknown>;
}

export interface ChangePollerOptions {
  readonly storage: Storage;
  readonly now: () => Date;
  /** Milliseconds; 0: only when asked. */
  readonly pollInterval: number;
  /** The event after which to follow; from the first when absent. */
  readonly after: string | undefined;
  /** Whether a document at this revision would be news. */
  readonly isNewer: (key: DocumentKey, revision: number) => boolean;
  /** Takes a document that another process has written; undefined when it was deleted. */
  readonly applyUpdate: (key: DocumentKey, news: DocumentUpdate) => void;
  /** Told once when polling begins to fail, and again only after it has worked in between. */
  readonly onError: (error: unknown) => void;
}

/**
 * Follows what other processes write to the same storage, by its feed of events. What this process writes is known
 * before its event is read, and passed over. While reading fails, the place in the feed stays, and what was read before
 * keeps serving.
 */
export function startChangePoller(options: ChangePollerOptions): ChangePoller {
  const { now, pollInterval, onError } = options;
  const catchUp = createCatchUp(options);
  let status: EvaluationStatus = Object.freeze({ state: 'current', checkedAt: now().toISOString() });
  let latest: Promise<EvaluationStatus> = Promise.resolve(status);
  let next: Promise<EvaluationStatus> | undefined;
  let isChecking = false;
  let isFailureTold = false;

  async function check(): Promise<EvaluationStatus> {
    next = undefined;
    isChecking = true;
    try {
      await catchUp();
      status = Object.freeze({ state: 'current', checkedAt: now().toISOString() });
      isFailureTold = false;
      polling?.worked();
    } catch (error) {
      status = Object.freeze({ state: 'stale', checkedAt: status.checkedAt, error });
    }
    isChecking = false;
    return status;
  }

  /** A check that is under way may have read before the caller's moment: another one follows it, for all who ask. */
  function refresh(): Promise<EvaluationStatus> {
    next ??= latest.then(check);
    latest = next;
    return next;
  }

  async function poll(): Promise<boolean> {
    if (isChecking || next) return (await latest).state === 'current';
    const { state, error } = await refresh();
    if (state === 'current') return true;
    if (!isFailureTold) onError(error);
    isFailureTold = true;
    return false;
  }

  const polling = pollInterval > 0 ? startPolling({ interval: pollInterval, look: poll }) : undefined;
  return {
    refresh,
    status: () => status,
    close() {
      polling?.stop();
      return latest;
    },
  };
}

/** Makes what reads all events since the last time, and the documents that they bring news of. */
function createCatchUp({
  storage,
  isNewer: isNews,
  applyUpdate: take,
  ...start
}: ChangePollerOptions): () => Promise<void> {
  let { after } = start;

  /** Read together, taken in the order of the events. */
  async function follow(events: readonly StoredEventHead[]): Promise<void> {
    const found = await Promise.all(
      events.map(async ({ subject, revision }) => ({ subject, revision, document: await storage.get(subject) })),
    );
    for (const { subject, revision, document } of found) {
      take(subject, { revision: document?.revision ?? revision, state: document?.body });
    }
  }

  return async () => {
    for (;;) {
      const events = await readFeedHeads(storage, { after, limit: BATCH });
      const news = latestOfEach(events).filter(({ subject, revision }) => isNews(subject, revision));
      for (let first = 0; first < news.length; first += AT_ONCE) await follow(news.slice(first, first + AT_ONCE));
      after = events.at(-1)?.position ?? after;
      if (events.length < BATCH) return;
      // A storage that answers at once would keep the process from anything else until the last of a million events.
      await setImmediate();
    }
  };
}

/** The event of each document's highest revision: the document is read as it is now, so once is enough. */
function latestOfEach(events: readonly StoredEventHead[]): readonly StoredEventHead[] {
  const latest = new Map<string, StoredEventHead>();
  for (const event of events) {
    const name = nameOf(event.subject);
    if (event.revision >= (latest.get(name)?.revision ?? 0)) latest.set(name, event);
  }
  return [...latest.values()];
}
