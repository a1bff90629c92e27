import { type Aggregate, CHECKPOINT_INTERVAL, checkpointKey, type Versioned } from '../changes/documents.js';
import { FlagsError } from '../errors.js';
import type { DomainEvent, EventType } from '../events/event.types.js';
import { flagDocuments } from '../flags/flag-documents.js';
import { projectDocuments } from '../projects/project.js';
import { segmentDocuments } from '../segments/segment.js';
import type { DocumentKey, EventFilter, Storage, StoredEvent, StoredEventQuery } from '../storage/port.js';
import { timeSlice } from '../time-slice.js';
import { LIMITS } from '../validation/limits.js';
import { invalidInput } from '../validation/validator.js';

type AnyAggregate = Aggregate<unknown, DomainEvent>;

/** The kinds of documents that history shows and undo restores. A deleted token must not come back. */
const AGGREGATES: ReadonlyMap<string, AnyAggregate> = new Map(
  [flagDocuments, projectDocuments, segmentDocuments].map((one) => [one.kind, one as unknown as AnyAggregate]),
);

export function hasHistory({ kind }: Pick<DocumentKey, 'kind'>): boolean {
  return AGGREGATES.has(kind);
}

/** Applies events to the state of a document. */
export function foldEvents(kind: string, state: unknown, events: readonly Pick<StoredEvent, 'type'>[]): unknown {
  const aggregate = AGGREGATES.get(kind);
  return events.reduce<unknown>((folded, event) => aggregate?.evolve(folded, toDomainEvent(event)), state);
}

/** The cast is safe, because decisions have made every stored event. Stored events have `environment: null`. */
function toDomainEvent(event: Pick<StoredEvent, 'type'>): DomainEvent {
  return event as unknown as DomainEvent;
}

/** The events of one change set, in their order. */
export interface EventGroup {
  /** The id of the change set. A group of an older release has an id that names its subject and revision. */
  readonly id: string;
  readonly events: readonly StoredEvent[];
}

const LEGACY = 'r_';

interface LegacySet {
  readonly subject: DocumentKey;
  readonly revision: number;
}

/** The events of a release without change sets form one set for each subject and revision. */
function idOf(event: StoredEvent): string {
  return event.changeSet ?? toLegacyId(event);
}

function toLegacyId({ subject: { kind, id }, revision }: LegacySet): string {
  return LEGACY + Buffer.from(JSON.stringify([kind, id, revision])).toString('base64url');
}

function parseLegacyId(text: string): LegacySet | undefined {
  try {
    const [kind, id, revision] = JSON.parse(Buffer.from(text.slice(LEGACY.length), 'base64url').toString());
    const named = { subject: { kind, id }, revision };
    const isSound = typeof kind === 'string' && typeof id === 'string' && Number.isSafeInteger(revision);
    // Decoding ignores some characters. Every set has one id.
    return isSound && toLegacyId(named) === text ? named : undefined;
  } catch {
    return undefined;
  }
}

const EVENTS_PER_READ = 256;

/** Walks through the log from the newest event, or from a position, to the oldest one. */
async function* walkBack(
  storage: Storage,
  query: Pick<StoredEventQuery, 'filter' | 'until' | 'offset' | 'withoutData'>,
): AsyncGenerator<StoredEvent> {
  let bounds: Pick<StoredEventQuery, 'until' | 'offset'> = {};
  for (;;) {
    if (timeSlice.isOver()) await timeSlice.next();
    const page = { order: 'newest-first', limit: EVENTS_PER_READ, maxBytes: LIMITS.pageSize } as const;
    const { events } = await storage.events({ ...page, ...query, ...bounds });
    yield* events;
    const last = events.at(-1);
    if (!last) return;
    bounds = { until: last.position, offset: 1 };
  }
}

/** Groups the matching events by change set, newest first. A commit appends the events of a set one after the other. */
export async function* walkBackSets(
  storage: Storage,
  query: { readonly filter: EventFilter; readonly until?: string; readonly offset?: number },
): AsyncGenerator<EventGroup> {
  let id: string | undefined;
  let newestFirst: StoredEvent[] = [];
  for await (const event of walkBack(storage, query)) {
    const own = idOf(event);
    if (id !== undefined && own !== id) {
      yield { id, events: newestFirst.reverse() };
      newestFirst = [];
    }
    id = own;
    newestFirst.push(event);
  }
  if (id !== undefined) yield { id, events: newestFirst.reverse() };
}

/**
 * Reads the events of a change set.
 *
 * @throws FlagsError `change_set_not_found`, `invalid_input` for an id that is not a string
 */
export async function readSet(storage: Storage, id: string): Promise<EventGroup> {
  if (typeof id !== 'string')
    throw invalidInput([{ message: 'must be the id of a change set, as a string', path: '/id' }]);
  const legacy = id.startsWith(LEGACY) ? parseLegacyId(id) : undefined;
  const events = legacy ? await readLegacy(storage, legacy) : await readAll(storage, { changeSet: id.toLowerCase() });
  const [first] = events;
  if (first) return { id: idOf(first), events };
  throw new FlagsError('change_set_not_found', `There is no change set ${id}; list the history for those there are.`);
}

async function readAll(storage: Storage, filter: EventFilter): Promise<readonly StoredEvent[]> {
  const newestFirst: StoredEvent[] = [];
  for await (const event of walkBack(storage, { filter })) newestFirst.push(event);
  return newestFirst.reverse();
}

async function readLegacy(storage: Storage, { subject, revision }: LegacySet): Promise<readonly StoredEvent[]> {
  const heads: StoredEvent[] = [];
  for await (const head of walkBack(storage, { filter: { subject }, withoutData: true })) {
    if (head.revision < revision) break;
    if (head.revision === revision && head.changeSet === null) heads.push(head);
  }
  const [last] = heads;
  if (!last) return [];
  const page = { order: 'newest-first', filter: { subject }, until: last.position, limit: heads.length } as const;
  return (await storage.events(page)).events.reverse();
}

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
interface Moment {
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
