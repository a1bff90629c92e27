/** Names a project by its id. */
export interface ProjectRef {
  readonly project: string;
}

/** Names a flag. A flag is found only under the project that owns it. */
export interface FlagRef extends ProjectRef {
  readonly flag: string;
}

/** Names one flag's configuration in one environment. */
export interface EnvironmentRef extends FlagRef {
  readonly environment: string;
}

/** Names one strategy, by its id, in one environment of a flag. */
export interface StrategyRef extends EnvironmentRef {
  readonly strategy: string;
}

/** Names an application that reports metrics. */
export interface ApplicationRef {
  readonly application: string;
}

/** The actor and the preconditions of a change. Every operation that changes something takes one last. */
export interface ChangeContext {
  /** The actor in the event log; the instance's default actor when absent. */
  readonly actor?: string;
  /**
   * The revision of the document (flag, project, segment) that the caller has read. If the document is at another
   * revision, or does not exist, the operation fails with `revision_mismatch` and changes nothing. A list accepts any of
   * its revisions, as the HTTP header `If-Match` does.
   */
  readonly ifRevision?: number | readonly number[];
  /**
   * Your own permission check. The engine calls it before an added, updated or patched strategy begins to use a segment,
   * but not for segments that the strategy already uses. Throw, or reject, to refuse the change. A retry of the change
   * may call it again for the same segment.
   */
  readonly onSegmentUse?: (segment: SegmentUseRequest) => void | Promise<void>;
}

/** A segment that a strategy is about to use. */
export interface SegmentUseRequest {
  readonly segment: number;
  /** The project that the segment belongs to; null: the instance. */
  readonly project: string | null;
}

/** One operation of a JSON Patch (RFC 6902). `path` and `from` are JSON Pointers. */
export type JsonPatchOperation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string }
  | { readonly op: 'move' | 'copy'; readonly from: string; readonly path: string };

/** Operations in order; all are applied, or none. */
export type JsonPatch = readonly JsonPatchOperation[];

/** Selects a page of a list. */
export interface PageQuery {
  /** The largest number of items, 1–1000; 100 when absent. */
  readonly limit?: number | undefined;
  /** The `next` of the previous page; the first page when absent. */
  readonly after?: string | undefined;
}

/**
 * A page of a list, in the list's order. Reading page by page returns every item that exists throughout exactly once. The
 * pages are not one consistent view: items may be created and deleted between them.
 */
export interface Page<Item> {
  /** As many as the limit; fewer on the last page, or if the items are large. */
  readonly items: readonly Item[];
  /** The cursor to pass as `after`; absent on the last page. It never expires. */
  readonly next?: string;
}

/** A value, or a promise of it. */
export type Awaitable<T> = T | PromiseLike<T>;
