import { compareCodePoints } from '../base/collections.js';
import type { Awaitable } from '../base/common.types.js';
import { paced, pause } from '../base/paced.js';
import type { UnitOfWork } from '../engine.js';
import type { DomainEvent } from '../events/event.types.js';
import {
  type Aggregate,
  assertText,
  type DocumentReader,
  type Documents,
  nameOf,
  type Read,
  toVersioned,
  type Versioned,
} from '../storage/documents.js';
import type { DocumentCheck, DocumentKey, FlagsStorage, ListedDocument, ListQuery, Vacancy } from '../storage/port.js';
import {
  currentOf,
  type DocumentChange,
  type Entry,
  isWritten,
  type PendingEntry,
  type PendingWrite,
  toChange,
  toListed,
} from './document-changes.js';
import { SetSize } from './size-limits.js';

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

/** A unit of work with the methods of the change set writer. */
export interface CommittableUnit extends UnitOfWork {
  /** The events in the order of the changes. */
  readonly events: readonly RecordedEvent[];
  /** Resolves to the revision of the stored document, ignoring the writes of the set; undefined if there is none. */
  storedRevision(key: DocumentKey): Promise<number | undefined>;
  /** Sets the next change to decide. */
  begin(change: ChangeOrigin): void;
  /** Returns the writes, one for each document. */
  toChanges(): Promise<readonly DocumentChange[]>;
  /** Returns checks for all documents found, except the written ones. Writes check the revision themselves. */
  toChecks(): readonly DocumentCheck[];
  toVacancies(): readonly Vacancy[];
  /** Sets the new revisions, in the order of {@link toChanges}. */
  setRevisions(revisions: readonly number[]): void;
}

/** Documents that are read without yielding to the event loop. */
const READ_AT_ONCE = 4;

export function createUnitOfWork(storage: Pick<FlagsStorage, 'get' | 'list'>): CommittableUnit {
  return new ChangeSetUnit(storage);
}

class ChangeSetUnit implements CommittableUnit {
  readonly events: RecordedEvent[] = [];
  private readonly entries = new Map<string, Entry>();
  private readonly pending: PendingEntry[] = [];
  private readonly size = new SetSize();
  private vacancies: readonly Vacancy[] = [];
  private path: string | undefined;
  private op: string | undefined;
  private latest: Entry | undefined;

  constructor(private readonly storage: Pick<FlagsStorage, 'get' | 'list'>) {}

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

  async storedRevision({ kind, id }: DocumentKey): Promise<number | undefined> {
    const entry = this.entryOf(kind, id);
    await this.load(entry);
    return entry.found?.revision;
  }

  begin({ path, op }: ChangeOrigin): void {
    this.path = path;
    this.op = op;
  }

  async toChanges(): Promise<readonly DocumentChange[]> {
    const changes: DocumentChange[] = [];
    for await (const entry of paced(this.pending.filter(isWritten))) {
      const change = toChange(entry);
      if ('text' in change.write) this.size.addDocument(change.write.text, change.path);
      changes.push(change);
    }
    return changes;
  }

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
    // A change may read hundreds of large segments, and a storage in this process reads synchronously.
    if (this.entries.size > READ_AT_ONCE) await pause();
    entry.found = toVersioned(await this.storage.get(entry.key));
    entry.isLoaded = true;
    return entry.found;
  }

  private async listWritten(query: ListQuery): Promise<ListedDocument[]> {
    const listed = await this.storage.list(query);
    const own = this.pending.filter(({ key }) => key.kind === query.kind);
    if (own.length === 0) return listed;
    const written = new Set(own.map(({ key }) => key.id));
    const others = listed.filter(({ key }) => !written.has(key.id));
    return [...others, ...own.flatMap((entry) => toListed(entry, query))].sort((one, other) =>
      compareCodePoints(one.key.id, other.key.id),
    );
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
    for (const event of events) {
      const before = pending.state as State | undefined;
      const after = aggregate.evolve(before, event);
      const known = after ?? before;
      pending.state = after;
      pending.events.push(event);
      const project = known === undefined ? null : aggregate.projectOf(known);
      this.events.push({ subject: key, project, event, op: this.op });
      this.size.addEvent(event);
    }
  }
}

function newEntry(key: DocumentKey): Entry {
  return { key, loading: undefined, isLoaded: false, found: undefined, pending: undefined };
}
