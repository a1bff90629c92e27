import { listOf, positiveInteger, referTo, text, timestamp } from './common.js';
import { strictObject } from './strict-object.js';

export const segmentSchemas = {
  Segment: strictObject({
    id: positiveInteger,
    name: text,
    description: text,
    constraints: listOf(referTo('Constraint')),
    project: { type: ['string', 'null'], description: 'Whose flags alone may use it; null: those of every project.' },
    createdAt: timestamp,
    createdBy: text,
  }),

  SegmentList: strictObject({ segments: listOf(referTo('Segment')) }),

  SegmentUses: strictObject({ strategies: listOf(referTo('SegmentUse')) }),

  SegmentUse: strictObject({
    id: { type: 'string', description: 'The id of the strategy.' },
    featureName: text,
    projectId: text,
    environment: text,
  }),
};
