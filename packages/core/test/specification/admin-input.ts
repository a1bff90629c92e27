import type { StrategyDefinition, VariantDefinition } from '../../src/evaluation/definitions.types.js';
import {
  CONSTRAINT_OPERATORS,
  type Constraint,
  type StrategyInput,
  type StrategyVariant,
  type VariantInput,
} from '../../src/index.js';

const TOTAL_WEIGHT = 1000;
/** Missing segments get ids that were never assigned. */
const NEVER_GIVEN = 1_000_000;
const NEVER: Constraint = { contextName: 'userId', operator: 'IN', values: ['nobody has this id'] };

/** Returns a name that the administration accepts, without invalid characters. */
export function standInName(name: string): string {
  return name.replace(/[^\w.!~*'()-]/g, '_').slice(0, 100);
}

/** Returns a strategy as clients send it, with the assigned ids of segments. */
export function toStrategyInput(
  definition: StrategyDefinition,
  segments: ReadonlyMap<number, number>,
): StrategyInput<string> {
  const { name, parameters = {}, constraints, segments: ids, variants } = definition;
  return {
    name,
    parameters,
    constraints: (constraints ?? []) as readonly Constraint[],
    ...(ids && { segments: ids.map((id) => segments.get(id) ?? id + NEVER_GIVEN) }),
    ...(variants && { variants: variants.map((variant) => toStrategyVariant(variant, definition)) }),
  };
}

/** Sets the default of evaluation explicitly: the stickiness of the strategy. */
function toStrategyVariant(variant: VariantDefinition, { parameters }: StrategyDefinition): StrategyVariant {
  const { name, weight, payload, stickiness = String(parameters?.stickiness ?? 'default') } = variant;
  return { name, weight, weightType: 'variable', stickiness, ...(payload && { payload }) };
}

/** Returns the same shares of 1000. The administration computes equal ones; others are fixed, except the last. */
export function toVariantInputs(definitions: readonly VariantDefinition[]): readonly VariantInput[] {
  const total = definitions.reduce((sum, { weight }) => sum + weight, 0);
  const isEqual = definitions.every(({ weight }) => weight === definitions[0]?.weight);
  return definitions.map(({ name, weight, stickiness, payload, overrides }, at) => ({
    name,
    ...(isEqual || at === definitions.length - 1
      ? { weightType: 'variable' }
      : { weightType: 'fix', weight: (weight * TOTAL_WEIGHT) / total }),
    ...(stickiness && { stickiness }),
    ...(payload && { payload }),
    ...(overrides && { overrides }),
  }));
}

/**
 * Returns strategies that the administration accepts, and that together hold exactly where the refused one would.
 *
 * @param path of the fault, within the strategy
 */
export function withoutFault(strategy: StrategyInput<string>, path: string): readonly StrategyInput<string>[] {
  const { constraints = [] } = strategy;
  const [, list, at, , value] = path.split('/');
  if (list === 'segments') return [{ ...strategy, segments: [], constraints: [...constraints, NEVER] }];
  const refused = constraints[Number(at)];
  if (list !== 'constraints' || refused === undefined) throw new Error(`Nothing stands for ${path}.`);
  return alternativesTo(refused, value).map((alternative) => ({
    ...strategy,
    constraints: constraints.flatMap((one) => (one === refused ? alternative : [one])),
  }));
}

/** Any alternative must hold, with all its constraints. */
function alternativesTo(refused: Constraint, value: string | undefined): readonly (readonly Constraint[])[] {
  const { operator, inverted, values = [] } = refused;
  if (value !== undefined) return [[{ ...refused, values: values.filter((_, at) => at !== Number(value)) }]];
  // An unknown operator never holds; an operand that cannot be used, or an empty list, does not either, but its inversion does.
  const isInverted = Boolean(inverted) !== (operator === 'NOT_IN');
  return isInverted && CONSTRAINT_OPERATORS.includes(operator) ? [[]] : [[NEVER]];
}
