import type { ChangeContext, ListPage, PageQuery } from '../base/common.types.js';
import type { Constraint } from '../evaluation/definitions.types.js';
import type { SegmentUse } from '../flags/strategy.types.js';

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

export interface SegmentOperations {
  /**
   * Creates a segment.
   *
   * If several callers create the same name concurrently, exactly one succeeds.
   *
   * @throws FlagsError `invalid_input`, `project_not_found`, `segment_exists`, `revision_mismatch` (with any
   * `ifRevision`)
   * @example
   * const { id } = await flags.createSegment({
   *   name: 'beta', constraints: [{ contextName: 'userId', operator: 'IN', values: ['7', '8'] }],
   * });
   * await flags.addStrategy(environment, { name: 'default', segments: [id] });
   */
  createSegment(input: NewSegment, context?: ChangeContext): Promise<Segment>;

  /**
   * Changes a segment for all strategies that use it.
   *
   * If a strategy of another project starts to use the segment while `project` changes, exactly one of both calls
   * succeeds.
   *
   * @throws FlagsError `invalid_input`, `segment_not_found`, `segment_exists`, `project_not_found`, `segment_in_use`
   * (flags of other projects than the new `project` use it), `revision_mismatch`
   * @example
   * await flags.updateSegment({ segment: id }, { constraints: [] });
   */
  updateSegment(ref: SegmentRef, changes: SegmentChanges, context?: ChangeContext): Promise<Segment>;

  /**
   * Deletes a segment that no strategy uses, including strategies of archived flags.
   *
   * If a strategy starts to use the segment concurrently, exactly one of both calls succeeds.
   *
   * @throws FlagsError `segment_not_found`, `segment_in_use`, `revision_mismatch`
   * @example
   * await flags.deleteSegment({ segment: id });
   */
  deleteSegment(ref: SegmentRef, context?: ChangeContext): Promise<void>;

  /**
   * Gets one segment.
   *
   * @throws FlagsError `segment_not_found`
   * @example
   * const { constraints } = await flags.getSegment({ segment: id });
   */
  getSegment(ref: SegmentRef): Promise<Segment>;

  /**
   * Lists segments, or those of one strategy, by id. A page has at most 1 MiB.
   *
   * @example
   * const { items } = await flags.listSegments();
   * const names = items.map((segment) => segment.name);
   */
  listSegments(query?: SegmentQuery, page?: PageQuery): Promise<ListPage<Segment>>;

  /**
   * Lists all strategies that use a segment, including those of archived flags, by flag name.
   *
   * @throws FlagsError `segment_not_found`
   * @example
   * const { items } = await flags.listSegmentUses({ segment: id });
   * const flagsThatUseIt = items.map((use) => use.flag);
   */
  listSegmentUses(ref: SegmentRef): Promise<ListPage<SegmentUse>>;
}
