import type { ParameterValue, StrategyInput, StrategyVariant } from '../api/strategies.js';
import type { ErrorDetail } from '../errors.js';
import { findConstraintFaults, findCostFaults, orElse } from './constraint-faults.js';
import { LIMITS } from './limits.js';
import { parseNumber } from './numeric.js';
import { findPayloadFaults } from './payload-faults.js';

/** What a strategy's schema cannot say: operands fit their operators, segments are unique, and a rollout is a percentage. */
export function findStrategyFaults(strategy: Partial<StrategyInput>): Iterable<ErrorDetail> {
  const { constraints = [] } = strategy;
  return orElse(findMemberFaults(strategy), () => findCostFaults(constraints, LIMITS.flagCost));
}

function* findMemberFaults(strategy: Partial<StrategyInput>): Generator<ErrorDetail> {
  yield* findRolloutFaults(strategy);
  yield* findConstraintFaults(strategy.constraints ?? []);
  yield* findRepeatedSegments(strategy.segments ?? []);
  for (const [i, variant] of (strategy.variants ?? []).entries()) yield* findVariantFaults(variant, `/variants/${i}`);
}

function* findRepeatedSegments(segments: readonly number[]): Generator<ErrorDetail> {
  const seen = new Set<number>();
  for (const [i, id] of segments.entries()) {
    if (seen.has(id)) yield { message: 'must be unique', path: `/segments/${i}` };
    seen.add(id);
  }
}

function findRolloutFaults({ name, parameters }: Partial<StrategyInput>): readonly ErrorDetail[] {
  if (name !== 'flexibleRollout' || !parameters || !Object.hasOwn(parameters, 'rollout')) return [];
  const rollout = toPercentage(parameters.rollout);
  if (rollout !== undefined && rollout >= 0 && rollout <= 100) return [];
  return [{ message: 'must be a percentage, 0 to 100', path: '/parameters/rollout' }];
}

function toPercentage(value: ParameterValue | undefined): number | undefined {
  return typeof value === 'string' ? parseNumber(value) : typeof value === 'number' ? value : undefined;
}

function findVariantFaults({ payload }: StrategyVariant, path: string): readonly ErrorDetail[] {
  return payload ? findPayloadFaults(payload, `${path}/payload`) : [];
}
