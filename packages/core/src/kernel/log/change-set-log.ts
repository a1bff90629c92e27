import { groupBy } from '../../base/collections.js';
import { FlagsError } from '../../base/errors.js';
import { paced } from '../../base/paced.js';
import { invalidInput } from '../../base/validator.js';
import { type Documents, nameOf, type Versioned } from '../../storage/document-reader.js';
import type { DocumentKey, EventFilter, FlagsStorage, StoredEvent } from '../../storage/port.js';
import type { ChangeSet } from '../changes/change-set.types.js';
import type { CommittedDocuments } from '../engine.js';
import type { Registry } from '../registry.js';
import { compareByEvents } from './differences.js';
import { type LogSource, readEventsBackwards, stateBefore } from './event-log.js';
import { projectsOf } from './event-projects.js';
import { toFlagsEvent } from './feed.js';

/** The events of one change set, in their order. */
export interface LoggedSet {
  readonly id: string;
  readonly events: readonly [StoredEvent, ...StoredEvent[]];
}

/** Groups the matching events by change set, newest first. A commit appends the events of a set one after the other. */
export async function* readSetsBackwards(
  storage: FlagsStorage,
  query: { readonly filter: EventFilter; readonly until?: string; readonly offset?: number },
): AsyncGenerator<LoggedSet> {
  let set: { readonly id: string; readonly events: [StoredEvent, ...StoredEvent[]] } | undefined;
  for await (const event of readEventsBackwards(storage, query)) {
    const id = event.changeSet;
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
  const [first, ...others] = await readAll(storage, { changeSet: readId(id) });
  if (first) return { id: first.changeSet, events: [first, ...others] };
  throw setNotFound(id);
}

/** Returns the id as it is stored: in lower case. */
function readId(id: string): string {
  if (typeof id === 'string') return id.toLowerCase();
  throw invalidInput([{ message: 'must be the id of a change set, as a string', path: '/id' }]);
}

function setNotFound(id: string): FlagsError {
  return new FlagsError('change_set_not_found', `There is no change set ${id}; list the history for existing ids.`);
}

/**
 * Reads the projects of a change set. Reads the data of an event only if it may name projects.
 *
 * @throws FlagsError as `readSet`
 */
export async function readProjects({ storage, registry }: LogSource, id: string): Promise<readonly (string | null)[]> {
  const { describeEvent } = registry;
  const filter = { changeSet: readId(id) };
  const projects = new Set<string | null>();
  const types = new Set<string>();
  for await (const head of readEventsBackwards(storage, { filter, withoutData: true })) {
    if (head.project !== null || !describeEvent(head.type).spans) projects.add(head.project);
    types.add(head.type);
  }
  if (types.size === 0) throw setNotFound(id);
  const isInData = (type: string) => describeEvent(type).moves || describeEvent(type).spans;
  for (const type of [...types].filter(isInData)) {
    for await (const event of readEventsBackwards(storage, { filter: { ...filter, type } })) {
      for (const project of projectsOf(registry, [event])) projects.add(project);
    }
  }
  return [...projects];
}

/** Reads all events that match, oldest first. A change set has some megabytes at most. */
async function readAll(storage: FlagsStorage, filter: EventFilter): Promise<readonly StoredEvent[]> {
  const newestFirst: StoredEvent[] = [];
  for await (const event of readEventsBackwards(storage, { filter })) newestFirst.push(event);
  return newestFirst.reverse();
}

/**
 * Lists the sets after a set that changed one of the parts of a document, newest first, with that part.
 *
 * @param paths JSON Pointers
 */
export async function listLaterSets(
  { storage, registry }: LogSource,
  { id }: LoggedSet,
  { key, paths }: { readonly key: DocumentKey; readonly paths: readonly string[] },
): Promise<readonly { readonly set: LoggedSet; readonly path: string }[]> {
  const later: { set: LoggedSet; path: string }[] = [];
  for await (const set of readSetsBackwards(storage, { filter: { subject: key } })) {
    if (set.id === id) break;
    const path = paths.find((one) => touches(registry, set.events, one));
    if (path !== undefined) later.push({ set, path });
  }
  return later;
}

function touches(registry: Registry, events: readonly StoredEvent[], path: string): boolean {
  if (path === '' || events.some(({ type }) => registry.holdsDocument(type))) return true;
  const isWithin = (one: string, other: string) => one === other || one.startsWith(`${other}/`);
  const shown = events.map((event) => toFlagsEvent(registry, event));
  return compareByEvents(registry, shown).some((part) => isWithin(part.path, path) || isWithin(path, part.path));
}

/** A document that a set has changed, with its states around the set. */
export interface LoggedDocument {
  readonly key: DocumentKey;
  readonly before: unknown;
  readonly after: unknown;
  /** The revision after the set. */
  readonly revision: number;
}

/** Reads the documents that a set has changed. Leaves out documents without a history. */
export async function readLoggedDocuments(source: LogSource, { events }: LoggedSet): Promise<LoggedDocument[]> {
  const { hasHistory, foldEvents } = source.registry;
  const changed: LoggedDocument[] = [];
  for await (const own of paced(groupBy(events, ({ subject }) => nameOf(subject)).values())) {
    const [first] = own;
    if (!first || !hasHistory(first.subject)) continue;
    const { subject: key, revision } = first;
    // The first revision has no state before it.
    const before = revision === 1 ? undefined : await stateBefore(source, first);
    changed.push({ key, before, after: foldEvents(key.kind, before, own), revision });
  }
  return changed;
}

/**
 * Reads the documents of a committed set as it has left them.
 *
 * @throws FlagsError `outcome_unknown` if they cannot be read: a failed read must not report that nothing has changed
 */
export function readDocumentsAfter(source: LogSource, id: string): Promise<CommittedDocuments> {
  return readCommittedSet(id, async () => {
    const changed = await readLoggedDocuments(source, await readSet(source.storage, id));
    return {
      async read<State>({ kind }: Documents<State>, id: string) {
        const found = changed.find(({ key }) => key.kind === kind && key.id === id);
        if (found?.after === undefined) return undefined;
        return { state: found.after, revision: found.revision } as Versioned<State>;
      },
      written<State>({ kind }: Documents<State>) {
        const own = changed.filter(({ key }) => key.kind === kind);
        return new Map(own.map(({ key, after }) => [key.id, after as State | undefined]));
      },
    };
  });
}

/**
 * Reads what a committed set has changed.
 *
 * @throws FlagsError `outcome_unknown` if the read fails
 */
export async function readCommittedSet<T>(id: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const message = `The change set ${id} was committed, but its events cannot be read (${reason}). Repeat the call with this id.`;
    throw new FlagsError('outcome_unknown', message, undefined, { cause: error });
  }
}

/** Returns a set as its commit has returned it. */
export function toChangeSet(registry: Registry, { id, events }: LoggedSet): ChangeSet {
  const [{ at, actor, reason }] = events;
  const revisions = events.map(({ subject, revision }) => [`${subject.kind}/${subject.id}`, revision] as const);
  const shown = events.map((event) => toFlagsEvent(registry, event));
  return { id, at, actor, reason, events: shown, revisions: Object.fromEntries(revisions) };
}
