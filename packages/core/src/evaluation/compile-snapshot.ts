import type { CustomStrategy } from '../api/custom-strategy.js';
import type { FlagDefinition, SegmentDefinition } from '../api/definitions.js';
import type { Impression } from '../api/evaluated.js';
import type { EvaluationProblem } from '../api/evaluation-problem.js';
import type { TextEncoding } from '../api/text-encoding.js';
import { FlagCompiler } from './flag-compiler.js';
import { ProblemReporter } from './problem.js';
import { Snapshot } from './snapshot.js';
import { UsageCounters } from './usage.js';

export interface SnapshotOptions {
  /** Of two with one name the later counts. */
  readonly flags: readonly FlagDefinition[];
  readonly segments?: readonly SegmentDefinition[];
  /** The host's own strategies. */
  readonly strategies?: readonly CustomStrategy[];
  /** The time for `DATE_*` constraints where a context has none: milliseconds since 1970, UTC. */
  readonly now: () => number;
  /** At least 0, below 1; for stickiness `random` and for contexts that have nothing to hash. `Math.random` when absent. */
  readonly random?: () => number;
  /** What the strategy `applicationHostname` compares with; it never holds when absent. */
  readonly hostname?: string;
  /** How ids that are not ASCII are hashed; `utf8` when absent. */
  readonly idEncoding?: TextEncoding;
  /** Those of the snapshot that this one follows, so that nothing counted is lost; new ones when absent. */
  readonly counters?: UsageCounters;
  /** Told once of each thing that is wrong with a definition. */
  readonly onProblem?: (problem: EvaluationProblem) => void;
  /** Told of every counted evaluation of a flag with `impressionData`, during the call. */
  readonly onImpression?: (impression: Impression) => void;
}

/**
 * Compiles the flags of one environment: all parsing happens here, evaluation only compares and hashes. It does not throw
 * for a definition that cannot be read: that flag is off, and reported.
 *
 * @example
 * const snapshot = compileSnapshot({ flags, segments, now: Date.now, onProblem: ({ message }) => log.warn(message) });
 * snapshot.isEnabled('checkout', { userId: 'ada' });
 */
export function compileSnapshot(options: SnapshotOptions): Snapshot {
  const { flags, segments = [], strategies = [], now, random = Math.random } = options;
  const { hostname, idEncoding = 'utf8', counters = new UsageCounters(), onProblem, onImpression } = options;
  const problems = new ProblemReporter(onProblem);
  const surroundings = { random, hostname, idEncoding };
  const custom = new Map(strategies.map((strategy) => [strategy.name, strategy]));
  const compiler = new FlagCompiler({ now, surroundings, strategies: custom, problems }, counters);
  const snapshot = Snapshot.empty({ compiler, counters, problems, onImpression }).with({ flags, segments });
  counters.retireAllBut((flag) => snapshot.definition(flag) !== undefined);
  return snapshot;
}
