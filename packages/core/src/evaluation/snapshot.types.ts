import type { FlagDefinition, SegmentDefinition, StrategyDefinition } from './definitions.types.js';
import type {
  CustomStrategy,
  EvaluationProblem,
  Impression,
  RolloutExplanation,
  TextEncoding,
} from './evaluated.types.js';
import type { UsageCounters } from './usage.js';

/** What a hashing strategy draws for a context. */
export interface StrategyRollout {
  readonly definition: StrategyDefinition;
  readonly rollout: RolloutExplanation;
}

/** A change of a snapshot. A given flag or segment replaces that of the same name or id. */
export interface SnapshotChange {
  readonly flags?: readonly FlagDefinition[];
  /** Names of flags. A flag that is also in `flags` is kept. */
  readonly removedFlags?: readonly string[];
  readonly segments?: readonly SegmentDefinition[];
  /** Ids of segments. A segment that is also in `segments` is kept. */
  readonly removedSegments?: readonly number[];
}

export interface SnapshotOptions {
  /** If two flags have the same name, the later one counts. */
  readonly flags: readonly FlagDefinition[];
  /**
   * Compile each flag when it is first evaluated, and report its problems then. The definitions must have names, and must
   * not change. Default: false.
   */
  readonly isLazy?: boolean;
  readonly segments?: readonly SegmentDefinition[];
  /** Strategies that the host implements. */
  readonly strategies?: readonly CustomStrategy[];
  /** Returns the time for `DATE_*` constraints if the context has none: milliseconds since 1970, UTC. */
  readonly now: () => number;
  /**
   * Returns a number from 0 (inclusive) to 1 (exclusive), for stickiness `random` and for contexts without an id.
   * Default: `Math.random`.
   */
  readonly random?: () => number;
  /** The host name for the strategy `applicationHostname`, which never holds without one. */
  readonly hostname?: string;
  /** How non-ASCII ids are hashed. Default: `utf8`. */
  readonly idEncoding?: TextEncoding;
  /** The counters of the previous snapshot, so that no counts are lost. Default: new counters. */
  readonly counters?: UsageCounters;
  /** Called once for each problem with a definition or an evaluation. */
  readonly onProblem?: (problem: EvaluationProblem) => void;
  /** Called during every counted evaluation of a flag with `impressionData`. */
  readonly onImpression?: (impression: Impression) => void;
}
