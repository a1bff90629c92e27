import type { ConstraintDefinition } from '../../api/definitions.js';
import { operandTexts } from './operand-texts.js';
import type { ValueTest } from './value-test.js';

export function isIn(constraint: ConstraintDefinition): ValueTest {
  const values = new Set<string | undefined>(operandTexts(constraint));
  return (value) => values.has(value);
}

/** Also holds for a field that the context has no value for. */
export function isNotIn(constraint: ConstraintDefinition): ValueTest {
  const values = new Set<string | undefined>(operandTexts(constraint));
  return (value) => !values.has(value);
}
