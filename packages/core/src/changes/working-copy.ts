import { compareCodePoints } from '../collections.js';
import type { DomainEvent } from '../events/event.types.js';
import type {
  DocumentCheck,
  DocumentDeletion,
  DocumentKey,
  DocumentPut,
  DocumentTouch,
  ListedDocument,
  ListQuery,
  Storage,
  StoredDocument,
  Vacancy,
} from '../storage/port.js';
import { timeSlice } from '../time-slice.js';
import type { Aggregate, Documents, Versioned } from './aggregate.js';
import { assertText, type DocumentReader, nameOf, type Read } from './reader.js';
import { createSetSize } from './set-size.js';

/** The write of one document in a commit. It folds all changes that a set makes to the document. */
export interface DocumentChange {
  /** Includes the JSON text, because the size is checked before the commit. */
  readonly write: DocumentDeletion | DocumentTouch | (DocumentPut & { readonly text: string });
  /** Empty for an index document, and for a document that is written to make concurrent changes conflict. */
  readonly events: readonly DomainEvent[];
  /** The stored document, if there is one. */
  readonly found: Versioned<unknown> | undefined;
  /** The new state; undefined for a deletion. */
  readonly next: unknown;
  /** The place in the caller's input of the last change that has written the document. */
  readonly path: string | undefined;
}

/** An event of a set with its document. */
export interface RecordedEvent {
  readonly subject: DocumentKey;
  readonly project: string | null;
  readonly event: DomainEvent;
}

/** A document that the set has written so far. */
interface Draft {
  readonly key: DocumentKey;
  readonly documents: Documents<unknown> & Partial<Pick<Aggregate<unknown, DomainEvent>, 'summarize'>>;
  readonly found: Versioned<unknown> | undefined;
  readonly events: DomainEvent[];
  /** The stored revision; after the commit the new one. */
  revision: number;
  /** Undefined after a deletion. */
  state: unknown;
  path: string | undefined;
  /** False for a document that only gets a new revision. */
  isChanged: boolean;
}

/**
 * The documents as the earlier changes of a set leave them. Repeated reads return the same document, with its stored
 * revision. The commit checks that no document that was read has changed since.
 */
export interface WorkingCopy extends DocumentReader {
  readonly read: Read;
  /** Lists without a check in the commit. The decision must have read a document that concurrent changes of the list write. */
  readonly list: DocumentReader['list'];
  /** Reads without checks in the commit, for documents that a change may ignore later. */
  readonly unchecked: DocumentReader;
  /** Applies events to a document. Does nothing without events. */
  apply<State, Event extends DomainEvent>(
    aggregate: Aggregate<State, Event>,
    id: string,
    events: readonly Event[],
  ): Promise<void>;
  /** Writes an index document: it has no events, and indexes or guards other documents. */
  put<State>(documents: Documents<State>, id: string, state: State): Promise<void>;
  /** Deletes an index document, if it exists. */
  remove<State>(documents: Documents<State>, id: string): Promise<void>;
  /**
   * Gives a document a new revision, if it exists. Concurrent changes that have read the document then conflict, so that
   * they decide again.
   */
  touch<State>(documents: Documents<State>, id: string): Promise<void>;
  /** Requires that a parent has no document of a kind after the commit. */
  requireVacant(vacancy: Vacancy): void;
  /** Returns the documents of a kind that the set has written, by id. A deleted document is undefined. */
  written<State>(documents: Documents<State>): ReadonlyMap<string, State | undefined>;
}

/** A working copy as the set runner uses it. */
export interface RunnableCopy extends WorkingCopy {
  /** The events in the order of the changes. */
  readonly events: readonly RecordedEvent[];
  /** Resolves to the revision of the stored document, whatever the set has done to it; undefined if there is none. */
  storedRevision(key: DocumentKey): Promise<number | undefined>;
  /** Sets the place of the change that is decided next, in the caller's input. */
  begin(path: string | undefined): void;
  /** Returns the writes, one for each document. */
  toChanges(): Promise<readonly DocumentChange[]>;
  /** Returns checks for all documents found, except the written ones. Writes check the revision themselves. */
  toChecks(): readonly DocumentCheck[];
  toVacancies(): readonly Vacancy[];
  /** Sets the new revisions, in the order of {@link toChanges}. */
  settle(revisions: readonly number[]): void;
}

/** Documents that are written without yielding to the event loop. */
const DOCUMENTS_PER_STEP = 4;

