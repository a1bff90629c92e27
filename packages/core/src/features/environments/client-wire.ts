import type {
  ConstraintDefinition,
  DependencyDefinition,
  StrategyDefinition,
  StrategyParameters,
  VariantDefinition,
  VariantOverride,
} from '../../evaluation/definitions.types.js';
import type { FlagConfiguration, SegmentConfiguration } from '../../evaluation/evaluation.types.js';

/*
 * What client SDKs get of flags and segments. Here, because the version of a flag is a hash of it: a follower has flags in
 * this form only.
 */

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
function parametersToWire(parameters: StrategyParameters): Readonly<Record<string, string>> {
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
  const overrides: readonly VariantOverride[] = variant.overrides ?? [];
  return { ...strategyVariantToWire(variant), overrides };
}

function clientDependencyToWire({ flag, enabled = true, variants }: DependencyDefinition) {
  return { feature: flag, enabled, ...(variants && variants.length > 0 && { variants }) };
}
