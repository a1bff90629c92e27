import { LIMITS } from '../base/limits.js';
import type { ConstraintDefinition, StrategyDefinition } from './definitions.types.js';
import type { OperatorOn } from './operators.js';
import { weightOfTextSearch } from './text-search.js';

/*
 * Weights bound what one evaluation tests: the strategies of a flag with their segments, or its parents. The unit is about
 * a microsecond with the slowest context value, of up to 4,096 characters, or 500 for patterns. Weights are whole numbers,
 * so that a sum does not depend on its order.
 */

/** Patterns are bounded one by one, so none is read here. Compiling one at its first use takes longer than matching it. */
const PATTERN = 1000;
const COMPARISON = 1;
/** Lower-casing can lengthen a text, which creates a new one. */
const LOWER_CASE = 50;
/** Each strategy may hash the longest id, with non-ASCII characters. */
export const HASH = 40;
/** The weight of a text that a value may start or end with, and of each of its characters. */
const PREFIX = { text: 0.05, character: 0.0035 };
const NETWORK = 0.03;

/** The weight of the operand of a constraint. An operator without a row compares with one value. */
const OPERANDS: Readonly<Record<OperatorOn<'texts' | 'networks' | 'pattern'>, (texts: readonly unknown[]) => number>> =
  {
    // One look-up, however many values there are.
    IN: () => 0,
    NOT_IN: () => 0,
    STR_CONTAINS: (texts) => weightOfTextSearch(texts.map(String)),
    STR_STARTS_WITH: prefixesWeight,
    STR_ENDS_WITH: prefixesWeight,
    REGEX: () => PATTERN,
    IN_CIDR: (texts) => Math.ceil(texts.length * NETWORK),
  };

/** The result for an unusable constraint does not matter. */
export function constraintWeight({ operator, values, caseInsensitive }: ConstraintDefinition): number {
  const base = COMPARISON + (caseInsensitive ? LOWER_CASE : 0);
  if (!Object.hasOwn(OPERANDS, operator)) return base;
  return base + OPERANDS[operator as keyof typeof OPERANDS](Array.isArray(values) ? values : []);
}

function prefixesWeight(texts: readonly unknown[]): number {
  return Math.ceil(texts.reduce<number>((sum, text) => sum + prefixWeight(String(text)), 0));
}

/** A text that is longer than the context value is not compared. */
function prefixWeight({ length }: string): number {
  return PREFIX.text + (length <= LIMITS.contextValue ? length * PREFIX.character : 0);
}

export function constraintsWeight(constraints: readonly ConstraintDefinition[]): number {
  return constraints.reduce((sum, constraint) => sum + constraintWeight(constraint), 0);
}

/** @param weightOf returns the weight of a segment */
export function strategyWeight(
  { constraints, segments, disabled }: Pick<StrategyDefinition, 'constraints' | 'segments' | 'disabled'>,
  weightOf: (segment: number) => number,
): number {
  if (disabled) return 0;
  return (segments ?? []).reduce((sum, id) => sum + weightOf(id), HASH + constraintsWeight(constraints ?? []));
}
