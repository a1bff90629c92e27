/*
 * The strategies as data, for forms, lists and the engine. The admin page bundles this file. The code of a strategy
 * is in `compile-strategy.ts`.
 */

import { toNumber, toOptionalText } from './convert.js';

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

export interface StrategyRow extends BuiltInStrategy {
  /** The name that people read. */
  readonly title: string;
  /** The noun for one entry of its list: "3 users". */
  readonly noun?: string;
  /** The context field without which a context is off, whatever the percentage is. */
  readonly field?: string;
  /** Accepts any percentage. Absent: a percentage must be from 0 to 100 when the strategy is written. */
  readonly acceptsAnyPercentage?: true;
}

const groupId: StrategyParameter = {
  name: 'groupId',
  type: 'string',
  description: 'Flags with the same group put the same users into the same buckets.',
};

/** Every strategy is one row, with its code in `COMPILERS`. Forms list them in this order. */
const ROWS = [
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
  },
  {
    name: 'default',
    title: 'Everyone',
    description: 'On for everybody.',
    parameters: [],
  },
  {
    name: 'userWithId',
    title: 'User IDs',
    description: 'On for these users.',
    parameters: [list('userIds', 'Ids of users.')],
    noun: 'user',
  },
  {
    name: 'remoteAddress',
    title: 'IP addresses',
    description: 'On for these addresses.',
    parameters: [list('IPs', 'IP addresses, and IPv4 networks such as 10.0.0.0/8.')],
    noun: 'address',
  },
  {
    name: 'applicationHostname',
    title: 'Hosts',
    description: 'On in processes on these hosts.',
    parameters: [list('hostNames', 'Names of hosts.')],
    noun: 'host',
  },
  {
    name: 'gradualRolloutUserId',
    title: 'Gradual rollout by user ID',
    description: 'On for a share of users.',
    parameters: [percentage('percentage'), groupId],
    field: 'userId',
    acceptsAnyPercentage: true,
  },
  {
    name: 'gradualRolloutSessionId',
    title: 'Gradual rollout by session ID',
    description: 'On for a share of sessions.',
    parameters: [percentage('percentage'), groupId],
    field: 'sessionId',
    acceptsAnyPercentage: true,
  },
  {
    name: 'gradualRolloutRandom',
    title: 'Gradual rollout at random',
    description: 'On for a share of evaluations, by chance.',
    parameters: [percentage('percentage')],
    acceptsAnyPercentage: true,
  },
] as const satisfies readonly StrategyRow[];

export type BuiltInName = (typeof ROWS)[number]['name'];

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

/** Returns the whole percents of a parameter, 0–100. An absent or unreadable percentage admits nobody. */
export function shareOf(percentage: unknown): number {
  const percents = toNumber(percentage);
  return percents > 0 ? Math.min(Math.floor(percents), 100) : 0;
}

/** Returns the context field without which a context is off; undefined if a random number decides then. */
export function stickyField({ stickiness }: Readonly<Record<string, unknown>>): string | undefined {
  const field = toOptionalText(stickiness, 'stickiness') || 'default';
  return field === 'default' || field === 'random' ? undefined : field;
}

/** The page and the summaries know a percentage by these names. */
function percentage(name: 'rollout' | 'percentage'): StrategyParameter {
  return { name, type: 'percentage', description: 'The share of contexts that the flag is on for.' };
}

function list(name: string, description: string): StrategyParameter {
  return { name, type: 'list', description };
}
