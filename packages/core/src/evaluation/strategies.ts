/*
 * The strategies as data, for forms, lists and the engine. The admin page bundles this file. The code of a strategy
 * is in `compile-strategy.ts`.
 */

import { toNumber, toOptionalText } from './convert.js';
import type { ParameterValue } from './definitions.types.js';
import { operatorOf } from './operators.js';

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
  /** The noun for the entries of its list, the first parameter: "1 user", "3 users". */
  readonly noun?: { readonly one: string; readonly many: string };
  /** The context field without which a context is off, whatever the percentage is. */
  readonly field?: string;
  /** Accepts any percentage. Absent: a percentage must be from 0 to 100 when the strategy is written. */
  readonly acceptsAnyPercentage?: true;
}

const groupId = {
  name: 'groupId',
  type: 'string',
  description: 'Flags with the same group put the same users into the same buckets.',
} as const satisfies StrategyParameter;

const stickiness = {
  name: 'stickiness',
  type: 'string',
  description: 'The context field that is hashed: default (user, else session), random, or any field.',
} as const satisfies StrategyParameter;

/** Every strategy is one row, with its code in `COMPILERS`. Forms list them in this order. */
const ROWS = [
  {
    name: 'flexibleRollout',
    title: 'Gradual rollout',
    description: 'On for a share of users, sessions or other ids. The same id always gets the same answer.',
    parameters: [percentage('rollout'), stickiness, groupId],
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
    noun: { one: 'user', many: 'users' },
  },
  {
    name: 'remoteAddress',
    title: 'IP addresses',
    description: 'On for these addresses.',
    parameters: [list('IPs', 'IP addresses, and IPv4 networks such as 10.0.0.0/8.')],
    noun: { one: 'address', many: 'addresses' },
  },
  {
    name: 'applicationHostname',
    title: 'Hosts',
    description: 'On in processes on these hosts.',
    parameters: [list('hostNames', 'Names of hosts.')],
    noun: { one: 'host', many: 'hosts' },
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

/** The name of a built-in strategy. */
export type BuiltInName = (typeof ROWS)[number]['name'];

/** The parameters of the built-in strategies, by the strategy's name. All are optional. */
export type BuiltInParameters = {
  readonly [Row in (typeof ROWS)[number] as Row['name']]: [Row['parameters'][number]] extends [never]
    ? Readonly<Record<string, never>>
    : { readonly [Name in Row['parameters'][number]['name']]?: ParameterValue };
};

/** All strategies that the library implements, by name. A map, because a custom strategy may be called `__proto__`. */
export const STRATEGIES: ReadonlyMap<string, StrategyRow> = new Map(ROWS.map((row) => [row.name, row]));

/** All strategies that the library implements, with their parameters. */
export const BUILT_IN_STRATEGIES: readonly BuiltInStrategy[] = ROWS.map(({ name, description, parameters }) => {
  return { name, description, parameters };
});

/** The names of all percentages. */
export const PERCENTAGES: ReadonlySet<string> = new Set(
  [...STRATEGIES.values()].flatMap(({ parameters }) =>
    parameters.filter(({ type }) => type === 'percentage').map(({ name }) => name),
  ),
);

/** Parameters with their own controls. Summaries omit them. */
export const HASHING: ReadonlySet<string> = new Set([...PERCENTAGES, groupId.name, stickiness.name]);

/** The plural of each noun, by the singular. */
export const LIST_NOUNS: ReadonlyMap<string, string> = new Map(
  [...STRATEGIES.values()].flatMap(({ noun }) => (noun ? [[noun.one, noun.many] as const] : [])),
);

/** A constraint, stored or as another service sends it. */
interface ReadConstraint {
  readonly contextName?: unknown;
  readonly operator?: unknown;
  readonly caseInsensitive?: unknown;
}

interface ReadStrategy {
  readonly name: string;
  readonly parameters?: Readonly<Record<string, unknown>> | null | undefined;
  readonly constraints?: readonly unknown[] | null | undefined;
  readonly variants?: readonly unknown[] | null | undefined;
}

/**
 * Describes what this host does not know of a strategy, or what has a surprising effect: its name, its parameters, its
 * constraints, and the stickiness of its variants. Empty if there is nothing to report.
 *
 * @param own the host's own strategies, which take any parameters
 */
export function unknownInStrategy(strategy: ReadStrategy, own: readonly string[]): readonly string[] {
  const { name, parameters } = strategy;
  if (own.includes(name)) return noEffectInStrategy(strategy);
  const known = STRATEGIES.get(name);
  if (!known) return ['unknown here: never on'];
  const unknown = Object.keys(parameters ?? {}).filter((key) => !known.parameters.some((one) => one.name === key));
  return [...unknown.map((key) => `unknown parameter ${key}`), ...noEffectInStrategy(strategy)];
}

/** Describes the settings of a strategy that have no effect, or a surprising one. */
export function noEffectInStrategy({ name, parameters, constraints, variants }: ReadStrategy): readonly string[] {
  const isSticky = STRATEGIES.get(name)?.parameters.some((one) => one.name === 'stickiness');
  return [
    ...(isSticky ? misspeltStickiness(parameters?.stickiness).map((text) => `${text}: never on`) : []),
    ...noEffectInVariants(listIn(variants)),
    ...new Set(listIn(constraints).flatMap((one) => noEffectInConstraint(Object(one)))),
  ];
}

/** Definitions of other services may have values of other types, which are reported elsewhere. */
function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Says what is wrong with the stickiness of variants, which is that of the first one. */
export function noEffectInVariants([first]: readonly unknown[]): readonly string[] {
  return misspeltStickiness(Object(first).stickiness).map((text) => `variants with ${text}: by chance`);
}

/** The values of a stickiness that are not properties: two special ones, and the fields of every context. */
const STICKINESS = ['default', 'random', 'userId', 'sessionId', 'remoteAddress', 'environment', 'appName'];

/** Finds a stickiness in another case: contexts have no such field. */
function misspeltStickiness(stickiness: unknown): readonly string[] {
  if (typeof stickiness !== 'string' || STICKINESS.includes(stickiness)) return [];
  const meant = STICKINESS.find((name) => name.toLowerCase() === stickiness.trim().toLowerCase());
  return meant === undefined ? [] : [`stickiness ${stickiness} instead of ${meant}`];
}

/** Says what of a constraint has no effect, or another one than it seems to have. */
export function noEffectInConstraint({ contextName, operator, caseInsensitive }: ReadConstraint): readonly string[] {
  if (typeof operator !== 'string') return [];
  const row = operatorOf(operator);
  const isOther = row?.operand === 'moment' && contextName !== 'currentTime';
  return [
    ...(isOther ? [`${operator} compares currentTime, not ${contextName}`] : []),
    ...(caseInsensitive === true && !row?.canIgnoreCase ? [`${operator} always compares case`] : []),
  ];
}

/** Returns the names that are not built in: in a host's list, those of its own strategies. */
export function ownStrategiesOf(
  strategies: readonly { readonly name: string }[] | undefined,
): readonly string[] | undefined {
  return strategies?.map(({ name }) => name).filter((name) => !STRATEGIES.has(name));
}

/** Returns the name of the parameter with the strategy's percentage; undefined for strategies that have none. */
export function percentageParameter(strategy: string): string | undefined {
  return STRATEGIES.get(strategy)?.parameters.find(({ type }) => type === 'percentage')?.name;
}

/** Returns the whole percents of a parameter, 0–100. An absent or unreadable percentage counts as 0. */
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
function percentage<Name extends 'rollout' | 'percentage'>(name: Name) {
  return { name, type: 'percentage', description: 'The share of contexts that the flag is on for.' } as const;
}

function list<const Name extends string>(name: Name, description: string) {
  return { name, type: 'list', description } as const;
}
