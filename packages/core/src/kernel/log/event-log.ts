import { pause } from '../../base/paced.js';
import type { Versioned } from '../../storage/document-reader.js';
import type { DocumentKey, FlagsStorage, StoredEvent, StoredEventQuery } from '../../storage/port.js';
import type { Registry } from '../registry.js';
import { readCheckpoint } from './checkpoints.js';

const EVENTS_PER_READ = 256;
/** Fewer without data: SQLite walks through the pages of a large event to the columns behind its data. */
const HEADS_PER_READ = 32;
/** Bytes of events per read: parsing them takes some milliseconds. */
const BYTES_PER_READ = 262_144;

/** The event log of a storage, and what its events mean. */
export interface LogSource {
  readonly storage: FlagsStorage;
  readonly registry: Registry;
}

type BackwardsQuery = Pick<StoredEventQuery, 'filter' | 'until' | 'offset' | 'withoutData'>;

/** Walks through the log from the newest event, or from a position, to the oldest one. */
export async function* readEventsBackwards(storage: FlagsStorage, query: BackwardsQuery): AsyncGenerator<StoredEvent> {
  for await (const page of readPagesBackwards(storage, query)) yield* page;
}

/** Walks in pages that are not empty, newest event first. */
async function* readPagesBackwards(
  storage: FlagsStorage,
  query: BackwardsQuery,
): AsyncGenerator<readonly StoredEvent[]> {
  let bounds: Pick<StoredEventQuery, 'until' | 'offset'> = {};
  for (;;) {
    await pause();
    const limit = query.withoutData ? HEADS_PER_READ : EVENTS_PER_READ;
    const page = { order: 'newest-first', limit, maxBytes: BYTES_PER_READ } as const;
    const { events } = await storage.events({ ...page, ...query, ...bounds });
    const last = events.at(-1);
    if (!last) return;
    yield events;
    bounds = { until: last.position, offset: 1 };
  }
}

interface Moment {
  /** The position of an event. Default: the newest event. */
  readonly until?: string;
  /** Leaves the event at `until` out. It must be an event of the document. */
  readonly isExclusive?: boolean;
}

/**
 * Computes the state of a document from the log. Resolves to undefined if there was no document. The revision is that
 * of the last event.
 *
 * Reads back to an event that holds the whole document, or to a checkpoint, and applies the events since then, page by
 * page.
 */
export async function stateAt(
  source: LogSource,
  key: DocumentKey,
  moment: Moment = {},
): Promise<Versioned<unknown> | undefined> {
  const { storage, registry } = source;
  const { stretches, checkpoint, revision } = await findStart(source, key, moment);
  let state = checkpoint?.state;
  for await (const events of readStretches(storage, key, stretches)) {
    state = registry.foldEvents(key.kind, state, events);
  }
  return state === undefined || revision === undefined ? undefined : { state, revision };
}

/** Computes the state of an event's document before the event; undefined if there was none. */
export async function stateBefore(source: LogSource, { subject, position }: StoredEvent): Promise<unknown> {
  return (await stateAt(source, subject, { until: position, isExclusive: true }))?.state;
}

/** A range of events of a document. It does not hold the events: there may be tens of thousands. */
interface Stretch {
  /** The position of the newest event. */
  readonly until: string;
  readonly count: number;
}

/** The events that produce a state, oldest first, and the checkpoint that they follow. */
interface Tail {
  readonly stretches: readonly Stretch[];
  readonly checkpoint: Versioned<unknown> | undefined;
  /** The revision of the newest event. */
  readonly revision: number | undefined;
}

/** Reading this many events is as fast as reading a checkpoint. */
const FEW_EVENTS = 10;

/** Finds the events since the last state that the log or a checkpoint holds. */
async function findStart({ storage, registry }: LogSource, key: DocumentKey, moment: Moment): Promise<Tail> {
  const { holdsDocument } = registry;
  const { until, isExclusive = false } = moment;
  const range = { ...(until !== undefined && { until }), ...(isExclusive && { offset: 1 }) };
  const newestFirst: Stretch[] = [];
  let revision: number | undefined;
  let checkpoint: Versioned<unknown> | undefined;
  for await (const page of readPagesBackwards(storage, { filter: { subject: key }, withoutData: true, ...range })) {
    const [newest] = page;
    if (!newest) break;
    if (revision === undefined) {
      revision = newest.revision;
      const isNear = page.slice(0, FEW_EVENTS).some(({ type }) => holdsDocument(type));
      // Reads a checkpoint of an earlier revision only: `until` may be between two events of one revision.
      if (!isNear) {
        await pause();
        checkpoint = await readCheckpoint(storage, key, revision);
      }
    }
    const known = checkpoint?.revision ?? 0;
    const end = page.findIndex((head) => head.revision <= known || holdsDocument(head.type));
    const isWhole = (page[end]?.revision ?? 0) > known;
    const count = end < 0 ? page.length : end + Number(isWhole);
    if (count > 0) newestFirst.push({ until: newest.position, count });
    if (end >= 0) return { stretches: newestFirst.reverse(), checkpoint: isWhole ? undefined : checkpoint, revision };
  }
  return { stretches: newestFirst.reverse(), checkpoint, revision };
}

/**
 * Reads the events of stretches, oldest first, in pages of some hundred kilobytes. Queries newest first, because
 * `oldest-first` leaves out events that are not settled yet.
 */
async function* readStretches(
  storage: FlagsStorage,
  subject: DocumentKey,
  stretches: readonly Stretch[],
): AsyncGenerator<readonly StoredEvent[]> {
  const query = { order: 'newest-first', filter: { subject } } as const;
  let size = EVENTS_PER_READ;
  for (const { until, count } of stretches) {
    const heads = (await storage.events({ ...query, until, limit: count, withoutData: true })).events.reverse();
    for (let first = 0; first < heads.length; ) {
      await pause();
      const limit = Math.min(size, heads.length - first);
      const end = heads[first + limit - 1]?.position ?? '';
      // The storage always returns at least one event, so the loop ends.
      const { events } = await storage.events({ ...query, until: end, limit, maxBytes: BYTES_PER_READ });
      if (events.length < limit && limit > 1) {
        size = Math.ceil(limit / 2);
        continue;
      }
      yield events.reverse();
      first += limit;
      size = Math.min(EVENTS_PER_READ, Math.ceil(limit * 1.25));
    }
  }
}
