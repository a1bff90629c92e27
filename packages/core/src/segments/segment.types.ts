import type { ChangeContext, Page, PageQuery } from '../common.types.js';
import type { Constraint } from '../flags/strategy.types.js';

/** Constraints under a name, for strategies of many flags to share; all must hold. */
export interface Segment {
  /** A positive integer, given by the service and never used again. */
  readonly id: number;
  /** Unique; 1–100 characters. */
  readonly name: string;
  readonly description: string;
  readonly constraints: readonly Constraint[];
  /** The id of the only project whose flags may use it; null: flags of every project may. */
  readonly project: string | null;
  /** ISO 8601, UTC, milliseconds. */
  readonly createdAt: string;
  readonly createdBy: string;
  /** Changes with every change to the segment, and when a flag begins to use it; give it back as `ifRevision`. */
  readonly revision: number;
}

export interface NewSegment {
  readonly name: string;
  /** `''` when absent. */
  readonly description?: string;
  readonly constraints: readonly Constraint[];
  /** The id of the only project whose flags may use it; absent or null: flags of every project may. */
  readonly project?: string | null;
}

/** Absent members stay as they are. */
export type SegmentChanges = Partial<NewSegment>;

export interface SegmentRef {
  readonly segment: number;
}

export interface SegmentQuery {
  /** A strategy's id: only the segments that it uses; none when there is no such strategy. */
  readonly strategy?: string;
}

/** A strategy that uses a segment. */
export interface SegmentUse {
  readonly project: string;
  readonly flag: string;
  readonly environment: string;
  /** The strategy's id. */
  readonly strategy: string;
}

export interface SegmentOperations {
  /**
   * Creates a segment. Of simultaneous creations of one name exactly one succeeds.
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
   * Changes a segment, for all strategies that use it at once. Crossing with a strategy of another project that begins to
   * use it, exactly one of the two succeeds.
   *
   * @throws FlagsError `invalid_input`, `segment_not_found`, `segment_exists`, `project_not_found`, `segment_in_use`
   * (flags of other projects than the new `project` use it), `revision_mismatch`
   * @example
   * await flags.updateSegment({ segment: id }, { constraints: [] });
   */
  updateSegment(ref: SegmentRef, changes: SegmentChanges, context?: ChangeContext): Promise<Segment>;

  /**
   * Deletes a segment that no strategy uses, archived flags included. Of this and a strategy that begins to use the segment at
   * the same moment, exactly one succeeds.
   *
   * @throws FlagsError `segment_not_found`, `segment_in_use`, `revision_mismatch`
   * @example
   * await flags.deleteSegment({ segment: id });
   */
  deleteSegment(ref: SegmentRef, context?: ChangeContext): Promise<void>;

  /**
   * One segment.
   *
   * @throws FlagsError `segment_not_found`
   * @example
   * const { constraints } = await flags.getSegment({ segment: id });
   */
  getSegment(ref: SegmentRef): Promise<Segment>;

  /**
   * All segments, or those that one strategy uses, by id.
   *
   * @example
   * const names = (await flags.listSegments()).map((segment) => segment.name);
   */
  listSegments(query?: SegmentQuery): Promise<readonly Segment[]>;
  /** Returns one page, of at most 1 MiB. */
  listSegments(query: SegmentQuery, page: PageQuery): Promise<Page<Segment>>;

  /**
   * The strategies that use a segment, archived flags' included, by flag name.
   *
   * @throws FlagsError `segment_not_found`
   * @example
   * const flagsThatUseIt = (await flags.listSegmentUses({ segment: id })).map((use) => use.flag);
   */
  listSegmentUses(ref: SegmentRef): Promise<readonly SegmentUse[]>;
}
