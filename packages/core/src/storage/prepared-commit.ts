import { FlagsError } from '../errors.js';
import { createDocumentMap, type DocumentMap } from './document-map.js';
import type { Commit, DocumentCheck, DocumentKey, DocumentWrite, NewEvent, Vacancy } from './port.js';

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
