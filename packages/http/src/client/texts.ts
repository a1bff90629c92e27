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
 * Converts a flag for client SDKs. SDKs do not know disabled strategies, and enable a flag without strategies.
 * Therefore a flag with only disabled strategies is sent as disabled, which is its evaluation.
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

/** Converts numbers to text, because SDKs in typed languages fail on numbers. Omits null parameters. */
function parametersToWire(parameters: Parameters): Readonly<Record<string, string>> {
  const given = Object.entries(parameters).filter(([, value]) => value !== null);
  return Object.fromEntries(given.map(([name, value]) => [name, String(value)]));
}

/** Includes every member, because some SDKs require all of them. */
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

/** Returns the JSON of a flag. Not cached, because the texts of all flags would double the memory. */
export function flagText(flag: FlagConfiguration): string {
  return JSON.stringify(clientFlagToWire(flag));
}

/** Returns the JSON of a segment. */
export function segmentText(segment: SegmentConfiguration): string {
  return JSON.stringify(clientSegmentToWire(segment));
}

/** Returns the hash of a flag's JSON. Memoized per object: a flag's object changes only with the flag. */
export const flagDigest = rememberDigest(flagText);

/** Returns the hash of a segment's JSON, memoized per object. */
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
