import { freezeJson } from '../../base/json.js';
import { boundsOf, pageOf, readPages } from '../../base/pages.js';
import type { Documents, KeyedUpdate, Versioned } from '../../storage/document-reader.js';
import type { DocumentKey, FlagsStorage, StoredDocument } from '../../storage/port.js';
import type { Registry } from '../registry.js';

/** Holds all documents of some kinds in memory, such as flags, archived ones too. Their states are frozen. */
export class DocumentCache {
  private readonly kinds: ReadonlyMap<string, CachedKind>;

  constructor({ kindsInMemory }: Registry) {
    this.kinds = new Map(kindsInMemory.map((kind) => [kind, new CachedKind()]));
  }

  /** Reads all documents. Keeps cached documents that are newer. */
  async load(storage: FlagsStorage): Promise<void> {
    for (const [name, kind] of this.kinds) {
      for await (const page of readAll(storage, name)) {
        for (const { key, revision, body } of page) kind.applyUpdate(key.id, revision, body);
      }
    }
  }

  /**
   * Applies the state of a document at a revision; undefined deletes the document. Returns whether the state changes.
   * Commits and events may deliver revisions repeatedly and in any order. The revision of an unchanged document grows
   * when another document begins to refer to it.
   */
  applyUpdate({ kind, id }: DocumentKey, revision: number, state: unknown): boolean {
    return this.kinds.get(kind)?.applyUpdate(id, revision, state) ?? false;
  }

  /** All documents, as updates of a cache that has none. Nothing is copied, and it can be read again. */
  updates(): Iterable<KeyedUpdate> {
    const { kinds } = this;
    return {
      *[Symbol.iterator]() {
        for (const [kind, cached] of kinds) {
          for (const [id, state] of cached.states) {
            yield { key: { kind, id }, update: { state, revision: cached.revisionOf(id) } };
          }
        }
      },
    };
  }

  /** Takes the documents of another cache, also older revisions. Returns the keys of the documents that change. */
  replaceBy(other: DocumentCache): readonly DocumentKey[] {
    return [...this.kinds].flatMap(([kind, cached]) => {
      const ids = cached.replaceBy(other.kinds.get(kind) ?? new CachedKind());
      return ids.map((id) => ({ kind, id }));
    });
  }

  /** Whether this revision of a document is newer than the known one. */
  isNewer({ kind, id }: DocumentKey, revision: number): boolean {
    return this.kinds.get(kind)?.isNewer(id, revision) ?? false;
  }

  /** Returns a document from memory. */
  get({ kind, id }: DocumentKey): Versioned<unknown> | undefined {
    return this.kinds.get(kind)?.get(id);
  }

  /** Returns the states of the documents of a kind, by id. */
  statesOf<State>({ kind }: Documents<State>): ReadonlyMap<string, State> {
    return this.kinds.get(kind)?.states as ReadonlyMap<string, State>;
  }
}

type ReadDocument = Omit<StoredDocument, 'parent'>;

/** Reads all documents of a kind, in pages: else the texts and the garbage of all documents would be in memory together. */
async function* readAll(storage: FlagsStorage, kind: string): AsyncGenerator<readonly ReadDocument[], void> {
  yield* readPages(async (query) => {
    const bounds = boundsOf(query);
    const listed = await storage.list({ kind, part: 'body', ...bounds, limit: bounds.limit + 1 });
    const documents = listed.map(({ key, revision, content }) => ({ key, revision, body: content }));
    return pageOf(documents, { limit: bounds.limit, cursorOf: ({ key }) => key.id });
  });
}

/** The documents of one kind. */
class CachedKind {
  readonly states = new Map<string, unknown>();
  /** Keeps the revisions of deleted documents. A late update must not restore one, or overwrite a newer document. */
  private revisions = new Map<string, number>();

  /** Returns the revision of a document, also of a deleted one; 0 before the first. */
  revisionOf(id: string): number {
    return this.revisions.get(id) ?? 0;
  }

  isNewer(id: string, revision: number): boolean {
    return revision > this.revisionOf(id);
  }

  get(id: string): Versioned<unknown> | undefined {
    const state = this.states.get(id);
    return state === undefined ? undefined : { state, revision: this.revisionOf(id) };
  }

  applyUpdate(id: string, revision: number, state: unknown): boolean {
    if (!this.isNewer(id, revision)) return false;
    this.revisions.set(id, revision);
    return this.set(id, state);
  }

  replaceBy(other: CachedKind): readonly string[] {
    this.revisions = new Map(other.revisions);
    const ids = new Set([...this.states.keys(), ...other.states.keys()]);
    return [...ids].filter((id) => this.set(id, other.states.get(id)));
  }

  /** Returns whether the state changes. */
  private set(id: string, state: unknown): boolean {
    if (state === undefined) return this.states.delete(id);
    const known = this.states.get(id);
    const next = freezeJson(state, known);
    this.states.set(id, next);
    return next !== known;
  }
}
