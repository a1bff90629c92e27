import { isSameJson } from '../base/json.js';
import type { Documents, Versioned } from '../changesets/documents.js';
import type { FlagState } from '../flags/flag.js';
import { flagDocuments } from '../flags/flag-documents.js';
import { type SegmentState, segmentDocuments } from '../segments/segment.js';
import type { DocumentKey, Storage, StoredDocument } from '../storage/port.js';

/** Holds the documents for evaluation in memory: all segments, and all flags that are not archived. */
export interface DocumentCache {
  readonly flags: ReadonlyMap<string, FlagState>;
  readonly segments: ReadonlyMap<string, SegmentState>;
  /** Returns the project of a flag, archived or not, or undefined for an unknown flag. */
  projectOf(flag: string): string | undefined;
  /** Reads all documents. Keeps cached documents that are newer. */
  load(): Promise<void>;
  /**
   * Applies the state of a document at a revision; undefined deletes the document. Returns whether evaluation changes.
   * Commits and events may deliver revisions repeatedly and in any order. The revision of an unchanged document grows
   * when another document begins to refer to it.
   */
  applyUpdate(key: DocumentKey, revision: number, state: unknown): boolean;
  /** Whether this revision of a document is newer than the known one. */
  isNewer(key: DocumentKey, revision: number): boolean;
  /** Returns a document from memory. */
  get(key: DocumentKey): Versioned<unknown> | undefined;
}

/** @param onFlag called with the new state and revision of every flag, archived or not; undefined after a deletion */
export function createDocumentCache(
  storage: Storage,
  onFlag: (name: string, state: FlagState | undefined, revision: number) => void = () => undefined,
): DocumentCache {
  const archived = new Map<string, string>();
  const flags = createCachedKind<FlagState>(
    flagDocuments,
    ({ archived }) => !archived,
    (id, state, revision) => {
      onFlag(id, state, revision);
      if (state?.archived) archived.set(id, state.project);
      else archived.delete(id);
    },
  );
  const segments = createCachedKind<SegmentState>(segmentDocuments, () => true);
  const kinds: readonly CachedKind[] = [segments, flags];
  const cacheOf = (kind: string) => kinds.find((shelf) => shelf.kind === kind);

  return {
    flags: flags.states,
    segments: segments.states,
    projectOf: (flag) => flags.states.get(flag)?.project ?? archived.get(flag),
    async load() {
      for (const shelf of kinds) {
        for (const { key, revision, body } of await readAll(storage, shelf.kind)) {
          shelf.applyUpdate(key.id, revision, body);
        }
      }
    },
    applyUpdate: ({ kind, id }, revision, state) => cacheOf(kind)?.applyUpdate(id, revision, state) ?? false,
    isNewer: ({ kind, id }, revision) => cacheOf(kind)?.isNewer(id, revision) ?? false,
    get: ({ kind, id }) => cacheOf(kind)?.get(id),
  };
}

/** Reads all documents of a kind. Shares them with a storage that keeps them in this process. */
async function readAll(storage: Storage, kind: string): Promise<readonly Omit<StoredDocument, 'parent'>[]> {
  if (storage.peek) {
    const listed = await storage.list({ kind, part: 'summary' });
    return listed.flatMap(({ key }) => storage.peek?.(key) ?? []);
  }
  const listed = await storage.list({ kind, part: 'body' });
  return listed.map(({ key, revision, content }) => ({ key, revision, body: content }));
}

/** The documents of one kind. */
interface CachedKind {
  readonly kind: string;
  applyUpdate(id: string, revision: number, state: unknown): boolean;
  isNewer(id: string, revision: number): boolean;
  get(id: string): Versioned<unknown> | undefined;
}

interface TypedCachedKind<State> extends CachedKind {
  readonly states: ReadonlyMap<string, State>;
}

function createCachedKind<State>(
  { kind }: Documents<State>,
  isLive: (state: State) => boolean,
  onUpdate: (id: string, state: State | undefined, revision: number) => void = () => undefined,
): TypedCachedKind<State> {
  const states = new Map<string, State>();
  // Keeps the revisions of deleted documents. A late update must not restore one, or overwrite a newer document. New
  // documents have no entry, because an import may create tens of thousands.
  const revisions = new Map<string, number>();
  const revisionOf = (id: string) => revisions.get(id) ?? (states.has(id) ? 1 : 0);
  const isNewer = (id: string, revision: number) => revision > revisionOf(id);
  return {
    kind,
    states,
    isNewer,
    get(id) {
      const state = states.get(id);
      return state && { state, revision: revisionOf(id) };
    },
    applyUpdate(id, revision, stored) {
      if (!isNewer(id, revision)) return false;
      const state = stored as State | undefined;
      const isKept = state !== undefined && isLive(state);
      if (revision > 1 || !isKept) revisions.set(id, revision);
      onUpdate(id, state, revision);
      if (!isKept) return states.delete(id);
      if (isSameJson(state, states.get(id))) return false;
      states.set(id, state);
      return true;
    },
  };
}
