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

/** Who changes something, and which state they have seen. Every operation that changes anything takes one last. */
export interface ChangeContext {
  /** Who the change is attributed to in the event log; the instance's default actor when absent. */
  readonly actor?: string;
  /**
   * The revision, or revisions, of the document (flag, project, segment) that the caller has seen. When the document has
   * moved on, or does not exist yet, the operation fails with `revision_mismatch` and changes nothing.
   */
  readonly ifRevision?: number | readonly number[];
  /**
   * Your own permission check: called before a strategy begins to use a segment, when a strategy is added, updated or
   * patched. Segments that the strategy already uses are not asked about. What it throws, or rejects with, refuses the
   * change. It may be called again for the same segment when the change is retried.
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

/** Which part of a long list to read. */
export interface PageQuery {
  /** At most so many, 1–1000; 100 when absent. */
  readonly limit?: number | undefined;
  /** The `next` of the page before; from the beginning when absent. */
  readonly after?: string | undefined;
}

/**
 * A part of a long list, in the list's order. Reading from page to page brings everything that is there all the while
 * exactly once, whatever is created and deleted between one page and the next; the pages together are no consistent view.
 */
export interface Page<Item> {
  /** As many as the limit, but on the last page; fewer where the items are large. */
  readonly items: readonly Item[];
  /** Where the next page begins, to be passed as `after`; absent on the last page. It stays valid for as long as you like. */
  readonly next?: string;
}

/** A value, or a promise of it: what a synchronous and an asynchronous storage can both give. */
export type Awaitable<T> = T | PromiseLike<T>;
