import { deepFreeze, isSameJson } from '../base/json.js';
import { type FlagState, flagDocuments } from '../flags/flag.js';
import { type SegmentState, segmentDocuments } from '../segments/segment.js';
import type { Documents, Versioned } from '../storage/documents.js';
import type { DocumentKey, FlagsStorage, StoredDocument } from '../storage/port.js';

/** Holds all flags, archived ones too, and all segments in memory. Their states are frozen. */
export interface DocumentCache {
  readonly flags: ReadonlyMap<string, FlagState>;
  readonly segments: ReadonlyMap<string, SegmentState>;
  /** Reads all documents. Keeps cached documents that are newer. */
  load(): Promise<void>;
  /**
   * Applies the state of a document at a revision; undefined deletes the document. Returns whether the state changes.
   * Commits and events may deliver revisions repeatedly and in any order. The revision of an unchanged document grows
   * when another document begins to refer to it.
   */
  applyUpdate(key: DocumentKey, revision: number, state: unknown): boolean;
  /** Takes the documents of another cache, also older revisions. Returns the keys of the documents that change. */
  replaceBy(other: DocumentCache): readonly DocumentKey[];
  /** Whether this revision of a document is newer than the known one. */
  isNewer(key: DocumentKey, revision: number): boolean;
  /** Returns a document from memory. */
  get(key: DocumentKey): Versioned<unknown> | undefined;
}

export function createDocumentCache(storage: FlagsStorage): DocumentCache {
  const flags = createCachedKind<FlagState>(flagDocuments);
  const segments = createCachedKind<SegmentState>(segmentDocuments);
  const kinds: readonly CachedKind<unknown>[] = [segments, flags];
  const cacheOf = (kind: string) => kinds.find((one) => one.kind === kind);

  return {
    flags: flags.states,
    segments: segments.states,
    async load() {
      for (const { kind, applyUpdate } of kinds) {
        for (const { key, revision, body } of await readAll(storage, kind)) applyUpdate(key.id, revision, body);
      }
    },
    applyUpdate: ({ kind, id }, revision, state) => cacheOf(kind)?.applyUpdate(id, revision, state) ?? false,
    replaceBy: (other) => kinds.flatMap((one) => one.replaceBy(other)),
    isNewer: ({ kind, id }, revision) => cacheOf(kind)?.isNewer(id, revision) ?? false,
    get: ({ kind, id }) => cacheOf(kind)?.get(id),
  };
}

/** Reads all documents of a kind. Shares them with a storage that keeps them in this process. */
async function readAll(storage: FlagsStorage, kind: string): Promise<readonly Omit<StoredDocument, 'parent'>[]> {
  if (storage.peek) {
    const listed = await storage.list({ kind, part: 'summary' });
    return listed.flatMap(({ key }) => storage.peek?.(key) ?? []);
  }
  const listed = await storage.list({ kind, part: 'body' });
  return listed.map(({ key, revision, content }) => ({ key, revision, body: content }));
}

/** The documents of one kind. */
interface CachedKind<State> {
  readonly kind: string;
  readonly states: ReadonlyMap<string, State>;
  applyUpdate(id: string, revision: number, state: unknown): boolean;
  isNewer(id: string, revision: number): boolean;
  replaceBy(other: DocumentCache): readonly DocumentKey[];
  get(id: string): Versioned<State> | undefined;
}

function createCachedKind<State>({ kind }: Documents<State>): CachedKind<State> {
  const states = new Map<string, State>();
  // Keeps the revisions of deleted documents. A late update must not restore one, or overwrite a newer document.
  const revisions = new Map<string, number>();
  const revisionOf = (id: string) => revisions.get(id) ?? 0;
  const isNewer = (id: string, revision: number) => revision > revisionOf(id);
  return {
    kind,
    states,
    isNewer,
    replaceBy(other) {
      const found = kind === flagDocuments.kind ? other.flags : other.segments;
      revisions.clear();
      for (const id of found.keys()) revisions.set(id, other.get({ kind, id })?.revision ?? 0);
      const changed = [...new Set([...states.keys(), ...found.keys()])].filter((id) => {
        return !isSameJson(states.get(id), found.get(id));
      });
      for (const id of changed) {
        const state = found.get(id);
        if (state === undefined) states.delete(id);
        else states.set(id, state as State);
      }
      return changed.map((id) => ({ kind, id }));
    },
    get(id) {
      const state = states.get(id);
      return state && { state, revision: revisionOf(id) };
    },
    applyUpdate(id, revision, state) {
      if (!isNewer(id, revision)) return false;
      revisions.set(id, revision);
      if (state === undefined) return states.delete(id);
      if (isSameJson(state, states.get(id))) return false;
      states.set(id, deepFreeze(state as State));
      return true;
    },
  };
}
