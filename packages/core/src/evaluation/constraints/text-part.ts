import type { ConstraintDefinition } from '../../api/definitions.js';
import { operandTexts } from './operand-texts.js';
import type { ValueTest, ValueTestFactory } from './value-test.js';

export const startsWith: ValueTestFactory = anyPart((value, part) => value.startsWith(part));
export const endsWith: ValueTestFactory = anyPart((value, part) => value.endsWith(part));
export const contains: ValueTestFactory = anyPart((value, part) => value.includes(part));

function anyPart(matches: (value: string, part: string) => boolean): ValueTestFactory {
  return (constraint) =>
    constraint.caseInsensitive ? ignoringCase(constraint, matches) : exactly(constraint, matches);
}

function exactly(constraint: ConstraintDefinition, matches: (value: string, part: string) => boolean): ValueTest {
  const parts = operandTexts(constraint);
  return (value) => {
    if (value === undefined) return false;
    for (const part of parts) if (matches(value, part)) return true;
    return false;
  };
}

function ignoringCase(constraint: ConstraintDefinition, matches: (value: string, part: string) => boolean): ValueTest {
  const parts = operandTexts(constraint).map((part) => part.toLowerCase());
  return (value) => {
    if (value === undefined) return false;
    const lowered = value.toLowerCase();
    for (const part of parts) if (matches(lowered, part)) return true;
    return false;
  };
}