export function createWorkingCopy(storage: Pick<Storage, 'get' | 'list'>): RunnableCopy {
  const readings = new Map<string, Promise<Versioned<unknown> | undefined>>();
  const found: DocumentCheck[] = [];
  const drafts = new Map<string, Draft>();
  const events: RecordedEvent[] = [];
  const vacancies: Vacancy[] = [];
  let current: string | undefined;
  const size = createSetSize();

  async function load(key: DocumentKey): Promise<Versioned<unknown> | undefined> {
    // A change may read hundreds of large segments, and a storage in this process reads synchronously.
    if (timeSlice.isOver()) await timeSlice.next();
    const document = toVersioned(await storage.get(key));
    if (document) found.push({ key, expected: document.revision });
    return document;
  }

  function readStored(key: DocumentKey, name: string): Promise<Versioned<unknown> | undefined> {
    const reading = readings.get(name) ?? load(key);
    readings.set(name, reading);
    return reading;
  }

  function read<State>({ kind }: Documents<State>, id: string): Promise<Versioned<State> | undefined> {
    assertText(kind, id);
    const key = { kind, id };
    const name = nameOf(key);
    const draft = drafts.get(name);
    return (draft ? Promise.resolve(currentOf(draft)) : readStored(key, name)) as Promise<Versioned<State> | undefined>;
  }

  async function readUnchecked<State>({ kind }: Documents<State>, id: string): Promise<Versioned<State> | undefined> {
    assertText(kind, id);
    const draft = drafts.get(nameOf({ kind, id }));
    const document = draft ? currentOf(draft) : toVersioned(await storage.get({ kind, id }));
    return document as Versioned<State> | undefined;
  }

  async function list(query: ListQuery): Promise<ListedDocument[]> {
    const listed = await storage.list(query);
    const own = [...drafts.values()].filter(({ key }) => key.kind === query.kind);
    if (own.length === 0) return listed;
    const written = new Set(own.map(({ key }) => key.id));
    const others = listed.filter(({ key }) => !written.has(key.id));
    return [...others, ...own.flatMap((draft) => toListed(draft, query))].sort((one, other) =>
      compareCodePoints(one.key.id, other.key.id),
    );
  }

  async function draftOf<State>(documents: Documents<State>, id: string): Promise<Draft> {
    const key = { kind: documents.kind, id };
    const name = nameOf(key);
    const stored = drafts.get(name)?.found ?? (await readStored(key, name));
    const known = drafts.get(name);
    const draft = known ?? {
      key,
      documents: documents as Documents<unknown>,
      found: stored,
      events: [],
      revision: stored?.revision ?? 0,
      state: stored?.state,
      path: current,
      isChanged: false,
    };
    if (!known) drafts.set(name, draft);
    draft.path = current;
    return draft;
  }

  async function changedDraftOf<State>(documents: Documents<State>, id: string): Promise<Draft> {
    const draft = await draftOf(documents, id);
    draft.isChanged = true;
    return draft;
  }

  function isWritten({ state, found: stored, events: own }: Draft): boolean {
    return state !== undefined || stored !== undefined || own.length > 0;
  }

  return {
    events,
    read,
    list,
    unchecked: { read: readUnchecked, list },
    async storedRevision(key) {
      assertText(key.kind, key.id);
      const name = nameOf(key);
      const draft = drafts.get(name);
      return (draft ? draft.found : await readStored(key, name))?.revision;
    },
    begin(path) {
      current = path;
    },
    async apply(aggregate, id, applied) {
      if (applied.length === 0) return;
      const draft = await changedDraftOf(aggregate, id);
      for (const event of applied) {
        const before = draft.state as Parameters<typeof aggregate.evolve>[0];
        const after = aggregate.evolve(before, event);
        const known = after ?? before;
        draft.state = after;
        draft.events.push(event);
        events.push({ subject: draft.key, project: known === undefined ? null : aggregate.projectOf(known), event });
        size.addEvent(event);
      }
    },
    async put(documents, id, state) {
      (await changedDraftOf(documents, id)).state = state;
    },
    async remove(documents, id) {
      if (await read(documents, id)) (await changedDraftOf(documents, id)).state = undefined;
    },
    async touch(documents, id) {
      if (await read(documents, id)) await draftOf(documents, id);
    },
    requireVacant: (vacancy) => void vacancies.push(vacancy),
    written<State>({ kind }: Documents<State>) {
      const own = [...drafts.values()].filter(({ key }) => key.kind === kind);
      return new Map(own.map(({ key, state }) => [key.id, state as State | undefined]));
    },
    async toChanges() {
      const changes: DocumentChange[] = [];
      for (const draft of drafts.values()) {
        if (!isWritten(draft)) continue;
        if (changes.length >= DOCUMENTS_PER_STEP && timeSlice.isOver()) await timeSlice.next();
        const change = toChange(draft);
        changes.push(change);
        if ('text' in change.write) size.addDocument(change.write.text, draft.path);
      }
      return changes;
    },
    toChecks: () => (drafts.size === 0 ? found : found.filter(({ key }) => !drafts.has(nameOf(key)))),
    /** A parent that the set fills again is not vacant: its own document makes concurrent changes conflict. */
    toVacancies() {
      const own = [...drafts.values()];
      const isFilled = ({ kind, parent }: Vacancy) =>
        own.some(
          ({ key, documents, state }) =>
            key.kind === kind && state !== undefined && documents.parentOf(state) === parent,
        );
      return vacancies.filter((vacancy) => !isFilled(vacancy));
    },
    settle(revisions) {
      const written = [...drafts.values()].filter(isWritten);
      for (const [index, draft] of written.entries()) draft.revision = revisions[index] ?? 0;
    },
  };
}

function toVersioned(document: StoredDocument | undefined): Versioned<unknown> | undefined {
  return document && { state: document.body, revision: document.revision };
}

function currentOf({ state, revision }: Draft): Versioned<unknown> | undefined {
  return state === undefined ? undefined : { state, revision };
}

function toListed({ key, documents, state, revision }: Draft, { parent, part }: ListQuery): ListedDocument[] {
  if (state === undefined) return [];
  const own = documents.parentOf(state);
  if (parent !== undefined && parent !== own) return [];
  const content = part === 'body' ? state : (documents.summarize?.(state) ?? null);
  return [{ key, parent: own, revision, content }];
}

function toChange({ key, documents, found, state, events, path, isChanged }: Draft): DocumentChange {
  const expected = found?.revision ?? 0;
  if (!isChanged) return { write: { key, expected, touch: true }, events, found, next: state, path };
  if (state === undefined) {
    return { write: { key, expected, deleted: true }, events, found, next: undefined, path };
  }
  const summary = documents.summarize?.(state) ?? null;
  const parent = documents.parentOf(state);
  const write = { key, expected, parent, body: state, text: JSON.stringify(state), summary };
  return { write, events, found, next: state, path };
}
