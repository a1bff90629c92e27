import type { Segment, SegmentUse } from '@flags/core';
import type { JsonChunks } from '../chunks.js';
import { jsonArray, jsonObject } from '../json-chunks.js';
import { constraintToWire } from './strategy.js';

export function segmentToWire({ id, name, description, constraints, project, createdAt, createdBy }: Segment) {
  return { id, name, description, constraints: constraints.map(constraintToWire), project, createdAt, createdBy };
}

export function segmentListToWire(segments: JsonChunks) {
  return jsonObject({ segments });
}

export function segmentUsesToWire(uses: readonly SegmentUse[]) {
  return jsonObject({ strategies: jsonArray(uses, segmentUseToWire) });
}

function segmentUseToWire({ strategy, flag, project, environment }: SegmentUse) {
  return { id: strategy, featureName: flag, projectId: project, environment };
}
