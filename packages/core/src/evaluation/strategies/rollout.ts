import type { EvaluationContext } from '../../api/evaluation-context.js';
import type { RolloutExplanation } from '../../api/explanation.js';
import { always, never, type Predicate } from '../context.js';
import type { FieldReader } from '../context-field.js';
import { type HashedPrefix, hashPrefix, hashWith } from '../hashing/murmur3.js';
import type { StrategyTest, Surroundings } from './strategy-test.js';

const SEED = 0;
const BUCKETS = 100;

export interface RolloutSettings {
  readonly groupId: string;
  /** Percentage; NaN is none. */
  readonly percentage: number;
  /** Whose bucket it is. */
  readonly id: FieldReader;
  /** What a missing or empty id means. */
  readonly withoutId: 'random' | 'off';
}

interface Rollout {
  readonly id: FieldReader;
  readonly prefix: HashedPrefix;
  /** Buckets below it are in. */
  readonly threshold: number;
  readonly bucketWithoutId: () => number;
}

export function rolloutTest(settings: RolloutSettings, { random, idEncoding }: Surroundings): StrategyTest {
  const rollout: Rollout = {
    id: settings.id,
    prefix: hashPrefix(`${settings.groupId}:`, SEED, idEncoding),
    threshold: settings.percentage > 0 ? Math.min(Math.floor(settings.percentage), BUCKETS) : 0,
    bucketWithoutId: settings.withoutId === 'random' ? () => Math.floor(random() * BUCKETS) : () => BUCKETS,
  };
  return {
    holds: rolloutPredicate(rollout, settings),
    explain: (context) => explainRollout(rollout, settings, context),
  };
}

/** What cannot depend on the hash is decided without it. */
function rolloutPredicate(rollout: Rollout, settings: RolloutSettings): Predicate {
  const { id, threshold } = rollout;
  if (threshold === 0) return never;
  if (threshold < BUCKETS) return (context) => bucketOf(rollout, id(context)) < threshold;
  return settings.withoutId === 'random' ? always : (context) => Boolean(id(context));
}

/** 0–99, or 100 for nobody. */
function bucketOf(rollout: Rollout, id: string | undefined): number {
  // An integer either way: where one way is a float the engine compares floats.
  return id ? ((hashWith(rollout.prefix, id) >>> 0) % BUCKETS) | 0 : rollout.bucketWithoutId() | 0;
}

function explainRollout(rollout: Rollout, settings: RolloutSettings, context: EvaluationContext): RolloutExplanation {
  const id = rollout.id(context);
  const bucket = bucketOf(rollout, id);
  return {
    holds: bucket < rollout.threshold,
    groupId: settings.groupId,
    ...(id && { id }),
    ...(bucket < BUCKETS && { bucket: bucket + 1 }),
    random: !id && settings.withoutId === 'random',
    rollout: rollout.threshold,
  };
}
