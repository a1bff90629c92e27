import { setImmediate } from 'node:timers/promises';
import { flagDocuments, tokenDocuments } from '../changes/aggregate.js';
import type { Storage, StoredEvent } from '../storage/port.js';
import type { TokenKind } from '../tokens/token.types.js';
import type { EventListener, EventType, FlagsEvent } from './event.types.js';
import { createFeedCursor } from './feed-cursor.js';

/** An event as it is shown: a token's hash stays in the storage. */
export function toFlagsEvent(event: StoredEvent): FlagsEvent {
  const { id, position, type, at, actor, project, environment, subject, data, before, revision } = event;
  const { actorTokenId = null, actorTokenKind = null } = event;
  const shown = subject.kind === tokenDocuments.kind ? withoutHash : (value: unknown) => value;
  return {
    id,
    position,
    type: type as EventType,
    at,
    actor,
    actorTokenId,
    actorTokenKind: actorTokenKind as TokenKind | null,
    project,
    flag: subject.kind === flagDocuments.kind ? subject.id : null,
    environment,
    data: shown(data),
    before: shown(before),
    revision,
  };
}

function withoutHash(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const { hash: _hash, ...shown } = value as { readonly hash?: unknown };
  return shown;
}

export interface Subscription {
  /** Resolves when the place to begin at is known, or cannot be read now, or does not matter any more. */
  begun(): Promise<unknown>;
  /** Whether the place to begin at is known. */
  hasBegun(): boolean;
  /** Looks for new events, unless it does already. */
  wake(): void;
  /** Waits for what is being read, not for the listener: whether the latest read worked. */
  works(): Promise<boolean>;
  /** Calls the listener no more. Resolves when the storage is no longer read. */
  end(): Promise<unknown>;
}

export interface SubscriptionStart {
  readonly storage: Storage;
  readonly listener: EventListener;
  /** Told of what the listener throws; once when reading begins to fail, and again only after it has worked in between. */
  readonly onError: (error: unknown) => void;
  /** Where to begin; at the newest event there is when absent. */
  readonly after: string | undefined;
}

/**
 * Reads the storage's feed from a position of its own and calls the listener with one event at a time. A slow listener
 * holds up nobody else; a read that fails is repeated from the same position at the next wake.
 */
export function startSubscription({ storage, listener, onError, after }: SubscriptionStart): Subscription {
  const cursor = createFeedCursor(storage, after);
  const wake = createLoop(() => deliver().catch(report));
  let ended = false;
  let isFailureTold = false;

  async function deliver(): Promise<void> {
    if (ended) return;
    const events = await cursor.next();
    isFailureTold = false;
    // A batch may end early because of its size in bytes: only an empty one proves the end of the feed.
    if (events.length > 0) wake();
    for (const event of events) await tell(event);
  }

  async function tell(event: StoredEvent): Promise<void> {
    if (ended) return;
    cursor.pass(event);
    try {
      await listener(toFlagsEvent(event));
    } catch (error) {
      onError(error);
    }
  }

  function report(error: unknown): void {
    if (!ended && !isFailureTold) onError(error);
    isFailureTold = true;
  }

  wake();
  return {
    begun: () => cursor.begun().catch(() => undefined),
    hasBegun: cursor.hasBegun,
    wake,
    works: cursor.works,
    end() {
      ended = true;
      return cursor.close();
    },
  };
}

/** Gives what has the work done: never twice at once, and once more for all who ask while it is being done. */
function createLoop(work: () => Promise<void>): () => void {
  let wanted = false;
  let running = false;

  /** Whoever asks while it runs is heard: nothing is awaited between the last look at `wanted` and the end. */
  async function run(): Promise<void> {
    running = true;
    while (wanted) {
      wanted = false;
      await work();
      // A storage that answers at once would keep the process from anything else until the last of a million events.
      if (wanted) await setImmediate();
    }
    running = false;
  }

  return () => {
    wanted = true;
    if (!running) void run();
  };
}
