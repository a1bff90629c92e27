import type { ConstraintDefinition } from '../../api/definitions.js';
import { numberOf } from '../shape.js';
import type { ValueTest, ValueTestFactory } from './value-test.js';

export const equalTo: ValueTestFactory = withOperand((operand) => (value) => Number(value) === operand);
export const greaterThan: ValueTestFactory = withOperand((operand) => (value) => Number(value) > operand);
export const greaterOrEqual: ValueTestFactory = withOperand((operand) => (value) => Number(value) >= operand);
export const lessThan: ValueTestFactory = withOperand((operand) => (value) => Number(value) < operand);
export const lessOrEqual: ValueTestFactory = withOperand((operand) => (value) => Number(value) <= operand);

/** A value that is missing or no number compares as NaN: nothing holds. */
function withOperand(testAgainst: (operand: number) => ValueTest): ValueTestFactory {
  return (constraint: ConstraintDefinition) => {
    const operand = numberOf(constraint.value);
    return Number.isNaN(operand) ? undefined : testAgainst(operand);
  };
}
