import type { Parameters } from '../flags/strategy.types.js';
import {
  always,
  type FieldReader,
  fieldReader,
  never,
  type Predicate,
  remoteAddress,
  sessionId,
  userId,
  userOrSession,
} from './context.js';
import type { EvaluationContext, TextEncoding } from './evaluated.types.js';
import type { RolloutExplanation } from './explanation.types.js';
import { inAnyRange, isIPv4Range, parseRange } from './ip-address.js';
import { type HashedPrefix, hashPrefix, hashWith } from './murmur3.js';
import { numberOf, text, textOrNone } from './problem.js';

/**
 * The entries of a comma-separated parameter, without the white space around the commas (that at the two ends stays).
 * In linear time, which a split by `\s*,\s*` is not.
 */
export function splitList(text: string): string[] {
  const entries = text.split(',');
  const last = entries.length - 1;
  return entries.map((entry, at) => {
    const start = at === 0 ? entry : entry.trimStart();
    return at === last ? start : start.trimEnd();
  });
}

export const userWithId: StrategyTestFactory = ({ userIds }) => {
  const ids = new Set<string | undefined>(entriesOf(userIds, 'userIds'));
  return { holds: (context) => ids.has(userId(context)) };
};

/** Addresses as text, and IPv4 ranges. */
export const remoteAddressStrategy: StrategyTestFactory = ({ IPs }): StrategyTest => {
  const entries = entriesOf(IPs, 'IPs');
  const texts = new Set<string>(entries);
  const ranges = entries
    .map(parseRange)
    .filter((range) => range !== undefined)
    .filter(isIPv4Range);
  return {
    holds: (context) => {
      const address = remoteAddress(context);
      return address !== undefined && (texts.has(address) || inAnyRange(ranges, address));
    },
  };
};

export const applicationHostname: StrategyTestFactory = ({ hostNames }, { hostname }) => {
  const names = entriesOf(hostNames, 'hostNames').map((name) => name.toLowerCase());
  return { holds: hostname !== undefined && names.includes(hostname.toLowerCase()) ? always : never };
};

function entriesOf(list: unknown, what: string): string[] {
  const text = textOrNone(list, what);
  return text ? splitList(text) : [];
}

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

export function rolloutTest(settings: RolloutSettings, { random, idEncoding }: StrategyContext): StrategyTest {
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

const nobody: FieldReader = () => undefined;

export const flexibleRollout: StrategyTestFactory = (parameters, surroundings) => {
  const stickiness = textOrNone(parameters.stickiness, 'stickiness') || 'default';
  const withoutId = stickiness === 'default' || stickiness === 'random' ? 'random' : 'off';
  const percentage = numberOf(parameters.rollout);
  return rolloutTest({ groupId: groupOf(parameters), percentage, id: stickyId(stickiness), withoutId }, surroundings);
};

export const gradualRolloutUserId: StrategyTestFactory = gradualRollout(userId);
export const gradualRolloutSessionId: StrategyTestFactory = gradualRollout(sessionId);

export const gradualRolloutRandom: StrategyTestFactory = (parameters, surroundings) => {
  const percentage = numberOf(parameters.percentage);
  return rolloutTest({ groupId: '', percentage, id: nobody, withoutId: 'random' }, surroundings);
};

function gradualRollout(id: FieldReader): StrategyTestFactory {
  return (parameters, surroundings) => {
    const percentage = numberOf(parameters.percentage);
    return rolloutTest({ groupId: groupOf(parameters), percentage, id, withoutId: 'off' }, surroundings);
  };
}

function stickyId(stickiness: string): FieldReader {
  if (stickiness === 'default') return userOrSession;
  return stickiness === 'random' ? nobody : fieldReader(stickiness);
}

function groupOf(parameters: Parameters): string {
  return text(parameters.groupId || '', 'groupId');
}

export const BUILT_IN_STRATEGIES: ReadonlyMap<string, StrategyTestFactory> = new Map<string, StrategyTestFactory>([
  ['default', () => ({ holds: always })],
  ['flexibleRollout', flexibleRollout],
  ['userWithId', userWithId],
  ['gradualRolloutUserId', gradualRolloutUserId],
  ['gradualRolloutSessionId', gradualRolloutSessionId],
  ['gradualRolloutRandom', gradualRolloutRandom],
  ['remoteAddress', remoteAddressStrategy],
  ['applicationHostname', applicationHostname],
]);

/** What a strategy itself asks, besides its constraints and segments. */
export interface StrategyTest {
  readonly holds: Predicate;
  /** The same decision with how it came about. For strategies that hash: the others only hold or not. */
  readonly explain?: (context: EvaluationContext) => RolloutExplanation;
}

/** What evaluation gets from its surroundings. */
export interface StrategyContext {
  /** At least 0, below 1. */
  readonly random: () => number;
  /** What `applicationHostname` compares with. */
  readonly hostname: string | undefined;
  readonly idEncoding: TextEncoding;
}

export type StrategyTestFactory = (parameters: Parameters, surroundings: StrategyContext) => StrategyTest;
