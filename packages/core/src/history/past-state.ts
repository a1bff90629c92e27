import { CHECKPOINT_INTERVAL, checkpointKey, type Versioned } from '../changes/documents.js';
import type { EventType } from '../events/event.types.js';
import type { DocumentKey, Storage, StoredEvent } from '../storage/port.js';
import { timeSlice } from '../time-slice.js';
import { LIMITS } from '../validation/limits.js';
import { foldEvents, walkBack } from './change-set-events.js';

const DOCUMENT_EVENTS: ReadonlySet<string> = new Set<EventType>([
  'flag-created',
  'flag-deleted',
  'project-created',
  'project-deleted',
  'segment-created',
  'segment-updated',
  'segment-deleted',
  'token-created',
  'token-deleted',
]);

/** Whether the data of an event is the whole document, or ends it. */
export function holdsDocument(type: string): boolean {
  return DOCUMENT_EVENTS.has(type);
}

/** A moment of the feed. */
export interface Moment {
  /** The position of an event. Default: the newest event. */
  readonly until?: string;
  /** Leaves the event at `until` out. It must be an event of the document. */
  readonly isExclusive?: boolean;
}

/**
 * Computes the state of a document from the log, in the order of the feed. Resolves to undefined if there was no
 * document. The revision is that of the last event.
 *
 * Reads back to an event that holds the whole document, or to a checkpoint, and applies the events since then. Stores of
 * earlier releases have no checkpoints: there it may read all events of the document.
 */
export async function stateAt(
  storage: Storage,
  key: DocumentKey,
  moment: Moment = {},
): Promise<Versioned<unknown> | undefined> {
  const { heads, checkpoint } = await readHeads(storage, key, moment);
  const revision = heads.at(-1)?.revision ?? checkpoint?.revision;
  let state = checkpoint?.state;
  for (let first = 0, size = heads.length; first < heads.length; first += size) {
    if (timeSlice.isOver()) await timeSlice.next();
    const events = await readWindow(storage, key, heads.slice(first, first + size));
    size = events.length;
    state = foldEvents(key.kind, state, events);
  }
  return state === undefined || revision === undefined ? undefined : { state, revision };
}

/** Events that produce a state, oldest first, and the checkpoint that they follow. */
interface Tail {
  readonly heads: readonly StoredEvent[];
  readonly checkpoint: Versioned<unknown> | undefined;
}

/** Reads the heads of the events since the last state that the log or a checkpoint holds, without data. */
async function readHeads(storage: Storage, key: DocumentKey, moment: Moment): Promise<Tail> {
  const newestFirst: StoredEvent[] = [];
  let checkpoint: Versioned<unknown> | undefined;
  let tried = Number.POSITIVE_INFINITY;
  const { until, isExclusive = false } = moment;
  const range = { ...(until !== undefined && { until }), ...(isExclusive && { offset: 1 }) };
  for await (const head of walkBack(storage, { filter: { subject: key }, withoutData: true, ...range })) {
    if (checkpoint && head.revision <= checkpoint.revision) break;
    newestFirst.push(head);
    if (holdsDocument(head.type)) return { heads: newestFirst.reverse(), checkpoint: undefined };
    // Below the revision of the event, because the moment may be between two events of one revision.
    const revision = head.revision - 1 - ((head.revision - 1) % CHECKPOINT_INTERVAL);
    if (checkpoint || revision === 0 || revision >= tried) continue;
    tried = revision;
    const stored = await storage.get(checkpointKey(key, revision));
    if (stored) checkpoint = { state: stored.body, revision };
  }
  return { heads: newestFirst.reverse(), checkpoint };
}

/** Reads the events of some heads, oldest first: all of them, or the first ones if their data is large. */
async function readWindow(
  storage: Storage,
  subject: DocumentKey,
  heads: readonly StoredEvent[],
): Promise<readonly StoredEvent[]> {
  for (let size = heads.length; ; size = Math.ceil(size / 4)) {
    const until = heads[size - 1]?.position ?? '';
    const query = { order: 'newest-first', filter: { subject }, until, limit: size } as const;
    // A query of one event has no limit of bytes: the storage returns the event in any case.
    const { events } = await storage.events({ ...query, maxBytes: LIMITS.pageSize });
    if (events.length >= size) return events.reverse();
  }
}
