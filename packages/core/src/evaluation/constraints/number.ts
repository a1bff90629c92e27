import type { ConstraintDefinition } from '../../api/definitions.js';
import { LIMITS } from '../../validation/limits.js';
import { numberOf } from '../shape.js';
import type { ValueTest, ValueTestFactory } from './value-test.js';

export const equalTo: ValueTestFactory = withOperand((operand) => (value) => readNumber(value) === operand);
export const greaterThan: ValueTestFactory = withOperand((operand) => (value) => readNumber(value) > operand);
export const greaterOrEqual: ValueTestFactory = withOperand((operand) => (value) => readNumber(value) >= operand);
export const lessThan: ValueTestFactory = withOperand((operand) => (value) => readNumber(value) < operand);
export const lessOrEqual: ValueTestFactory = withOperand((operand) => (value) => readNumber(value) <= operand);

/** A value that is missing or no number compares as NaN: nothing holds. */
function withOperand(testAgainst: (operand: number) => ValueTest): ValueTestFactory {
  return (constraint: ConstraintDefinition) => {
    const operand = numberOf(constraint.value);
    return Number.isNaN(operand) ? undefined : testAgainst(operand);
  };
}

/** A longer text is no number: reading one takes a time per digit. */
function readNumber(value: string | undefined): number {
  return value === undefined || value.length > LIMITS.operandText ? Number.NaN : Number(value);
}
