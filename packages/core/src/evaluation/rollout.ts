import type { Condition, ContextField } from './context.js';
import type { EvaluationContext, RolloutExplanation, TextEncoding } from './evaluation.types.js';
import { HashedPrefix, hashWith } from './murmur3.js';
import { shareOf } from './strategies.js';

/** A strategy's own condition, without its constraints and segments. */
export interface StrategyTest extends Condition {
  /** Evaluates the same condition with details. Present for strategies that hash. */
  explain?(context: EvaluationContext): RolloutExplanation;
}

/** Settings of the snapshot that strategies and variants use. */
export interface StrategyContext {
  /** Returns a number from 0 (inclusive) to 1 (exclusive). */
  readonly random: () => number;
  /** Compared by `applicationHostname`. */
  readonly hostname: string | undefined;
  readonly idEncoding: TextEncoding;
}

const SEED = 0;
const BUCKETS = 100;

interface RolloutSettings {
  readonly groupId: string;
  readonly percentage: unknown;
  /** The id that is hashed. */
  readonly id: ContextField;
  /** The meaning of a missing or empty id. */
  readonly withoutId: 'random' | 'off';
}

/** Hashes an id with the group. One object, because an instance may have tens of thousands of rollouts. */
export class Rollout extends HashedPrefix implements StrategyTest {
  private readonly groupId: string;
  private readonly id: ContextField;
  /** Buckets below this number are in the rollout. */
  private readonly threshold: number;
  /** Decides for a missing id; undefined if a missing id means off. */
  private readonly random: (() => number) | undefined;

  constructor({ groupId, percentage, id, withoutId }: RolloutSettings, { random, idEncoding }: StrategyContext) {
    super(`${groupId}:`, SEED, idEncoding);
    this.groupId = groupId;
    this.id = id;
    this.threshold = shareOf(percentage);
    this.random = withoutId === 'random' ? random : undefined;
  }

  /** Skips hashing if the result cannot depend on it. */
  holds(context: EvaluationContext): boolean {
    const { threshold } = this;
    if (threshold === 0) return false;
    if (threshold < BUCKETS) return this.bucketOf(this.id.read(context)) < threshold;
    return this.random !== undefined || Boolean(this.id.read(context));
  }

  explain(context: EvaluationContext): RolloutExplanation {
    const id = this.id.read(context);
    const bucket = this.bucketOf(id);
    return {
      holds: bucket < this.threshold,
      groupId: this.groupId,
      ...(id && { id }),
      ...(bucket < BUCKETS && { bucket: bucket + 1 }),
      random: !id && this.random !== undefined,
      rollout: this.threshold,
    };
  }

  /** Returns 0–99, or 100 if a missing id means off. */
  private bucketOf(id: string | undefined): number {
    // Integers on all paths compare faster.
    if (id) return ((hashWith(this, id) >>> 0) % BUCKETS) | 0;
    return this.random ? (this.random() * BUCKETS) | 0 : BUCKETS;
  }
}
