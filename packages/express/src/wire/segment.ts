import type { Segment, SegmentUse } from '@flags/core';
import { constraintToWire } from './strategy.js';

export function segmentToWire({ id, name, description, constraints, createdAt, createdBy }: Segment) {
  return { id, name, description, constraints: constraints.map(constraintToWire), createdAt, createdBy };
}

export function segmentListToWire(segments: readonly Segment[]) {
  return { segments: segments.map(segmentToWire) };
}

export function segmentUsesToWire(uses: readonly SegmentUse[]) {
  return { strategies: uses.map(segmentUseToWire) };
}

function segmentUseToWire({ strategy, flag, project, environment }: SegmentUse) {
  return { id: strategy, featureName: flag, projectId: project, environment };
}
