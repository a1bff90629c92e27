import type { Constraint, ParameterValue, StrategyInput, StrategyVariant } from '../api/strategies.js';
import type { ErrorDetail } from '../errors.js';
import { parseIsoDate } from './iso-date.js';
import { parseNumber } from './numeric.js';
import { findPayloadFaults } from './payload-faults.js';
import { isSemver } from './semver.js';

/** What a strategy's schema cannot say: operands fit their operators, and a rollout is a percentage. */
export function findStrategyFaults(strategy: StrategyInput): readonly ErrorDetail[] {
  return [
    ...findRolloutFaults(strategy),
    ...(strategy.constraints ?? []).flatMap((constraint, i) => findConstraintFaults(constraint, `/constraints/${i}`)),
    ...(strategy.variants ?? []).flatMap((variant, i) => findVariantFaults(variant, `/variants/${i}`)),
  ];
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

function findConstraintFaults(constraint: Constraint, path: string): readonly ErrorDetail[] {
  const kind = constraint.operator.split('_', 1)[0] ?? '';
  const operand = OPERANDS.get(kind);
  if (!operand)
    return constraint.values ? [] : [{ message: `is required for ${constraint.operator}`, path: `${path}/values` }];
  if (constraint.value === undefined) {
    return [{ message: `is required for ${constraint.operator}`, path: `${path}/value` }];
  }
  return operand.holds(constraint.value) ? [] : [{ message: `must be ${operand.description}`, path: `${path}/value` }];
}

/** What the single-valued operators compare with, by the operator's family; the others take `values`. */
const OPERANDS = new Map([
  ['NUM', { holds: (value: string) => parseNumber(value) !== undefined, description: 'a finite number' }],
  ['DATE', { holds: (value: string) => parseIsoDate(value) !== undefined, description: 'an ISO 8601 date' }],
  ['SEMVER', { holds: isSemver, description: 'a version by Semantic Versioning 2.0' }],
]);
