import { FlagsError, isFlagsError } from '../../base/errors.js';
import { nextTurn } from '../../base/paced.js';
import { startPolling } from '../../base/polling.js';
import type { EvaluationStatus } from '../../evaluation/evaluation.types.js';
import { type KeyedUpdate, nameOf } from '../../storage/document-reader.js';
import { readFeedHeads, type StoredEventHead } from '../../storage/feed-pages.js';
import type { DocumentKey, FlagsStorage } from '../../storage/port.js';

/** Events per read. */
const BATCH = 500;
/** Documents that are applied at once. They occupy the event loop for some tens of milliseconds. */
const BACKLOG = 2_000;
/** Own change sets to remember. A loss begins with the newest ones. */
const MAX_TRACKED = 100;
/** Documents per concurrent read, so that a remote database answers them in about one round trip. */
const CONCURRENT_READS = 64;

export interface ChangePoller {
  /** Applies all changes since the last call. Never rejects: the status holds the error. */
  refresh(): Promise<EvaluationStatus>;
  status(): EvaluationStatus;
  /** The position of the last event that was applied; undefined before the first. */
  position(): string | undefined;
  /** Remembers a commit of this process until the feed brings it. */
  trackCommit(changeSet: string): void;
  /** Stops the timer. Resolves when the last read of the storage has ended. */
  close(): Promise<unknown>;
}

/** Resolves to the state of a document after the event at a position, from the log; undefined if there was none. */
export type StateAt = (key: DocumentKey, until: string) => Promise<unknown>;

export interface ChangePollerOptions {
  readonly storage: FlagsStorage;
  readonly stateAt: StateAt;
  readonly now: () => Date;
  /** Milliseconds; 0 disables the timer. */
  readonly pollInterval: number;
  /** The position to start after; undefined starts at the first event. */
  readonly after: string | undefined;
  /** Whether this revision of a document is newer than the known one. */
  readonly isNewer: (key: DocumentKey, revision: number) => boolean;
  /** Applies documents that other processes wrote, at once. The state is undefined after a deletion. */
  readonly applyUpdates: (updates: readonly KeyedUpdate[]) => Promise<void> | void;
  /** Loads all documents again, also older ones. Resolves to the position to continue after. */
  readonly reload: () => Promise<string | undefined>;
  /** Called with the first error of a series of failed polls, and with `history_lost` after a reload. */
  readonly onError: (error: unknown) => void;
}

/**
 * Follows the changes of other processes by polling the event feed. It skips known revisions, such as those of this
 * process. After a failed read it retries from the same position; evaluation continues from memory.
 *
 * A server that takes over without synchronous replication lacks the last commits, and gives their positions and revisions to
 * other ones. If it lacks the last event that the poller has followed, or a commit of this process, the documents are loaded
 * again.
 */
export function startChangePoller(options: ChangePollerOptions): ChangePoller {
  const { now, pollInterval, onError } = options;
  const { catchUp, trackCommit, position } = createCatchUp({
    ...options,
    onLost(error) {
      historyLostAt = now().toISOString();
      onError(error);
    },
  });
  let historyLostAt: string | undefined;
  let status: EvaluationStatus = Object.freeze({ state: 'current', checkedAt: now().toISOString() });
  let latest: Promise<EvaluationStatus> = Promise.resolve(status);
  let next: Promise<EvaluationStatus> | undefined;
  let isChecking = false;
  let isFailureReported = false;

  async function check(): Promise<EvaluationStatus> {
    next = undefined;
    isChecking = true;
    try {
      await catchUp();
      status = withLoss({ state: 'current', checkedAt: now().toISOString() });
      isFailureReported = false;
      polling?.resetBackoff();
    } catch (error) {
      status = withLoss({ state: 'stale', checkedAt: status.checkedAt, error });
    }
    isChecking = false;
    return status;
  }

  function withLoss(checked: EvaluationStatus): EvaluationStatus {
    return Object.freeze(historyLostAt === undefined ? checked : { ...checked, historyLostAt });
  }

  /** A running check may have read the feed before the call. All callers therefore share one check after it. */
  function refresh(): Promise<EvaluationStatus> {
    next ??= latest.then(check);
    latest = next;
    return next;
  }

  async function poll(): Promise<boolean> {
    if (isChecking || next) return (await latest).state === 'current';
    const { state, error } = await refresh();
    if (state === 'current') return true;
    if (!isFailureReported) onError(error);
    isFailureReported = true;
    return false;
  }

  const polling = pollInterval > 0 ? startPolling({ interval: pollInterval, attempt: poll }) : undefined;
  return {
    refresh,
    status: () => status,
    position,
    trackCommit,
    close() {
      polling?.stop();
      return latest;
    },
  };
}

