import type { FlagDefinition, SegmentDefinition } from '../api/definitions.js';

/** What changed since a snapshot; what is given replaces what has the same name or id. */
export interface SnapshotChange {
  readonly flags?: readonly FlagDefinition[];
  /** Names; a flag that is also given is kept. */
  readonly removedFlags?: readonly string[];
  readonly segments?: readonly SegmentDefinition[];
  /** Ids; a segment that is also given is kept. */
  readonly removedSegments?: readonly number[];
}
