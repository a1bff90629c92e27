import { FlagsError } from '../base/errors.js';
import type { Commit, CommitResult, DocumentCheck, DocumentKey, DocumentWrite, NewEvent, Vacancy } from './port.js';

/*
 * Prepares a commit for a storage, checks it, and applies it.
 */

/** Reads the current state while the caller holds the lock. */
export interface CurrentState {
  /** Returns the document's revision; 0 if it does not exist or was deleted. */
  revision(key: DocumentKey): number;
  /** Returns the first ids, at most `limit`, of the documents of the kind that have the parent. */
  firstIds(vacancy: Vacancy, limit: number): readonly string[];
}

/** Returns the first document with an unexpected revision, or under a parent that must be vacant. */
function findConflict(commit: PreparedCommit, state: CurrentState): DocumentKey | undefined {
  const moved = ({ key, expected }: { key: DocumentKey; expected: number }) => state.revision(key) !== expected;
  const conflict = commit.writes.find(moved) ?? commit.checks.find(moved);
  if (conflict) return conflict.key;
  for (const vacancy of commit.vacant) {
    const occupant = findOccupant(vacancy, commit.writes, state);
    if (occupant) return occupant;
  }
  return undefined;
}

/** Finds a document under a vacant parent. Considers the commit's own writes, so that the check can run before them. */
function findOccupant(
  { kind, parent }: Vacancy,
  writes: readonly PreparedWrite[],
  state: CurrentState,
): DocumentKey | undefined {
  const own = writes.filter(({ key, content }) => key.kind === kind && content !== 'unchanged');
  const put = own.find((write) => write.content !== null && write.parent === parent);
  if (put) return put.key;
  const replaced = new Set(own.map(({ key }) => key.id));
  const id = state.firstIds({ kind, parent }, replaced.size + 1).find((found) => !replaced.has(found));
  return id === undefined ? undefined : { kind, id };
}

/** The documents and events that a commit changes. The caller holds the lock. */
export interface CommitTarget {
  readonly documents: CurrentState & {
    /** Writes without checking the expected revision, and returns the new one. */
    write(write: PreparedWrite): number;
  };
  readonly events: {
    /** @param revisions the new revisions, in the order of the writes */
    append(events: readonly PreparedEvent[], revisions: readonly number[], writes: readonly PreparedWrite[]): void;
  };
}

/** Checks everything before it writes, so that a conflict needs no rollback. */
export function applyCommit(commit: PreparedCommit, { documents, events }: CommitTarget): CommitResult {
  const conflict = findConflict(commit, documents);
  if (conflict) return { ok: false, conflict };
  const revisions = commit.writes.map((write) => documents.write(write));
  events.append(commit.events, revisions, commit.writes);
  return { ok: true, revisions };
}

/** A map with document keys. */
export interface DocumentMap<V> {
  get(key: DocumentKey): V | undefined;
  set(key: DocumentKey, value: V): void;
}

/** Kinds and ids are arbitrary text, so no separator could join them: the map has two levels. */
export function createDocumentMap<V>(): DocumentMap<V> {
  const kinds = new Map<string, Map<string, V>>();
  return {
    get: ({ kind, id }) => kinds.get(kind)?.get(id),
    set({ kind, id }, value) {
      const ids = kinds.get(kind);
      if (ids) ids.set(id, value);
      else kinds.set(kind, new Map<string, V>().set(id, value));
    },
  };
}

/**
 * A copy of a commit with its values as JSON text. Serialization takes time and may fail, so it happens before the
 * storage takes its lock.
 */
export interface PreparedCommit {
  readonly writes: readonly PreparedWrite[];
  readonly checks: readonly DocumentCheck[];
  readonly vacant: readonly Vacancy[];
  readonly events: readonly PreparedEvent[];
}

export interface PreparedWrite {
  readonly key: DocumentKey;
  readonly expected: number;
  /** null unless the document is put. */
  readonly parent: string | null;
  /** null deletes the document; `unchanged` gives it a new revision only. */
  readonly content: PreparedContent | 'unchanged' | null;
}

/** JSON texts. */
export interface PreparedContent {
  readonly body: string;
  readonly summary: string;
}