interface CatchUp extends Pick<ChangePoller, 'trackCommit' | 'position'> {
  /** Reads all events since its last call, and applies the changed documents. */
  readonly catchUp: () => Promise<void>;
}

function createCatchUp({
  storage,
  stateAt,
  isNewer,
  applyUpdates,
  reload,
  onLost,
  ...start
}: ChangePollerOptions & { readonly onLost: (error: unknown) => void }): CatchUp {
  let { after } = start;
  /** Own change sets that the feed has not brought yet. */
  const tracked = new Set<string>();

  /**
   * Returns the document after this event. A document that was changed since then is computed from the log: together
   * with the others, its current state would show a part of a later change set.
   */
  async function readUpdate({ subject: key, revision }: StoredEventHead, until: string): Promise<KeyedUpdate> {
    const document = await storage.get(key);
    if (document?.revision === revision) return { key, update: { revision, state: document.body } };
    return { key, update: { revision, state: await stateAt(key, until) } };
  }

  /** Reads the documents of these events concurrently, then applies all of them at once. */
  async function follow(events: readonly StoredEventHead[], position: string): Promise<void> {
    const changed = events.filter(({ subject, revision }) => isNewer(subject, revision));
    const updates: KeyedUpdate[] = [];
    for (let first = 0; first < changed.length; first += CONCURRENT_READS) {
      const batch = changed.slice(first, first + CONCURRENT_READS);
      updates.push(...(await Promise.all(batch.map((event) => readUpdate(event, position)))));
    }
    await applyUpdates(updates);
    after = position;
  }

  /** Fails with `history_lost` if the storage has no event of an own commit. The feed may only hold it back. */
  async function assertStored(changeSet: string): Promise<void> {
    const query = { order: 'newest-first', filter: { changeSet }, limit: 1, withoutData: true } as const;
    if ((await storage.events(query)).events.length > 0) return;
    throw new FlagsError(
      'history_lost',
      `The storage has lost the change set ${changeSet}, which it had acknowledged.`,
    );
  }

  async function followFeed(): Promise<void> {
    /** The event with the highest revision of each document. */
    const latest = new Map<string, StoredEventHead>();
    let position = after;
    for (let isLast = false; !isLast; ) {
      const events = await readFeedHeads(storage, { after: position, limit: BATCH });
      for (const event of events) {
        const name = nameOf(event.subject);
        tracked.delete(event.changeSet);
        if (event.revision >= (latest.get(name)?.revision ?? 0)) latest.set(name, event);
      }
      position = events.at(-1)?.position ?? position;
      isLast = events.length < BATCH;
      if (position !== undefined && (isLast || latest.size >= BACKLOG)) {
        await follow([...latest.values()], position);
        latest.clear();
      }
      // Yields, because a synchronous storage would block the event loop until the last event.
      if (!isLast) await nextTurn();
    }
  }

  async function followOrFail(): Promise<void> {
    const committed = [...tracked];
    await followFeed();
    for (const changeSet of committed) if (tracked.has(changeSet)) await assertStored(changeSet);
  }

  return {
    position: () => after,
    trackCommit(changeSet) {
      tracked.add(changeSet);
      const [oldest = changeSet] = tracked;
      if (tracked.size > MAX_TRACKED) tracked.delete(oldest);
    },
    async catchUp() {
      try {
        await followOrFail();
      } catch (error) {
        if (!isFlagsError(error) || error.code !== 'history_lost') throw error;
        tracked.clear();
        after = await reload();
        onLost(error);
        // The documents were read one kind after the other. The feed brings all of them to one state.
        await followFeed();
      }
    },
  };
}
