import { compareCodePoints } from '../../base/collections.js';
import type { Awaitable } from '../../base/common.types.js';
import type { DomainEvent } from '../../base/domain-event.js';
import { LIMITS } from '../../base/limits.js';
import { pause } from '../../base/paced.js';
import { assertText } from '../../base/validator.js';
import {
  type Aggregate,
  type DocumentReader,
  type Documents,
  nameOf,
  type Read,
  type RecordedDocuments,
  toVersioned,
  type Versioned,
} from '../../storage/document-reader.js';
import type {
  DocumentCheck,
  DocumentKey,
  FlagsStorage,
  ListedDocument,
  ListQuery,
  Vacancy,
} from '../../storage/port.js';
import type { RecordedChange, UnitOfWork } from '../engine.js';
import type { WrittenDocument } from '../log/checkpoints.js';
import type { Registry } from '../registry.js';
import { documentTooLarge, setTooLarge } from './refusals.js';

/** The write of one document in a commit. It folds all changes that a set makes to the document. */
export interface DocumentChange extends WrittenDocument {
  /** The size of the JSON text; 0 without one. */
  readonly bytes: number;
  /** Empty for an index document, and for a document that is written to make concurrent changes conflict. */
  readonly events: readonly DomainEvent[];
  /** The stored document, if there is one. */
  readonly found: Versioned<unknown> | undefined;
}

/** A document that the set has read or written. */
interface Entry {
  readonly key: DocumentKey;
  /** The read in progress. */
  loading: Promise<Versioned<unknown> | undefined> | undefined;
  isLoaded: boolean;
  /** The stored document. */
  found: Versioned<unknown> | undefined;
  /** Absent until the set writes the document. */
  pending: PendingWrite | undefined;
}

interface PendingWrite {
  documents: Documents<unknown> & Partial<Pick<RecordedDocuments<unknown>, 'summarize'>>;
  readonly events: DomainEvent[];
  eventBytes: number;
  /** The stored revision; after the commit the new one. */
  revision: number;
  /** Undefined after a deletion. */
  state: unknown;
  /** The place in the caller's input of the last change that has written the document. */
  path: string | undefined;
  /** False for a document that only gets a new revision. */
  isChanged: boolean;
}

interface PendingEntry extends Entry {
  pending: PendingWrite;
}

/** An event of a set with its document. */
export interface RecordedEvent {
  readonly subject: DocumentKey;
  readonly project: string | null;
  readonly event: DomainEvent;
  /** The operation of the change. */
  readonly op?: string | undefined;
}

/** The change being decided: its place in the caller's input, and its operation. */
interface ChangeOrigin {
  readonly path?: string | undefined;
  readonly op?: string | undefined;
}

/** Documents that are read without yielding to the event loop. */
const READ_AT_ONCE = 4;

/** A unit of work with what the change set writer needs. */
export class ChangeSetUnit implements UnitOfWork {
  /** In the order of the changes. */
  readonly events: RecordedEvent[] = [];
  private readonly entries = new Map<string, Entry>();
  private readonly pending: PendingEntry[] = [];
  /** The size of all documents and events to write. */
  private bytes = 0;
  private vacancies: readonly Vacancy[] = [];
  private path: string | undefined;
  private op: string | undefined;
  private latest: Entry | undefined;

  constructor(
    private readonly storage: Pick<FlagsStorage, 'get' | 'list'>,
    private readonly registry: Registry,
  ) {}

  // Getters that return bound functions: callers destructure `read` and `list`.

  get read(): Read {
    return <State>({ kind }: Documents<State>, id: string) => {
      const entry = this.entryOf(kind, id);
      return this.load(entry) as Promise<Versioned<State> | undefined>;
    };
  }

  get list(): DocumentReader['list'] {
    return (query) => this.listWritten(query);
  }

  get unchecked(): DocumentReader {
    const read = async <State>({ kind }: Documents<State>, id: string) => {
      assertText(kind, id);
      const entry = this.entries.get(nameOf({ kind, id }));
      const document = entry?.isLoaded ? currentOf(entry) : toVersioned(await this.storage.get({ kind, id }));
      return document as Versioned<State> | undefined;
    };
    return { read, list: this.list };
  }

  apply<State, Event extends DomainEvent>(
    aggregate: Aggregate<State, Event>,
    id: string,
    events: readonly Event[],
  ): Awaitable<void> {
    if (events.length === 0) return;
    const entry = this.entryOf(aggregate.kind, id);
    const documents = aggregate as Documents<never>;
    if (entry.isLoaded) return this.applyTo(this.pendingOf(entry, documents), aggregate, events);
    return this.load(entry).then(() => this.applyTo(this.pendingOf(entry, documents), aggregate, events));
  }

  async put<State>(documents: Documents<State>, id: string, state: State): Promise<void> {
    const entry = this.entryOf(documents.kind, id);
    await this.load(entry);
    const { pending } = this.pendingOf(entry, documents as Documents<never>);
    pending.state = state;
    pending.isChanged = true;
  }

