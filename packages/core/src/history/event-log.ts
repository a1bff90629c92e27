import { pause } from '../base/paced.js';
import { invalidInput } from '../base/validator.js';
import { foldEvents } from '../changesets/aggregates.js';
import type { LoggedSet } from '../changesets/change-set-log.js';
import { readCheckpoint } from '../changesets/document-changes.js';
import { FlagsError } from '../errors.js';
import type { EventType } from '../events/event.types.js';
import { MOVING_EVENTS, projectsIn, projectsOf } from '../events/event-projects.js';
import type { Versioned } from '../storage/documents.js';
import type { DocumentKey, EventFilter, FlagsStorage, StoredEvent, StoredEventQuery } from '../storage/port.js';

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
    // Decoding ignores some characters: accept only the canonical id of a set.
    return isSound && toLegacyId(named) === text ? named : undefined;
  } catch {
    return undefined;
  }
}

const EVENTS_PER_READ = 256;
/** Bytes of events per read: parsing them takes some milliseconds. */
const BYTES_PER_READ = 262_144;

type WalkQuery = Pick<StoredEventQuery, 'filter' | 'until' | 'offset' | 'withoutData'>;

/** Walks through the log from the newest event, or from a position, to the oldest one. */
async function* walkBack(storage: FlagsStorage, query: WalkQuery): AsyncGenerator<StoredEvent> {
  for await (const page of walkBackPages(storage, query)) yield* page;
}

/** Walks in pages that are not empty, newest event first. */
async function* walkBackPages(storage: FlagsStorage, query: WalkQuery): AsyncGenerator<readonly StoredEvent[]> {
  let bounds: Pick<StoredEventQuery, 'until' | 'offset'> = {};
  for (;;) {
    await pause();
    const page = { order: 'newest-first', limit: EVENTS_PER_READ, maxBytes: BYTES_PER_READ } as const;
    const { events } = await storage.events({ ...page, ...query, ...bounds });
    const last = events.at(-1);
    if (!last) return;
    yield events;
    bounds = { until: last.position, offset: 1 };
  }
}

/** Groups the matching events by change set, newest first. A commit appends the events of a set one after the other. */
export async function* walkBackSets(
  storage: FlagsStorage,
  query: { readonly filter: EventFilter; readonly until?: string; readonly offset?: number },
): AsyncGenerator<LoggedSet> {
  let set: { readonly id: string; readonly events: [StoredEvent, ...StoredEvent[]] } | undefined;
  for await (const event of walkBack(storage, query)) {
    const id = idOf(event);
    if (set?.id === id) {
      set.events.unshift(event);
      continue;
    }
    if (set) yield set;
    set = { id, events: [event] };
  }
  if (set) yield set;
}

/**
 * Reads the events of a change set.
 *
 * @throws FlagsError `change_set_not_found`, `invalid_input` for an id that is not a string
 */
export async function readSet(storage: FlagsStorage, id: string): Promise<LoggedSet> {
  const legacy = parseId(id);
  const events = legacy ? await readLegacy(storage, legacy) : await readAll(storage, { changeSet: id.toLowerCase() });
  const [first, ...others] = events;
  if (first) return { id: idOf(first), events: [first, ...others] };
  throw setNotFound(id);
}

/** Returns the set of an older release that an id names; undefined for other ids. */
function parseId(id: string): LegacySet | undefined {
  if (typeof id === 'string') return id.startsWith(LEGACY) ? parseLegacyId(id) : undefined;
  throw invalidInput([{ message: 'must be the id of a change set, as a string', path: '/id' }]);
}

function setNotFound(id: string): FlagsError {
  return new FlagsError('change_set_not_found', `There is no change set ${id}; list the history for existing ids.`);
}

/**
 * Reads the projects of a change set. Reads the data of an event only if it may move a document.
 *
 * @throws FlagsError as `readSet`
 */
export async function readProjects(storage: FlagsStorage, id: string): Promise<readonly (string | null)[]> {
  if (parseId(id)) return [...projectsOf((await readSet(storage, id)).events)];
  const filter = { changeSet: id.toLowerCase() };
  const projects = new Set<string | null>();
  const types = new Set<string>();
  for await (const head of walkBack(storage, { filter, withoutData: true })) {
    projects.add(head.project);
    types.add(head.type);
  }
  if (types.size === 0) throw setNotFound(id);
  for (const type of MOVING_EVENTS.filter((one) => types.has(one))) {
    for await (const event of walkBack(storage, { filter: { ...filter, type } })) {
      for (const project of projectsIn(event)) projects.add(project);
    }
  }
  return [...projects];
}

/** Reads all events that match, oldest first. A change set has some megabytes at most. */
async function readAll(storage: FlagsStorage, filter: EventFilter): Promise<readonly StoredEvent[]> {
  const newestFirst: StoredEvent[] = [];
  for await (const event of walkBack(storage, { filter })) newestFirst.push(event);
  return newestFirst.reverse();
}

async function readLegacy(storage: FlagsStorage, { subject, revision }: LegacySet): Promise<readonly StoredEvent[]> {
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
 * page. Stores of earlier releases have few checkpoints: there it may read all events of the document.
 */
export async function stateAt(
  storage: FlagsStorage,
  key: DocumentKey,
  moment: Moment = {},
): Promise<Versioned<unknown> | undefined> {
  const { stretches, checkpoint, revision } = await findStart(storage, key, moment);
  let state = checkpoint?.state;
  for await (const events of readStretches(storage, key, stretches)) state = foldEvents(key.kind, state, events);
  return state === undefined || revision === undefined ? undefined : { state, revision };
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
async function findStart(storage: FlagsStorage, key: DocumentKey, moment: Moment): Promise<Tail> {
  const { until, isExclusive = false } = moment;
  const range = { ...(until !== undefined && { until }), ...(isExclusive && { offset: 1 }) };
  const newestFirst: Stretch[] = [];
  let revision: number | undefined;
  let checkpoint: Versioned<unknown> | undefined;
  for await (const page of walkBackPages(storage, { filter: { subject: key }, withoutData: true, ...range })) {
    const [newest] = page;
    if (!newest) break;
    if (revision === undefined) {
      revision = newest.revision;
      const isNear = page.slice(0, FEW_EVENTS).some(({ type }) => holdsDocument(type));
      // Not the event's own revision: the moment may be between two events of one revision.
      if (!isNear) checkpoint = await readCheckpoint(storage, key, revision);
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
