import type { Constraint } from '../../evaluation/definitions.types.js';
import type { Documents } from '../../storage/document-reader.js';

/** The stored state of a segment: one document. */
export interface SegmentState extends SegmentContent {
  readonly id: number;
  readonly createdAt: string;
  readonly createdBy: string;
}

export interface SegmentContent {
  readonly name: string;
  readonly description: string;
  readonly constraints: readonly Constraint[];
  /** Absent if the segment belongs to the instance. */
  readonly project?: string;
}

/** Keeps ids and names unique across all segments: one document that every creation, renaming and deletion writes. */
export interface SegmentRegistry {
  /** The highest id that a segment has ever had. Never falls. */
  readonly lastId: number;
  /** The names in use. */
  readonly names: readonly string[];
}

export const NO_SEGMENTS: SegmentRegistry = { lastId: 0, names: [] };

/** A single document with the id {@link SEGMENT_REGISTRY}. */
export const segmentRegistries: Documents<SegmentRegistry> = { kind: 'segment-registry', parentOf: () => null };
export const SEGMENT_REGISTRY = 'all';
