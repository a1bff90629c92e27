import { hash } from 'node:crypto';
import type {
  ConstraintDefinition,
  DependencyDefinition,
  FlagConfiguration,
  Parameters,
  SegmentConfiguration,
  StrategyDefinition,
  VariantDefinition,
} from '@flags/core';

/**
 * A flag as client SDKs evaluate it. They do not know disabled strategies, and take a flag without strategies for one
 * that is on: so a flag of which every strategy is disabled is sent as off, which is what it evaluates to.
 */
export function clientFlagToWire(flag: FlagConfiguration) {
  const { name, type, description, project, enabled, stale, impressionData = false, variants, dependencies } = flag;
  const strategies = strategiesInUse(flag);
  const canHold = flag.strategies.length === 0 || strategies.length > 0;
  return {
    name,
    type,
    ...(description !== null && { description }),
    project,
    enabled: enabled && canHold,
    stale,
    impressionData,
    strategies: strategies.map(clientStrategyToWire),
    variants: (variants ?? []).map(clientVariantToWire),
    ...(dependencies && dependencies.length > 0 && { dependencies: dependencies.map(clientDependencyToWire) }),
  };
}

export function clientSegmentToWire({ id, name, constraints }: SegmentConfiguration) {
  return { id, name, constraints: constraints.map(clientConstraintToWire) };
}

export function strategiesInUse({ strategies }: FlagConfiguration): readonly StrategyDefinition[] {
  return strategies.filter(({ disabled }) => !disabled);
}

export function clientStrategyToWire({ name, parameters, constraints, segments, variants }: StrategyDefinition) {
  return {
    name,
    parameters: parametersToWire(parameters ?? {}),
    constraints: (constraints ?? []).map(clientConstraintToWire),
    ...(segments && segments.length > 0 && { segments }),
    ...(variants && variants.length > 0 && { variants: variants.map(strategyVariantToWire) }),
  };
}

/** SDKs in typed languages fail on numbers. A parameter that is null counts as absent, so it is. */
function parametersToWire(parameters: Parameters): Readonly<Record<string, string>> {
  const given = Object.entries(parameters).filter(([, value]) => value !== null);
  return Object.fromEntries(given.map(([name, value]) => [name, String(value)]));
}

/** With every member: some SDKs want them all. */
export function clientConstraintToWire(constraint: ConstraintDefinition) {
  const { contextName, operator, values = [], value, inverted = false, caseInsensitive = false } = constraint;
  return { contextName, operator, values, value, inverted, caseInsensitive };
}

function strategyVariantToWire({ name, weight, stickiness = 'default', payload }: VariantDefinition) {
  return { name, weight, stickiness, ...(payload && { payload }) };
}

function clientVariantToWire(variant: VariantDefinition) {
  return { ...strategyVariantToWire(variant), overrides: variant.overrides ?? [] };
}

function clientDependencyToWire({ feature, enabled = true, variants }: DependencyDefinition) {
  return { feature, enabled, ...(variants && variants.length > 0 && { variants }) };
}

/** The JSON of a flag. It is made when it is sent: the texts of all flags would double what the process holds. */
export function flagText(flag: FlagConfiguration): string {
  return JSON.stringify(clientFlagToWire(flag));
}

/** The JSON of a segment. */
export function segmentText(segment: SegmentConfiguration): string {
  return JSON.stringify(clientSegmentToWire(segment));
}

/** The hash of a flag's JSON, made once: a flag's object is the same until the flag changes. */
export const flagDigest = rememberDigest(flagText);

/** The hash of a segment's JSON, made once. */
export const segmentDigest = rememberDigest(segmentText);

function rememberDigest<Item extends object>(toText: (item: Item) => string): (item: Item) => string {
  const digests = new WeakMap<Item, string>();
  return (item) => {
    const known = digests.get(item);
    if (known !== undefined) return known;
    const digest = hash('sha256', toText(item), 'base64').slice(0, 22);
    digests.set(item, digest);
    return digest;
  };
}
