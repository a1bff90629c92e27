import type { Constraint } from '../../evaluation/definitions.types.js';

/** Named constraints that strategies of many flags share. All constraints must hold. */
export interface Segment {
  /** A positive integer that the service assigns and never reuses. */
  readonly id: number;
  /** Unique; 1–100 characters. */
  readonly name: string;
  readonly description: string;
  readonly constraints: readonly Constraint[];
  /** The id of the only project whose flags may use the segment; null if all projects may. */
  readonly project: string | null;
  /** ISO 8601, UTC, milliseconds. */
  readonly createdAt: string;
  readonly createdBy: string;
  /** Increases with every change of the segment, and when a flag starts to use it. Pass it as `ifRevision`. */
  readonly revision: number;
}

/** A segment to create. */
export interface NewSegment {
  readonly name: string;
  /** Default: `''`. */
  readonly description?: string;
  readonly constraints: readonly Constraint[];
  /** The id of the only project whose flags may use the segment; absent or null if all projects may. */
  readonly project?: string | null;
}

/** Absent members stay unchanged. */
export type SegmentChanges = Partial<NewSegment>;

/** Names a segment by its id. */
export interface SegmentRef {
  readonly segment: number;
  /**
   * The project that the segment must belong to; null: the instance. A segment that has moved throws
   * `segment_not_found`. Default: any project.
   */
  readonly project?: string | null;
}

/** Selects segments. */
export interface SegmentQuery {
  /** A strategy's id: lists only the segments of that strategy; none if it does not exist. */
  readonly strategy?: string;
}
