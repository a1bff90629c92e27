import type { ParameterValue, StrategyInput, StrategyVariant } from '../api/strategies.js';
import type { ErrorDetail } from '../errors.js';
import { findConstraintFaults, findCostFaults } from './constraint-faults.js';
import { LIMITS } from './limits.js';
import { parseNumber } from './numeric.js';
import { findPayloadFaults } from './payload-faults.js';

/** What a strategy's schema cannot say: operands fit their operators, and a rollout is a percentage. */
export function findStrategyFaults(strategy: StrategyInput): readonly ErrorDetail[] {
  const faults = [
    ...findRolloutFaults(strategy),
    ...findConstraintFaults(strategy.constraints ?? []),
    ...(strategy.variants ?? []).flatMap((variant, i) => findVariantFaults(variant, `/variants/${i}`)),
  ];
  return faults.length > 0 ? faults : findCostFaults(strategy.constraints ?? [], LIMITS.flagCost);
}

function findRolloutFaults({ name, parameters }: StrategyInput): readonly ErrorDetail[] {
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
