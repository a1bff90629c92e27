import type { ConstraintDefinition } from '../../api/definitions.js';
import { inAnyRange, parseRange } from '../network/address-range.js';
import { operandTexts } from './operand-texts.js';
import type { ValueTest } from './value-test.js';

/** Ranges of either family; what is no range is passed over. */
export function isInCidr(constraint: ConstraintDefinition): ValueTest {
  const ranges = operandTexts(constraint)
    .map(parseRange)
    .filter((range) => range !== undefined);
  return (value) => value !== undefined && inAnyRange(ranges, value);
}
