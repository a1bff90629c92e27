import { always, type FieldReader, never, type Predicate } from './context.js';
import type { EvaluationContext, RolloutExplanation, TextEncoding } from './evaluation.types.js';
import { type HashedPrefix, hashPrefix, hashWith } from './murmur3.js';
import { shareOf } from './strategies.js';

/** A strategy's own condition, without its constraints and segments. */
export interface StrategyTest {
  readonly holds: Predicate;
  /** Evaluates the same condition with details. Present for strategies that hash. */
  readonly explain?: (context: EvaluationContext) => RolloutExplanation;
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
  /** Reads the id that is hashed. */
  readonly id: FieldReader;
  /** The meaning of a missing or empty id. */
  readonly withoutId: 'random' | 'off';
}

/** A class, because an instance may have tens of thousands of rollouts: closures would take twice the memory. */
export class Rollout implements StrategyTest {
  readonly holds: Predicate;
  readonly groupId: string;
  readonly id: FieldReader;
  readonly prefix: HashedPrefix;
  /** Buckets below this number are in the rollout. */
  readonly threshold: number;
  /** Decides for a missing id; undefined if a missing id means off. */
  readonly random: (() => number) | undefined;

  constructor({ groupId, percentage, id, withoutId }: RolloutSettings, { random, idEncoding }: StrategyContext) {
    this.groupId = groupId;
    this.id = id;
    this.prefix = hashPrefix(`${groupId}:`, SEED, idEncoding);
    this.threshold = shareOf(percentage);
    this.random = withoutId === 'random' ? random : undefined;
    this.holds = rolloutPredicate(this);
  }

  explain(context: EvaluationContext): RolloutExplanation {
    const id = this.id(context);
    const bucket = bucketOf(this, id);
    return {
      holds: bucket < this.threshold,
      groupId: this.groupId,
      ...(id && { id }),
      ...(bucket < BUCKETS && { bucket: bucket + 1 }),
      random: !id && this.random !== undefined,
      rollout: this.threshold,
    };
  }
}

/** Skips hashing if the result cannot depend on it. */
function rolloutPredicate(rollout: Rollout): Predicate {
  const { id, threshold } = rollout;
  if (threshold === 0) return never;
  if (threshold < BUCKETS) return (context) => bucketOf(rollout, id(context)) < threshold;
  return rollout.random ? always : (context) => Boolean(id(context));
}

/** Returns 0–99, or 100 if a missing id means off. */
function bucketOf({ prefix, random }: Rollout, id: string | undefined): number {
  // Integers on all paths compare faster.
  if (id) return ((hashWith(prefix, id) >>> 0) % BUCKETS) | 0;
  return random ? (random() * BUCKETS) | 0 : BUCKETS;
}

export const noId: FieldReader = () => undefined;
