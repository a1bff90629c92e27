import type { Segment, SegmentUse } from '@flags/core';

export function segmentToWire({ id, name, description, constraints, project, createdAt, createdBy }: Segment) {
  return { id, name, description, constraints, project, createdAt, createdBy };
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
