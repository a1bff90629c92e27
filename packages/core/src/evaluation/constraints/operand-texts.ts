import type { ConstraintDefinition } from '../../api/definitions.js';
import { textsOf } from '../shape.js';

/** A constraint's `values`, trimmed; empty ones do not count. */
export function operandTexts(constraint: ConstraintDefinition): string[] {
  return textsOf(constraint.values, 'values of a constraint').map((value) => value.trim());
}
