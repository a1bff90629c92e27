import type { NewSegment, SegmentChanges } from '../../api/segments.js';
import type { ObjectSchema } from '../json-schema.js';
import { LIMITS } from '../limits.js';
import { text } from './names.js';
import { constraints } from './strategies.js';

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
