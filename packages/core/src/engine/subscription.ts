import { setImmediate } from 'node:timers/promises';
import type { EventListener } from '../api/events.js';
import type { Storage, StoredEvent } from '../storage/port.js';
import { toFlagsEvent } from './public-event.js';
import { newestPosition, readFeed } from './read-feed.js';

/** So many events are read at once; a listener that is behind holds no more than these in memory. */
const BATCH = 200;

export interface Subscription {
  /** Resolves when the place to begin at is known, or cannot be read now. */
  begun(): Promise<unknown>;
  /** Looks for new events, unless it does already. */
  wake(): void;
  /** Calls the listener no more. Resolves when the storage is no longer read. */
  end(): Promise<unknown>;
}

export interface SubscriptionStart {
  readonly storage: Storage;
  readonly listener: EventListener;
  readonly onError: (error: unknown) => void;
  /** Where to begin; at the newest event there is when absent. */
  readonly after: string | undefined;
}

/**
 * Reads the storage's feed from a position of its own and calls the listener with one event at a time. A slow listener
 * holds up nobody else; a read that fails is repeated from the same position at the next wake.
 */
export function startSubscription({ storage, listener, onError, after }: SubscriptionStart): Subscription {
  let place: Place | undefined = after === undefined ? undefined : { after };
  let wanted = false;
  let running = false;
  let ended = false;
  let reading: Promise<unknown> = Promise.resolve();

  function read<T>(query: Promise<T>): Promise<T> {
    reading = query.catch(() => undefined);
    return query;
  }

  // However many wait for the answer: what is committed after it must not become the beginning.
  const begin = askedOnce(async () => {
    place ??= await read(newestPlace(storage));
  });

  async function deliver(): Promise<void> {
    await begin();
    if (ended) return;
    const events = await read(readFeed(storage, { after: place?.after, limit: BATCH }));
    wanted ||= events.length === BATCH;
    for (const event of events) await tell(event);
  }

  async function tell(event: StoredEvent): Promise<void> {
    if (ended) return;
    place = { after: event.position };
    try {
      await listener(toFlagsEvent(event));
    } catch (error) {
      onError(error);
    }
  }

  /** Whoever wakes it while it runs is heard: nothing is awaited between the last look at `wanted` and the end. */
  async function run(): Promise<void> {
    running = true;
    while (wanted && !ended) {
      wanted = false;
      await deliver().catch(report);
      // A storage that answers at once would keep the process from anything else until the last of a million events.
      if (wanted) await setImmediate();
    }
    running = false;
  }

  function report(error: unknown): void {
    if (!ended) onError(error);
  }

  function wake(): void {
    wanted = true;
    if (!running) void run();
  }

  wake();
  return {
    begun: () => begin().catch(() => undefined),
    wake,
    end: () => {
      ended = true;
      return reading;
    },
  };
}

interface Place {
  readonly after: string | undefined;
}

async function newestPlace(storage: Storage): Promise<Place> {
  return { after: await newestPosition(storage) };
}

/** A function that answers once for all who wait, and asks again only after a failure. */
function askedOnce(ask: () => Promise<void>): () => Promise<void> {
  let answer: Promise<void> | undefined;
  return () => {
    answer ??= ask().catch((error) => {
      answer = undefined;
      throw error;
    });
    return answer;
  };
}
