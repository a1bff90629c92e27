import type { ErrorDetail } from '../../base/errors.js';
import { LIMITS } from '../../base/limits.js';
import { type ObjectSchema, text } from '../../base/primitives.js';
import { constraints, findConstraintIssues } from '../flags/strategies.schema.js';
import type { NewSegment, SegmentChanges } from './segment.types.js';
export const newSegment: ObjectSchema<NewSegment> = {
  type: 'object',
  properties: {
    name: text(LIMITS.label),
    description: { type: 'string', maxLength: LIMITS.description },
    constraints,
    project: { type: ['string', 'null'], minLength: 1, maxLength: LIMITS.name },
  },
  required: ['name', 'constraints'],
};

export const segmentChanges: ObjectSchema<SegmentChanges> = {
  type: 'object',
  properties: newSegment.properties,
};

export function findSegmentIssues({ constraints = [] }: SegmentChanges): Iterable<ErrorDetail> {
  return findConstraintIssues(constraints);
}