  async record<State, Event extends DomainEvent>(
    documents: RecordedDocuments<State>,
    id: string,
    { next, event, op = this.op }: RecordedChange<State, Event>,
  ): Promise<void> {
    const entry = this.entryOf(documents.kind, id);
    await this.load(entry);
    const { key, pending } = this.pendingOf(entry, documents as Documents<never>);
    pending.isChanged = true;
    pending.state = next;
    this.append(pending, { subject: key, project: documents.projectOf(next), event, op });
  }

  async remove<State>(documents: Documents<State>, id: string): Promise<void> {
    if (await this.read(documents, id)) await this.put(documents as Documents<unknown>, id, undefined);
  }

  async touch<State>(documents: Documents<State>, id: string): Promise<void> {
    if (await this.read(documents, id)) this.pendingOf(this.entryOf(documents.kind, id), documents as Documents<never>);
  }

  requireVacant(vacancy: Vacancy): void {
    this.vacancies = [...this.vacancies, vacancy];
  }

  written<State>({ kind }: Documents<State>): ReadonlyMap<string, State | undefined> {
    const own = this.pending.filter(({ key }) => key.kind === kind);
    return new Map(own.map(({ key, pending }) => [key.id, pending.state as State | undefined]));
  }

  /** Whether the set changes a document with such a key, which it may also delete. */
  hasWritten(isMeant: (key: DocumentKey) => boolean): boolean {
    return this.pending.some(({ key, pending: { isChanged } }) => isChanged && isMeant(key));
  }

  /** Resolves to the stored document, ignoring the writes of the set; undefined if there is none. */
  async stored({ kind, id }: DocumentKey): Promise<Versioned<unknown> | undefined> {
    const entry = this.entryOf(kind, id);
    await this.load(entry);
    return entry.found;
  }

  /** Makes the commit expect a document at the revision that the caller knows, without a read. */
  assume({ kind, id }: DocumentKey, known: Versioned<unknown>): void {
    const entry = this.entryOf(kind, id);
    if (entry.isLoaded || entry.loading) return;
    entry.found = known;
    entry.isLoaded = true;
  }

  /** Sets the next change to decide. */
  begin({ path, op }: ChangeOrigin): void {
    this.path = path;
    this.op = op;
  }

  /**
   * Returns the writes, one for each document.
   *
   * @throws FlagsError `document_too_large`, `change_set_too_large`
   */
  async toChanges(): Promise<readonly DocumentChange[]> {
    const changes: DocumentChange[] = [];
    const written = this.pending.filter(isWritten);
    for (const entry of written) {
      await pause();
      const change = toChange(entry);
      this.addBytes(change.bytes, entry.pending.path);
      changes.push(change);
    }
    for (const [index, change] of changes.entries()) {
      if (!isTooLarge(this.registry, change)) continue;
      throw documentTooLarge(this.registry, change.write.key, {
        bytes: change.bytes,
        path: written[index]?.pending.path,
      });
    }
    return changes;
  }

  /** Returns checks for all documents found, except the written ones. Writes check the revision themselves. */
  toChecks(): readonly DocumentCheck[] {
    const checks: DocumentCheck[] = [];
    for (const { key, found, pending } of this.entries.values()) {
      if (found && !pending) checks.push({ key, expected: found.revision });
    }
    return checks;
  }

  /** Leaves out parents that the set fills again: writing their documents makes concurrent changes conflict. */
  toVacancies(): readonly Vacancy[] {
    if (this.vacancies.length === 0) return this.vacancies;
    return this.vacancies.filter(
      ({ kind, parent }) =>
        !this.pending.some(({ key, pending: { documents, state } }) => {
          return key.kind === kind && state !== undefined && documents.parentOf(state) === parent;
        }),
    );
  }

  /** Sets the new revisions, in the order of {@link toChanges}. */
  setRevisions(revisions: readonly number[]): void {
    let index = 0;
    for (const entry of this.pending) if (isWritten(entry)) entry.pending.revision = revisions[index++] ?? 0;
  }

  private entryOf(kind: string, id: string): Entry {
    assertText(kind, id);
    // Most changes read one document and then write it.
    if (this.latest?.key.id === id && this.latest.key.kind === kind) return this.latest;
    const key = { kind, id };
    const name = nameOf(key);
    const entry = this.entries.get(name) ?? newEntry(key);
    this.entries.set(name, entry);
    this.latest = entry;
    return entry;
  }

  /** Resolves to the document after the changes so far. */
  private load(entry: Entry): Promise<Versioned<unknown> | undefined> {
    if (entry.isLoaded) return Promise.resolve(currentOf(entry));
    entry.loading ??= this.loadStored(entry);
    return entry.loading;
  }

