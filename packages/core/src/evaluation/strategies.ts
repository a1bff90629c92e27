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
import type { EvaluationContext, RolloutExplanation, TextEncoding } from './evaluated.types.js';
import { inAnyRange, isIPv4Range, parseRange } from './ip-address.js';
import { type HashedPrefix, hashPrefix, hashWith } from './murmur3.js';
import { toNumber, toOptionalText, toText } from './problem.js';

/** A parameter of a strategy, for forms. */
export interface StrategyParameter {
  readonly name: string;
  /** `percentage`: 0–100. `list`: texts, separated by commas. */
  readonly type: 'percentage' | 'list' | 'string';
  readonly description: string;
}

/** A strategy that the library implements. */
export interface BuiltInStrategy {
  readonly name: string;
  readonly description: string;
  readonly parameters: readonly StrategyParameter[];
}

const groupId: StrategyParameter = {
  name: 'groupId',
  type: 'string',
  description: 'Flags with the same group put the same users into the same buckets.',
};

function percentage(name: string): StrategyParameter {
  return { name, type: 'percentage', description: 'The share of contexts that the flag is on for.' };
}

function list(name: string, description: string): StrategyParameter {
  return { name, type: 'list', description };
}

/** All strategies that the library implements, with their parameters. */
export const BUILT_IN_STRATEGIES: readonly BuiltInStrategy[] = [
  { name: 'default', description: 'On for everybody.', parameters: [] },
  {
    name: 'flexibleRollout',
    description: 'On for a share of users, sessions or other ids. The same id always gets the same answer.',
    parameters: [
      percentage('rollout'),
      {
        name: 'stickiness',
        type: 'string',
        description: 'The context field that is hashed: default (user, else session), random, or any field.',
      },
      groupId,
    ],
  },
  {
    name: 'userWithId',
    description: 'On for these users.',
    parameters: [list('userIds', 'Ids of users.')],
  },
  {
    name: 'gradualRolloutUserId',
    description: 'On for a share of users.',
    parameters: [percentage('percentage'), groupId],
  },
  {
    name: 'gradualRolloutSessionId',
    description: 'On for a share of sessions.',
    parameters: [percentage('percentage'), groupId],
  },
  {
    name: 'gradualRolloutRandom',
    description: 'On for a share of evaluations, by chance.',
    parameters: [percentage('percentage')],
  },
  {
    name: 'remoteAddress',
    description: 'On for these addresses.',
    parameters: [list('IPs', 'IP addresses, and IPv4 networks such as 10.0.0.0/8.')],
  },
  {
    name: 'applicationHostname',
    description: 'On in processes on these hosts.',
    parameters: [list('hostNames', 'Names of hosts.')],
  },
];

/**
 * Splits a comma-separated parameter and trims white space around the commas, but not at both ends. Linear, unlike a
 * split by `\s*,\s*`.
 */
export function splitList(text: string): string[] {
  const entries = text.split(',');
  const last = entries.length - 1;
  return entries.map((entry, at) => {
    const start = at === 0 ? entry : entry.trimStart();
    return at === last ? start : start.trimEnd();
  });
}

const userWithId: StrategyTestFactory = ({ userIds }) => {
  const ids = new Set<string | undefined>(entriesOf(userIds, 'userIds'));
  return { holds: (context) => ids.has(userId(context)) };
};

/** Accepts addresses, compared as text, and IPv4 ranges. */
const remoteAddressStrategy: StrategyTestFactory = ({ IPs }): StrategyTest => {
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

const applicationHostname: StrategyTestFactory = ({ hostNames }, { hostname }) => {
  const names = entriesOf(hostNames, 'hostNames').map((name) => name.toLowerCase());
  return { holds: hostname !== undefined && names.includes(hostname.toLowerCase()) ? always : never };
};

function entriesOf(list: unknown, what: string): string[] {
  const text = toOptionalText(list, what);
  return text ? splitList(text) : [];
}

const SEED = 0;
const BUCKETS = 100;

interface RolloutSettings {
  readonly groupId: string;
  /** NaN means that no percentage is set. */
  readonly percentage: number;
  /** Reads the id that is hashed. */
  readonly id: FieldReader;
  /** The meaning of a missing or empty id. */
  readonly withoutId: 'random' | 'off';
}

/** A class, because an instance may have tens of thousands of rollouts: closures would take twice the memory. */
class Rollout implements StrategyTest {
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
    this.threshold = percentage > 0 ? Math.min(Math.floor(percentage), BUCKETS) : 0;
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
  // Integers on all paths: a float on one of them would make the engine compare floats.
  if (id) return ((hashWith(prefix, id) >>> 0) % BUCKETS) | 0;
  return random ? (random() * BUCKETS) | 0 : BUCKETS;
}

const noId: FieldReader = () => undefined;

const flexibleRollout: StrategyTestFactory = (parameters, strategyContext) => {
  const stickiness = toOptionalText(parameters.stickiness, 'stickiness') || 'default';
  const withoutId = stickiness === 'default' || stickiness === 'random' ? 'random' : 'off';
  const percentage = toNumber(parameters.rollout);
  return new Rollout(
    { groupId: groupOf(parameters), percentage, id: stickyId(stickiness), withoutId },
    strategyContext,
  );
};

const gradualRolloutUserId: StrategyTestFactory = gradualRollout(userId);
const gradualRolloutSessionId: StrategyTestFactory = gradualRollout(sessionId);

const gradualRolloutRandom: StrategyTestFactory = (parameters, strategyContext) => {
  const percentage = toNumber(parameters.percentage);
  return new Rollout({ groupId: '', percentage, id: noId, withoutId: 'random' }, strategyContext);
};

function gradualRollout(id: FieldReader): StrategyTestFactory {
  return (parameters, strategyContext) => {
    const percentage = toNumber(parameters.percentage);
    return new Rollout({ groupId: groupOf(parameters), percentage, id, withoutId: 'off' }, strategyContext);
  };
}

function stickyId(stickiness: string): FieldReader {
  if (stickiness === 'default') return userOrSession;
  return stickiness === 'random' ? noId : fieldReader(stickiness);
}

function groupOf(parameters: Parameters): string {
  return toText(parameters.groupId || '', 'groupId');
}

/** The tests of the built-in strategies, by name. */
export const STRATEGY_TESTS: ReadonlyMap<string, StrategyTestFactory> = new Map<string, StrategyTestFactory>([
  ['default', () => ({ holds: always })],
  ['flexibleRollout', flexibleRollout],
  ['userWithId', userWithId],
  ['gradualRolloutUserId', gradualRolloutUserId],
  ['gradualRolloutSessionId', gradualRolloutSessionId],
  ['gradualRolloutRandom', gradualRolloutRandom],
  ['remoteAddress', remoteAddressStrategy],
  ['applicationHostname', applicationHostname],
]);

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

type StrategyTestFactory = (parameters: Parameters, strategyContext: StrategyContext) => StrategyTest;
