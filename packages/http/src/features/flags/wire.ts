import { type FlagDetail, type FlagEnvironment, PAYLOAD_TYPES, type Variant } from '@flags/core';
import {
  dependencyToWire,
  FLAG_MEMBERS,
  flagToWire,
  strategyToWire,
  variantToWire,
} from '@flags/core/integration/http';
import type { JsonSchema } from '@flags/core/integration/shared';
import {
  boolean,
  component,
  environmentName,
  example,
  listOf,
  objectComponent,
  optionalTimestamp,
  strategyName,
  text,
  timestamp,
  variantName,
} from '../../messages/schema.js';
import { strategyRolloutSchema } from './rollout-wire.js';

export { constraintToWire, dependencyToWire, strategyToWire } from '@flags/core/integration/http';

export const payloadSchema = objectComponent('Payload', {
  type: { type: 'string', enum: PAYLOAD_TYPES },
  value: example('#00f'),
});

export const overrideSchema = objectComponent('Override', { contextName: text, values: listOf(text) });

export const weightType: JsonSchema = { type: 'string', enum: ['fix', 'variable'] };
export const weight: JsonSchema = { type: 'integer', minimum: 0, maximum: 1000 };

/** The members that flag variants and strategy variants share. */
const variantBase = { name: variantName, weightType, weight, stickiness: text };

export const variantSchema = objectComponent(
  'Variant',
  { ...variantBase, overrides: listOf(overrideSchema) },
  { payload: payloadSchema },
);

export const constraintSchema = component('Constraint', ({ constraint }) =>
  example({ contextName: 'userId', operator: 'IN', values: ['7', '8'] }, constraint),
);

const strategyVariantSchema = objectComponent('StrategyVariant', variantBase, { payload: payloadSchema });

const parameters: JsonSchema = {
  type: ['object', 'null'],
  additionalProperties: { type: ['string', 'number', 'boolean', 'null'] },
  description: 'The parameters, unchanged from the request.',
  examples: [{ rollout: 25, groupId: 'checkout', stickiness: 'default' }],
};

const segments: JsonSchema = { type: 'array', items: { type: 'integer' } };

export const strategySchema = objectComponent(
  'Strategy',
  { id: { type: 'string', format: 'uuid' }, name: strategyName, constraints: listOf(constraintSchema), parameters },
  {
    title: text,
    disabled: boolean,
    sortOrder: { type: 'integer' },
    segments,
    variants: listOf(strategyVariantSchema),
    rollout: { ...strategyRolloutSchema, description: 'Only while the strategy rolls out. Ignored in requests.' },
  },
);

export const dependencySchema = objectComponent('Dependency', {
  feature: { ...example('payments'), description: 'The name of the parent flag.' },
  enabled: { ...boolean, description: 'Whether the parent must be on or off.' },
  variants: {
    ...example([], listOf(text)),
    description: 'The accepted variants of the parent; empty: any.',
  },
});

const flagEnvironmentSchema = objectComponent('FlagEnvironment', {
  name: environmentName,
  enabled: boolean,
  strategies: listOf(strategySchema),
});

/** Removes the limits of an input from the schema of a reply: stored flags may be older than a limit, and exceed it. */
function withoutLimits({ type, items }: JsonSchema): JsonSchema {
  return { type, ...(items !== undefined && { items: withoutLimits(items as JsonSchema) }) };
}

/** The schemas of the members that `updateFlag` changes. */
export const flagMembers = Object.fromEntries(
  Object.entries(FLAG_MEMBERS).map(([name, { schema }]) => [name, withoutLimits(schema)]),
) as Readonly<Record<keyof typeof FLAG_MEMBERS, JsonSchema>>;

function flagProperties() {
  const { labels, owner, ...members } = flagMembers;
  return {
    name: text,
    project: { type: 'string', description: 'The id of the owning project.' },
    ...members,
    archived: boolean,
    createdAt: timestamp,
    lastSeenAt: optionalTimestamp,
    variants: {
      anyOf: [listOf(variantSchema), { type: 'null' }],
      description: 'The variants; null if the flag has none.',
    },
    labels,
    owner,
  };
}

export const flagSchema = objectComponent('Flag', flagProperties());

export const flagDetailSchema = objectComponent(
  'FlagDetail',
  { ...flagProperties(), environments: listOf(flagEnvironmentSchema) },
  {
    dependencies: { ...listOf(dependencySchema), description: 'The dependencies; absent if the flag has none.' },
    children: {
      ...listOf(text),
      description: 'Names of the flags that depend on this flag, without archived ones; absent if there are none.',
    },
  },
);

const environmentSummarySchema = objectComponent('EnvironmentSummary', {
  name: environmentName,
  displayName: text,
  enabled: boolean,
});

/** The members of a flag in lists. */
export const flagSummary = {
  name: text,
  type: text,
  stale: boolean,
  createdAt: timestamp,
  lastSeenAt: optionalTimestamp,
  environments: listOf(environmentSummarySchema),
};

export const flagSummarySchema = objectComponent('FlagSummary', flagSummary);

export function variantListToWire(variants: readonly Variant[]) {
  return { version: '1', variants: variants.map(variantToWire) };
}

function weightToWire({ name, weightType, weight }: Variant): Pick<Variant, 'name' | 'weightType' | 'weight'> {
  return { name, weightType, weight };
}

/** Converts the reply to a change of variants: the computed weights. */
export function variantWeightsToWire(variants: readonly Variant[]) {
  return { version: '1', variants: variants.map(weightToWire) };
}

/**
 * Sets `weightType` to `variable`, the default of Unleash, in variants that lack it: otherwise the engine would read a
 * weight as a fixed share. Returns other values unchanged, so that the validation refuses them.
 */
export function withVariableType(variants: unknown): unknown {
  return Array.isArray(variants) ? variants.map(asVariable) : variants;
}

/** Sets `weightType` to `variable` in a variant that lacks it; see {@link withVariableType}. */
export function asVariable(variant: unknown): unknown {
  return typeof variant === 'object' && variant !== null ? { weightType: 'variable', ...variant } : variant;
}

/** Includes `dependencies` and `children` only if they are not empty. */
export function flagDetailToWire(flag: FlagDetail): object {
  const { environments, dependencies, children } = flag;
  return Object.assign(flagToWire(flag), {
    environments: environments.map(environmentToWire),
    dependencies: dependencies.length > 0 ? dependencies.map(dependencyToWire) : undefined,
    children: children.length > 0 ? children : undefined,
  });
}

export function flagListToWire(features: unknown) {
  return { version: 1, features };
}

/** Clients of Unleash 4.x expect the name of the flag as `name`. */
export function flagInEnvironmentToWire(flag: string, { name, enabled, strategies }: FlagEnvironment): object {
  return { name: flag, environment: name, enabled, strategies: strategies.map(strategyToWire) };
}

function environmentToWire({ name, enabled, strategies }: FlagEnvironment) {
  return { name, enabled, strategies: strategies.map(strategyToWire) };
}
