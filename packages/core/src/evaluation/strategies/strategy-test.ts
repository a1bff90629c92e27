import type { Parameters } from '../../api/strategies.js';
import type { EvaluationContext, Predicate } from '../context.js';
import type { TextEncoding } from '../hashing/text-encoding.js';

/** What a strategy itself asks, besides its constraints and segments. */
export interface StrategyTest {
  readonly holds: Predicate;
  /** The same decision with how it came about. For strategies that hash: the others only hold or not. */
  readonly explain?: (context: EvaluationContext) => RolloutExplanation;
}

/** How a rollout came out for a context. */
export interface RolloutExplanation {
  readonly holds: boolean;
  /** The text that was hashed is `groupId:id`. Absent where the id was missing. */
  readonly groupId: string;
  readonly id?: string;
  /** 1–100: the hash of the id, or drawn at random where there was none; absent where a missing id means off. */
  readonly bucket?: number;
  readonly random: boolean;
  /** Buckets up to this one are in, 0–100. */
  readonly rollout: number;
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
