import { FlagsError } from '../errors.js';
import type { Commit, CommitResult, DocumentCheck, DocumentKey, DocumentWrite, NewEvent, Vacancy } from './port.js';

/** What is stored, as seen by one that holds the lock. */
export interface CurrentState {
  /** The document's revision; 0 when there is none or it was deleted. */
  revision(key: DocumentKey): number;
  /** The first ids, at most `limit`, of the existing documents of the kind under the parent. */
  firstIds(vacancy: Vacancy, limit: number): readonly string[];
}

/** The first document that keeps the commit from happening: moved since it was read, or in the way of a vacancy. */
export function findConflict(commit: PreparedCommit, state: CurrentState): DocumentKey | undefined {
  const moved = ({ key, expected }: { key: DocumentKey; expected: number }) => state.revision(key) !== expected;
  const conflict = commit.writes.find(moved) ?? commit.checks.find(moved);
  if (conflict) return conflict.key;
  for (const vacancy of commit.vacant) {
    const occupant = findOccupant(vacancy, commit.writes, state);
    if (occupant) return occupant;
  }
  return undefined;
}

/** Looks through the commit's own writes, so that nothing has to be undone when the vacancy does not hold. */
function findOccupant(
  { kind, parent }: Vacancy,
  writes: readonly PreparedWrite[],
  state: CurrentState,
): DocumentKey | undefined {
  const own = writes.filter(({ key }) => key.kind === kind);
  const put = own.find((write) => write.content !== null && write.parent === parent);
  if (put) return put.key;
  const replaced = new Set(own.map(({ key }) => key.id));
  const id = state.firstIds({ kind, parent }, replaced.size + 1).find((found) => !replaced.has(found));
  return id === undefined ? undefined : { kind, id };
}

/** Where a commit is applied, by one that holds the lock on all of it. */
export interface CommitTarget {
  readonly documents: CurrentState & {
    /** Writes without looking at what is expected, and gives the new revision. */
    write(write: PreparedWrite): number;
  };
  readonly events: {
    /** `revisions` are those of the commit's writes. */
    append(events: readonly PreparedEvent[], revisions: readonly number[]): void;
  };
}

/** Checks first and writes afterwards, so that a lost race leaves nothing to undo. */
export function applyCommit(commit: PreparedCommit, { documents, events }: CommitTarget): CommitResult {
  const conflict = findConflict(commit, documents);
  if (conflict) return { ok: false, conflict };
  const revisions = commit.writes.map((write) => documents.write(write));
  events.append(commit.events, revisions);
  return { ok: true, revisions };
}

/** A map keyed by documents. */
export interface DocumentMap<V> {
  get(key: DocumentKey): V | undefined;
  set(key: DocumentKey, value: V): void;
}

/** Kinds and ids are arbitrary text, so they are two levels of maps and never joined into one string. */
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
 * A commit with its values as JSON text and nothing shared with the caller: what is left to do needs no time and
 * cannot fail on the values, so it can be done while a lock is held.
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
  readonly parent: string | null;
  /** null: the document is deleted. */
  readonly content: PreparedContent | null;
}

/** JSON texts. */
export interface PreparedContent {
  readonly body: string;
  readonly summary: string;
}

export interface PreparedEvent extends Omit<NewEvent, 'data' | 'before'> {
  /** JSON text. */
  readonly data: string;
  /** JSON text. */
  readonly before: string;
  /** Which of the commit's writes touches the subject. */
  readonly write: number;
}

/** Fails with `invalid_input` when a document is named twice or an event's subject is not among the writes. */
export function prepareCommit({ writes, checks = [], vacant = [], events }: Commit): PreparedCommit {
  const written = createDocumentMap<number>();
  writes.forEach(({ key }, index) => {
    claim(written, key, index);
  });
  checks.forEach(({ key }) => {
    claim(written, key, -1);
  });
  const prepared = writes.map(prepareWrite);
  return {
    writes: prepared,
    checks: checks.map(({ key, expected }) => ({ key: copyKey(key), expected })),
    vacant: vacant.map(({ kind, parent }) => ({ kind, parent })),
    events: events.map((event) => {
      const write = writeOf(event, written);
      return prepareEvent(event, { write, body: bodyOf(writes[write]), text: prepared[write]?.content?.body });
    }),
  };
}

function claim(claimed: DocumentMap<number>, key: DocumentKey, write: number): void {
  if (claimed.get(key) !== undefined) {
    throw new FlagsError('invalid_input', `The commit names the ${key.kind} ${JSON.stringify(key.id)} twice.`);
  }
  claimed.set(key, write);
}

function prepareWrite(write: DocumentWrite): PreparedWrite {
  const key = copyKey(write.key);
  if ('deleted' in write) return { key, expected: write.expected, parent: null, content: null };
  const content = { body: write.text ?? toJson(write.body), summary: toJson(write.summary) };
  return { key, expected: write.expected, parent: write.parent, content };
}

/** The write that an event is about, with the document's body and its text. */
interface PreparedSubject {
  readonly write: number;
  readonly body: unknown;
  readonly text: string | undefined;
}

function writeOf({ type, subject }: NewEvent, written: DocumentMap<number>): number {
  const write = written.get(subject) ?? -1;
  if (write >= 0) return write;
  const name = `${subject.kind} ${JSON.stringify(subject.id)}`;
  throw new FlagsError('invalid_input', `The ${type} event is about the ${name}, which is not written.`);
}

function bodyOf(write: DocumentWrite | undefined): unknown {
  return write && 'body' in write ? write.body : undefined;
}

/** The event of a creation tells the whole document: its text is made once. */
function prepareEvent(event: NewEvent, subject: PreparedSubject): PreparedEvent {
  const { type, at, actor, actorTokenId, actorTokenKind, project, environment } = event;
  const data = subject.text !== undefined && event.data === subject.body ? subject.text : toJson(event.data);
  const values = { data, before: toJson(event.before) };
  return {
    type,
    at,
    actor,
    ...(actorTokenId !== undefined && { actorTokenId }),
    ...(actorTokenKind !== undefined && { actorTokenKind }),
    subject: copyKey(event.subject),
    project,
    environment,
    ...values,
    write: subject.write,
  };
}

function copyKey({ kind, id }: DocumentKey): DocumentKey {
  return { kind, id };
}

/** `undefined` has no JSON text of its own; it becomes null, as in an array. */
function toJson(value: unknown): string {
  return JSON.stringify(value) ?? 'null';
}
