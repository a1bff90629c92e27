import type { FlagState } from '../domain/flag.js';
import type { SegmentState } from '../domain/segment.js';
import type { Documents, Versioned } from '../engine/aggregate.js';
import { flagDocuments, segmentDocuments } from '../engine/aggregates.js';
import type { DocumentKey, ListedDocument, Storage } from '../storage/port.js';

/** What evaluation is made from, in memory: every flag that is not archived, and every segment. */
export interface LiveDocuments {
  readonly flags: ReadonlyMap<string, FlagState>;
  readonly segments: ReadonlyMap<string, SegmentState>;
  /** Reads all documents; what was known before is kept where it is newer. */
  load(): Promise<void>;
  /**
   * Takes a document as it is at a revision; undefined when it is deleted. False when that is not news: commits of this
   * process, and events of others, may tell of one revision in any order and more than once.
   */
  take(key: DocumentKey, revision: number, state: unknown): boolean;
  /** The latest revision that was taken; 0 for none. */
  revisionOf(key: DocumentKey): number;
}

interface Shelf<State> {
  readonly documents: Documents<State>;
  readonly states: Map<string, State>;
  /** Of deleted documents too: their names may come again, and late news of the old ones must not. */
  readonly revisions: Map<string, number>;
  readonly isLive: (state: State) => boolean;
}

export function createLiveDocuments(storage: Storage): LiveDocuments {
  const flags = createShelf<FlagState>(flagDocuments, ({ archived }) => !archived);
  const segments = createShelf<SegmentState>(segmentDocuments, () => true);

  const shelves = [segments, flags] as readonly Shelf<never>[];
  const shelfOf = (kind: string) => shelves.find(({ documents }) => documents.kind === kind);

  return {
    flags: flags.states,
    segments: segments.states,
    async load() {
      for (const shelf of shelves) {
        const listed = await storage.list({ kind: shelf.documents.kind, part: 'body' });
        for (const document of listed) place(shelf, document.key.id, versioned(document));
      }
    },
    take(key, revision, state) {
      const shelf = shelfOf(key.kind);
      return shelf !== undefined && place(shelf, key.id, { state: state as never, revision });
    },
    revisionOf: ({ kind, id }) => shelfOf(kind)?.revisions.get(id) ?? 0,
  };
}

function createShelf<State>(documents: Documents<State>, isLive: (state: State) => boolean): Shelf<State> {
  return { documents, states: new Map(), revisions: new Map(), isLive };
}

function versioned({ content, revision }: ListedDocument): Versioned<never> {
  return { state: content as never, revision };
}

function place<State>(
  { states, revisions, isLive }: Shelf<State>,
  id: string,
  { state, revision }: Versioned<State | undefined>,
): boolean {
  if (revision <= (revisions.get(id) ?? 0)) return false;
  revisions.set(id, revision);
  if (state !== undefined && isLive(state)) states.set(id, state);
  else states.delete(id);
  return true;
}