  private async loadStored(entry: Entry): Promise<Versioned<unknown> | undefined> {
    // Yields to the event loop: a change may read hundreds of segments, and a storage in this process is synchronous.
    if (this.entries.size > READ_AT_ONCE) await pause();
    entry.found = toVersioned(await this.storage.get(entry.key));
    entry.isLoaded = true;
    return entry.found;
  }

  private async listWritten(query: ListQuery): Promise<ListedDocument[]> {
    const listed = await this.storage.list(query);
    const others = listed.filter(({ key }) => !this.entries.get(nameOf(key))?.pending);
    const own: ListedDocument[] = [];
    for (const entry of this.pending) {
      const one = entry.key.kind === query.kind ? toListed(entry, query) : undefined;
      if (one) own.push(one);
    }
    if (own.length === 0) return others;
    return [...others, ...own].sort((one, other) => compareCodePoints(one.key.id, other.key.id));
  }

  /** The document must be loaded. */
  private pendingOf(entry: Entry, documents: Documents<never>): PendingEntry {
    const { pending, found } = entry;
    if (pending) {
      pending.path = this.path;
      return entry as PendingEntry;
    }
    entry.pending = {
      documents: documents as unknown as PendingWrite['documents'],
      events: [],
      eventBytes: 0,
      revision: found?.revision ?? 0,
      state: found?.state,
      path: this.path,
      isChanged: false,
    };
    this.pending.push(entry as PendingEntry);
    return entry as PendingEntry;
  }

  private applyTo<State, Event extends DomainEvent>(
    { key, pending }: PendingEntry,
    aggregate: Aggregate<State, Event>,
    events: readonly Event[],
  ): void {
    pending.isChanged = true;
    // An earlier change may have written the document only as a reference, which has no summary.
    pending.documents = aggregate as unknown as PendingWrite['documents'];
    for (const event of events) {
      const before = pending.state as State | undefined;
      const after = aggregate.evolve(before, event);
      const known = after ?? before;
      pending.state = after;
      const project = known === undefined ? null : aggregate.projectOf(known);
      this.append(pending, { subject: key, project, event, op: this.op });
    }
  }

  private append(pending: PendingWrite, recorded: RecordedEvent): void {
    const { event } = recorded;
    pending.events.push(event);
    this.events.push(recorded);
    const bytes = Buffer.byteLength(JSON.stringify([event.data, event.before]));
    pending.eventBytes += bytes;
    this.addBytes(bytes, undefined);
  }

  /** Refuses the set as soon as it exceeds the limit. */
  private addBytes(bytes: number, path: string | undefined): void {
    this.bytes += bytes;
    if (this.bytes > LIMITS.changeSetBytes) throw setTooLarge(path);
  }
}

function newEntry(key: DocumentKey): Entry {
  return { key, loading: undefined, isLoaded: false, found: undefined, pending: undefined };
}

/** Whether a document must be written: not if the set created and removed it again without events. */
function isWritten({ found, pending }: PendingEntry): boolean {
  return pending.state !== undefined || found !== undefined || pending.events.length > 0;
}

function currentOf({ found, pending }: Entry): Versioned<unknown> | undefined {
  if (!pending) return found;
  return pending.state === undefined ? undefined : { state: pending.state, revision: pending.revision };
}

/** Undefined for a document that is not listed. */
function toListed(
  { key, pending: { documents, state, revision } }: PendingEntry,
  query: ListQuery,
): ListedDocument | undefined {
  if (state === undefined) return undefined;
  const parent = documents.parentOf(state);
  if (query.parent !== undefined && query.parent !== parent) return undefined;
  const content = query.part === 'body' ? state : (documents.summarize?.(state) ?? null);
  return { key, parent, revision, content };
}

function toChange({ key, found, pending }: PendingEntry): DocumentChange {
  const { documents, state: next, events, eventBytes, isChanged } = pending;
  const rest = { events, eventBytes, found, next };
  const expected = found?.revision ?? 0;
  if (!isChanged) return { write: { key, expected, touch: true }, bytes: 0, ...rest };
  if (next === undefined) return { write: { key, expected, deleted: true }, bytes: 0, ...rest };
  const text = JSON.stringify(next);
  const summary = documents.summarize?.(next) ?? null;
  const write = { key, expected, parent: documents.parentOf(next), body: next, text, summary };
  return { write, bytes: Buffer.byteLength(text), ...rest };
}

/**
 * Whether events shrink a document, or add a few bytes only. Size limits do not apply to them, so that callers can
 * disable, archive and empty a flag of any size.
 */
function isNeverRefused({ describeEvent }: Registry, events: readonly DomainEvent[]): boolean {
  return events.every(({ type, shrinks }) => shrinks ?? describeEvent(type).shrinks);
}

/** Whether a change makes a document too large. One that is already too large may shrink, or keep its size. */
function isTooLarge(registry: Registry, { bytes, events, found }: DocumentChange): boolean {
  if (bytes <= LIMITS.documentBytes || (events.length > 0 && isNeverRefused(registry, events))) return false;
  return !found || bytes > Buffer.byteLength(JSON.stringify(found.state));
}
