import { describeObject } from '../../base/inputs.js';
import type { OpenedFeature } from '../../kernel/feature.js';
import { describeKind } from '../../kernel/restorer.js';
import { segmentDocuments } from './segment.kind.js';
import { segmentOperations } from './segment.operations.js';
import { segmentRestorer } from './segment.restorer.js';
import { findSegmentIssues, newSegment, segmentChanges } from './segment.schema.js';
import { findSegmentUses } from './segment-uses.js';

export const segmentsFeature = {
  name: 'segments',
  kinds: [describeKind(segmentDocuments, segmentRestorer)],
  inputs: {
    newSegment: describeObject(newSegment, findSegmentIssues),
    segmentChanges: describeObject(segmentChanges, findSegmentIssues),
  },
  operations: segmentOperations,
  open: (): OpenedFeature<object> => ({ rules: { findSegmentUses } }),
} as const;
