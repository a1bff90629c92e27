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
