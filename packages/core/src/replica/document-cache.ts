import { type Documents, flagDocuments, segmentDocuments, type Versioned } from '../changes/aggregate.js';
import type { FlagState } from '../flags/flag.js';
import type { SegmentState } from '../segments/segment.js';
import type { DocumentKey, Storage } from '../storage/port.js';
import { isSameJson } from '../validation/json.js';

/** What evaluation is made from, in memory: every flag that is not archived, and every segment. */
export interface LiveDocuments {
  readonly flags: ReadonlyMap<string, FlagState>;
  readonly segments: ReadonlyMap<string, SegmentState>;
  /** The project of a flag, archived or not; undefined when there is no such flag. */
  projectOf(flag: string): string | undefined;
  /** Reads all documents; what was known before is kept where it is newer. */
  load(): Promise<void>;
  /**
   * Takes a document as it is at a revision; undefined when it is deleted. False when nothing that is evaluated changes
   * by it: commits of this process, and events of others, may tell of one revision in any order and more than once, and
   * a document's revision also moves when only others begin to refer to it.
   */
  take(key: DocumentKey, revision: number, state: unknown): boolean;
  /** Whether a document at this revision would be news. */
  isNews(key: DocumentKey, revision: number): boolean;
  /** A document as it is in memory. */
  known(key: DocumentKey): Versioned<unknown> | undefined;
}

export function createLiveDocuments(storage: Storage): LiveDocuments {
  const archived = new Map<string, string>();
  const flags = createShelf<FlagState>(
    flagDocuments,
    ({ archived }) => !archived,
    (id, state) => {
      if (state?.archived) archived.set(id, state.project);
      else archived.delete(id);
    },
  );
  const segments = createShelf<SegmentState>(segmentDocuments, () => true);
  const shelves: readonly Shelf[] = [segments, flags];
  const shelfOf = (kind: string) => shelves.find((shelf) => shelf.kind === kind);

  return {
    flags: flags.states,
    segments: segments.states,
    projectOf: (flag) => flags.states.get(flag)?.project ?? archived.get(flag),
    async load() {
      for (const shelf of shelves) {
        const listed = await storage.list({ kind: shelf.kind, part: 'body' });
        for (const { key, revision, content } of listed) shelf.take(key.id, revision, content);
      }
    },
    take: ({ kind, id }, revision, state) => shelfOf(kind)?.take(id, revision, state) ?? false,
    isNews: ({ kind, id }, revision) => shelfOf(kind)?.isNews(id, revision) ?? false,
    known: ({ kind, id }) => shelfOf(kind)?.known(id),
  };
}

/** The documents of one kind. */
interface Shelf {
  readonly kind: string;
  take(id: string, revision: number, state: unknown): boolean;
  isNews(id: string, revision: number): boolean;
  known(id: string): Versioned<unknown> | undefined;
}

interface TypedShelf<State> extends Shelf {
  readonly states: ReadonlyMap<string, State>;
}

function createShelf<State>(
  { kind }: Documents<State>,
  isLive: (state: State) => boolean,
  onTaken: (id: string, state: State | undefined) => void = () => undefined,
): TypedShelf<State> {
  const states = new Map<string, State>();
  // Those of deleted documents too: their names may come again, and late news of the old ones must not.
  const revisions = new Map<string, number>();
  const isNews = (id: string, revision: number) => revision > (revisions.get(id) ?? 0);
  return {
    kind,
    states,
    isNews,
    known(id) {
      const state = states.get(id);
      return state && { state, revision: revisions.get(id) ?? 0 };
    },
    take(id, revision, stored) {
      if (!isNews(id, revision)) return false;
      revisions.set(id, revision);
      const state = stored as State | undefined;
      onTaken(id, state);
      if (state === undefined || !isLive(state)) return states.delete(id);
      if (isSameJson(state, states.get(id))) return false;
      states.set(id, state);
      return true;
    },
  };
}
