import type { ChangeContext, ListPage, PageQuery } from '../../base/common.types.js';
import { Namespace, run } from '../../kernel/changes/run-operation.js';
import type { SegmentUse } from '../flags/strategy.types.js';
import { segmentOperations as operations } from './segment.operations.js';
import type { NewSegment, Segment, SegmentChanges, SegmentQuery, SegmentRef } from './segment.types.js';

/** Constraints with a name, which strategies of many flags share: `flags.segments`. */
export class Segments extends Namespace {
  /**
   * Creates a segment.
   *
   * If several callers create the same name concurrently, exactly one succeeds.
   *
   * @throws FlagsError `invalid_input`, `project_not_found`, `segment_exists`, `revision_mismatch` (with any
   * `ifRevision`)
   * @example
   * const { id } = await flags.segments.create({
   *   name: 'beta', constraints: [{ contextName: 'userId', operator: 'IN', values: ['7', '8'] }],
   * });
   * await flags.addStrategy(environment, { name: 'default', segments: [id] });
   */
  create(input: NewSegment, context?: ChangeContext): Promise<Segment> {
    return run(this, operations.createSegment, { input, context });
  }

  /**
   * Changes a segment for all strategies that use it.
   *
   * If a strategy of another project starts to use the segment while `project` changes, exactly one of both calls
   * succeeds.
   *
   * @throws FlagsError `invalid_input`, `segment_not_found`, `segment_exists`, `project_not_found`, `segment_in_use`
   * (flags of other projects than the new `project` use it), `revision_mismatch`
   * @example
   * await flags.segments.update({ segment: id }, { constraints: [] });
   */
  update(ref: SegmentRef, changes: SegmentChanges, context?: ChangeContext): Promise<Segment> {
    return run(this, operations.updateSegment, { ref, input: changes, context });
  }

  /**
   * Deletes a segment that no strategy uses, including strategies of archived flags.
   *
   * If a strategy starts to use the segment concurrently, exactly one of both calls succeeds.
   *
   * @throws FlagsError `segment_not_found`, `segment_in_use`, `revision_mismatch`
   * @example
   * await flags.segments.delete({ segment: id });
   */
  delete(ref: SegmentRef, context?: ChangeContext): Promise<void> {
    return run(this, operations.deleteSegment, { ref, context });
  }

  /**
   * Gets one segment.
   *
   * @throws FlagsError `segment_not_found`
   * @example
   * const { constraints } = await flags.segments.get({ segment: id });
   */
  get(ref: SegmentRef): Promise<Segment> {
    return run(this, operations.getSegment, { ref });
  }

  /**
   * Lists segments, or those of one strategy, by id. A page has at most 1 MiB.
   *
   * @example
   * const { items } = await flags.segments.list();
   * const names = items.map((segment) => segment.name);
   */
  list(query?: SegmentQuery, page?: PageQuery): Promise<ListPage<Segment>> {
    return run(this, operations.listSegments, { ref: query, context: page });
  }

  /**
   * Lists all strategies that use a segment, including those of archived flags, by flag name.
   *
   * @throws FlagsError `segment_not_found`
   * @example
   * const { items } = await flags.segments.listUses({ segment: id });
   * const flagsThatUseIt = items.map((use) => use.flag);
   */
  listUses(ref: SegmentRef): Promise<ListPage<SegmentUse>> {
    return run(this, operations.listSegmentUses, { ref });
  }
}
