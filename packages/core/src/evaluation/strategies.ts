import {
  always,
  type FieldReader,
  fieldReader,
  never,
  remoteAddress,
  sessionId,
  userId,
  userOrSession,
} from './context.js';
import type { AudiencePart } from './evaluated.types.js';
import { inAnyRange, isIPv4Range, parseRange } from './ip-address.js';
import { toOptionalText, toText } from './problem.js';
import { noId, Rollout, type StrategyContext, type StrategyTest, shareOf } from './rollout.js';

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

/** Parameters as they are stored, of any type. */
type Parameters = Readonly<Record<string, unknown>>;

/** All that the engine, its lists and the forms know about a strategy. */
export interface StrategyRow extends BuiltInStrategy {
  /** The name that people read. */
  readonly title: string;
  /** Compiles the strategy's own condition, without its constraints and segments. */
  compile(parameters: Parameters, context: StrategyContext): StrategyTest;
  /** Summarizes whom the strategy admits; undefined if it admits nobody. */
  audience(parameters: Parameters): AudiencePart | undefined;
  /** Accepts any percentage. Absent: a percentage must be from 0 to 100 when the strategy is written. */
  readonly acceptsAnyPercentage?: true;
}

const groupId: StrategyParameter = {
  name: 'groupId',
  type: 'string',
  description: 'Flags with the same group put the same users into the same buckets.',
};

/** Every strategy is one row. Forms list them in this order. */
const ROWS: readonly StrategyRow[] = [
  {
    name: 'flexibleRollout',
    title: 'Gradual rollout',
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
    compile(parameters, context) {
      const settings = { groupId: groupOf(parameters), percentage: parameters.rollout };
      const field = stickyField(parameters);
      if (field !== undefined) return new Rollout({ ...settings, id: fieldReader(field), withoutId: 'off' }, context);
      const id = parameters.stickiness === 'random' ? noId : userOrSession;
      return new Rollout({ ...settings, id, withoutId: 'random' }, context);
    },
    audience: (parameters) => audienceOfShare(parameters.rollout, stickyField(parameters)),
  },
  {
    name: 'default',
    title: 'Everyone',
    description: 'On for everybody.',
    parameters: [],
    compile: () => ({ holds: always }),
    audience: () => ({ rollout: 100 }),
  },
  {
    name: 'userWithId',
    title: 'User IDs',
    description: 'On for these users.',
    parameters: [list('userIds', 'Ids of users.')],
    compile({ userIds }) {
      const ids = new Set<string | undefined>(entriesOf(userIds, 'userIds'));
      return { holds: (context) => ids.has(userId(context)) };
    },
    audience: ({ userIds }) => audienceOfList(userIds, 'user'),
  },
  {
    name: 'remoteAddress',
    title: 'IP addresses',
    description: 'On for these addresses.',
    parameters: [list('IPs', 'IP addresses, and IPv4 networks such as 10.0.0.0/8.')],
    // Compares addresses as text, and accepts IPv4 ranges.
    compile({ IPs }) {
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
    },
    audience: ({ IPs }) => audienceOfList(IPs, 'address'),
  },
  {
    name: 'applicationHostname',
    title: 'Hosts',
    description: 'On in processes on these hosts.',
    parameters: [list('hostNames', 'Names of hosts.')],
    compile({ hostNames }, { hostname }) {
      const names = entriesOf(hostNames, 'hostNames').map((name) => name.toLowerCase());
      return { holds: hostname !== undefined && names.includes(hostname.toLowerCase()) ? always : never };
    },
    audience: ({ hostNames }) => audienceOfList(hostNames, 'host'),
  },
  {
    name: 'gradualRolloutUserId',
    title: 'Gradual rollout by user ID',
    description: 'On for a share of users.',
    parameters: [percentage('percentage'), groupId],
    compile: (parameters, context) => gradualRollout(parameters, userId, context),
    audience: (parameters) => audienceOfShare(parameters.percentage, 'userId'),
    acceptsAnyPercentage: true,
  },
  {
    name: 'gradualRolloutSessionId',
    title: 'Gradual rollout by session ID',
    description: 'On for a share of sessions.',
    parameters: [percentage('percentage'), groupId],
    compile: (parameters, context) => gradualRollout(parameters, sessionId, context),
    audience: (parameters) => audienceOfShare(parameters.percentage, 'sessionId'),
    acceptsAnyPercentage: true,
  },
  {
    name: 'gradualRolloutRandom',
    title: 'Gradual rollout at random',
    description: 'On for a share of evaluations, by chance.',
    parameters: [percentage('percentage')],
    compile: ({ percentage }, context) =>
      new Rollout({ groupId: '', percentage, id: noId, withoutId: 'random' }, context),
    audience: ({ percentage }) => audienceOfShare(percentage),
    acceptsAnyPercentage: true,
  },
];

/** All strategies that the library implements, by name. A map, because a custom strategy may be called `__proto__`. */
export const STRATEGIES: ReadonlyMap<string, StrategyRow> = new Map(ROWS.map((row) => [row.name, row]));

/** All strategies that the library implements, with their parameters. */
export const BUILT_IN_STRATEGIES: readonly BuiltInStrategy[] = ROWS.map(({ name, description, parameters }) => {
  return { name, description, parameters };
});

/** Returns the name of the parameter with the strategy's percentage; undefined for strategies that have none. */
export function percentageParameter(strategy: string): string | undefined {
  return STRATEGIES.get(strategy)?.parameters.find(({ type }) => type === 'percentage')?.name;
}

/** The page and the summaries know a percentage by these names. */
function percentage(name: 'rollout' | 'percentage'): StrategyParameter {
  return { name, type: 'percentage', description: 'The share of contexts that the flag is on for.' };
}

function list(name: string, description: string): StrategyParameter {
  return { name, type: 'list', description };
}

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

function entriesOf(list: unknown, what: string): string[] {
  const text = toOptionalText(list, what);
  return text ? splitList(text) : [];
}

function groupOf(parameters: Parameters): string {
  return toText(parameters.groupId || '', 'groupId');
}

/** Returns the context field without which a context is off; undefined if chance decides then. */
function stickyField({ stickiness }: Parameters): string | undefined {
  const field = toOptionalText(stickiness, 'stickiness') || 'default';
  return field === 'default' || field === 'random' ? undefined : field;
}

function gradualRollout(parameters: Parameters, id: FieldReader, context: StrategyContext): StrategyTest {
  const { percentage } = parameters;
  return new Rollout({ groupId: groupOf(parameters), percentage, id, withoutId: 'off' }, context);
}

/** @param field the context field without which a context is off, also at 100 % */
function audienceOfShare(percentage: unknown, field?: string): AudiencePart | undefined {
  const rollout = shareOf(percentage);
  if (rollout === 0) return undefined;
  return { rollout, ...(rollout === 100 && field !== undefined && { field }) };
}

/** @param noun names one value of the list */
function audienceOfList(values: unknown, noun: string): AudiencePart | undefined {
  const count = typeof values === 'string' ? values.split(',').filter((value) => value.trim() !== '').length : 0;
  return count === 0 ? undefined : { rollout: 100, list: { noun, count } };
}