export interface PreparedEvent extends Omit<NewEvent, 'data' | 'before' | OptionalText> {
  readonly actorTokenId: string | null;
  readonly actorTokenKind: string | null;
  readonly reason: string | null;
  readonly origin: string | null;
  /** JSON text. */
  readonly data: string;
  /** JSON text. */
  readonly before: string;
  /** Index of the write of the event's subject. */
  readonly write: number;
}

type OptionalText = 'actorTokenId' | 'actorTokenKind' | 'reason' | 'origin';

/** Throws `invalid_input` if a document occurs twice, or if an event's subject is not among the writes. */
export function prepareCommit({ writes, checks = [], vacant = [], events }: Commit): PreparedCommit {
  const places = placesOf(writes, checks);
  const prepared = writes.map(prepareWrite);
  return {
    writes: prepared,
    checks: checks.map(({ key, expected }) => ({ key: copyKey(key), expected })),
    vacant: vacant.map(({ kind, parent }) => ({ kind, parent })),
    events: events.map((event) => {
      const write = places.get(nameOf(event.subject)) ?? -1;
      const subject = writes[write];
      if (!subject) throw subjectNotWritten(event);
      return prepareEvent(event, write, textOf(event.data, { write: subject, content: prepared[write]?.content }));
    }),
  };
}

/** Returns the index of each document in the writes and checks, which follow each other. */
function placesOf(writes: readonly DocumentWrite[], checks: readonly DocumentCheck[]): ReadonlyMap<string, number> {
  const places = new Map<string, number>();
  for (const [place, { key }] of [...writes, ...checks].entries()) {
    const name = nameOf(key);
    if (places.has(name)) {
      throw new FlagsError('invalid_input', `The commit contains the ${key.kind} ${JSON.stringify(key.id)} twice.`);
    }
    places.set(name, place);
  }
  return places;
}

/** Returns a unique text for a key. The length separates the kind from the id, which are arbitrary text. */
function nameOf({ kind, id }: DocumentKey): string {
  return `${kind.length} ${kind}${id}`;
}

function subjectNotWritten({ type, subject }: NewEvent): FlagsError {
  const name = `${subject.kind} ${JSON.stringify(subject.id)}`;
  return new FlagsError('invalid_input', `The ${type} event is about the ${name}, which the commit does not write.`);
}

function prepareWrite(write: DocumentWrite): PreparedWrite {
  const key = copyKey(write.key);
  const { expected } = write;
  if ('deleted' in write) return { key, expected, parent: null, content: null };
  if ('touch' in write) return { key, expected, parent: null, content: 'unchanged' };
  const content = { body: write.text ?? toJson(write.body), summary: toJson(write.summary) };
  return { key, expected, parent: write.parent, content };
}

/** Returns the text of an event's data. The data of a creation is the document's body, whose text is reused. */
function textOf(
  data: unknown,
  { write, content }: { readonly write: DocumentWrite; readonly content: PreparedWrite['content'] | undefined },
): string {
  const isBody = 'body' in write && write.body === data && typeof content === 'object' && content !== null;
  return isBody ? content.body : toJson(data);
}

function prepareEvent(event: NewEvent, write: number, data: string): PreparedEvent {
  const { type, at, actor, actorTokenId = null, actorTokenKind = null, changeSet, reason = null } = event;
  const { subject, project, environment, before, origin = null } = event;
  return {
    type,
    at,
    actor,
    actorTokenId,
    actorTokenKind,
    changeSet,
    reason,
    origin,
    subject: copyKey(subject),
    project,
    environment,
    data,
    before: toJson(before),
    write,
  };
}

function copyKey({ kind, id }: DocumentKey): DocumentKey {
  return { kind, id };
}

/** `undefined` has no JSON text: it becomes null, as in an array. */
function toJson(value: unknown): string {
  return JSON.stringify(value) ?? 'null';
}

/** Parses the position of an event in a storage that numbers its events. Throws `invalid_input` for any other text. */
export function parsePosition(position: string): number {
  const number = /^[1-9]\d{0,15}$/.test(position) ? Number(position) : Number.NaN;
  if (Number.isSafeInteger(number)) return number;
  throw new FlagsError(
    'invalid_input',
    `${JSON.stringify(position)} is not a position in this storage's events. Pass the position of an event that it returned.`,
  );
}
