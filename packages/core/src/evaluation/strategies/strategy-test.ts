import type { EvaluationContext } from '../../api/evaluation-context.js';
import type { RolloutExplanation } from '../../api/explanation.js';
import type { Parameters } from '../../api/strategies.js';
import type { TextEncoding } from '../../api/text-encoding.js';
import type { Predicate } from '../context.js';

/** What a strategy itself asks, besides its constraints and segments. */
export interface StrategyTest {
  readonly holds: Predicate;
  /** The same decision with how it came about. For strategies that hash: the others only hold or not. */
  readonly explain?: (context: EvaluationContext) => RolloutExplanation;
}

/** What evaluation gets from its surroundings. */
export interface Surroundings {
  /** At least 0, below 1. */
  readonly random: () => number;
  /** What `applicationHostname` compares with. */
  readonly hostname: string | undefined;
  readonly idEncoding: TextEncoding;
}

export type StrategyTestFactory = (parameters: Parameters, surroundings: Surroundings) => StrategyTest;
