import type { Flags, Segment, SegmentUse } from '@flags/core';
import { projectIn, unchecked } from '../body.js';
import { type JsonChunks, jsonArray, jsonObject } from '../json-chunks.js';
import { allPages, listPieces } from '../query.js';
import { type Route, route } from '../route.js';
import { constraintToWire } from '../wire/flag.js';
import { SEGMENT, SEGMENTS, segmentRef } from './paths.js';

function segmentToWire({ id, name, description, constraints, project, createdAt, createdBy }: Segment) {
  return { id, name, description, constraints: constraints.map(constraintToWire), project, createdAt, createdBy };
}

function segmentListToWire(segments: JsonChunks) {
  return jsonObject({ segments });
}

function segmentUsesToWire(uses: readonly SegmentUse[]) {
  return jsonObject({ strategies: jsonArray(uses, segmentUseToWire) });
}

function segmentUseToWire({ strategy, flag, project, environment }: SegmentUse) {
  return { id: strategy, featureName: flag, projectId: project, environment };
}

export const segmentRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: SEGMENTS,
    action: 'listSegments',
    summary: 'All segments, by id',
    tag: 'Segments',
    access: 'admin',
    paged: 'optional',
    streamed: 'flags',
    reply: { status: 200, schema: 'SegmentList' },
    errors: ['invalid_input'],
    async handle({ flags, query }) {
      const { items, next } = await listPieces(query, {
        // Reads page by page, because segments may be large. The list is therefore not a consistent snapshot.
        whole: async () => allPages((page) => flags.listSegments({}, page)),
        page: (page) => flags.listSegments({}, page),
        cursorOf: ({ id }) => `${id}`,
        toWire: segmentToWire,
      });
      return { chunks: segmentListToWire(items), next };
    },
  }),
  route({
    method: 'POST',
    path: SEGMENTS,
    action: 'createSegment',
    summary: 'Create a segment',
    tag: 'Segments',
    access: 'admin',
    body: { required: true, schema: ({ newSegment }) => newSegment, checkedBy: 'core' },
    reply: { status: 201, schema: 'Segment' },
    errors: ['invalid_input', 'project_not_found', 'segment_exists'],
    permissionBy: 'body',
    async handle({ flags, body }) {
      const segment = await flags.createSegment(unchecked(body));
      return { body: segmentToWire(segment), revision: segment.revision };
    },
  }),
  route({
    method: 'GET',
    path: SEGMENT,
    action: 'getSegment',
    summary: 'A segment',
    tag: 'Segments',
    access: 'admin',
    reply: { status: 200, schema: 'Segment' },
    errors: ['segment_not_found'],
    projectOf: projectOfSegment,
    async handle({ flags, params, project }) {
      const segment = await flags.getSegment({ ...segmentRef(params), project });
      return { body: segmentToWire(segment), revision: segment.revision };
    },
  }),
  route({
    method: 'PUT',
    path: SEGMENT,
    action: 'updateSegment',
    summary: 'Change a segment for all strategies that use it',
    tag: 'Segments',
    access: 'admin',
    body: { required: true, schema: ({ segmentChanges }) => segmentChanges, checkedBy: 'core' },
    reply: { status: 200, schema: 'Segment' },
    errors: [
      'invalid_input',
      'project_not_found',
      'segment_not_found',
      'segment_exists',
      'segment_in_use',
      'revision_mismatch',
    ],
    ifMatch: 'segment',
    projectOf: projectOfSegment,
    async handle({ flags, params, body, project, check, context }) {
      const next = projectIn(body);
      if (next !== undefined && next !== project) await check('updateSegment', next);
      const segment = await flags.updateSegment({ ...segmentRef(params), project }, unchecked(body), context);
      return { body: segmentToWire(segment), revision: segment.revision };
    },
  }),
  route({
    method: 'DELETE',
    path: SEGMENT,
    action: 'deleteSegment',
    summary: 'Delete a segment that no strategy uses',
    tag: 'Segments',
    access: 'admin',
    reply: { status: 200 },
    errors: ['segment_not_found', 'segment_in_use', 'revision_mismatch'],
    ifMatch: 'segment',
    projectOf: projectOfSegment,
    async handle({ flags, params, project, context }) {
      await flags.deleteSegment({ ...segmentRef(params), project }, context);
      return {};
    },
  }),
  route({
    method: 'GET',
    path: `${SEGMENT}/strategies`,
    action: 'listSegmentUses',
    summary: 'The strategies that use a segment, those of archived flags included',
    tag: 'Segments',
    access: 'admin',
    streamed: 'flags',
    reply: { status: 200, schema: 'SegmentUses' },
    errors: ['segment_not_found'],
    projectOf: projectOfSegment,
    handle: async ({ flags, params, project }) => ({
      chunks: segmentUsesToWire(await flags.listSegmentUses({ ...segmentRef(params), project })),
    }),
  }),
  route({
    method: 'GET',
    path: `${SEGMENTS}/strategies/:strategyId`,
    action: 'listStrategySegments',
    summary: 'The segments that a strategy uses, by id',
    tag: 'Segments',
    access: 'admin',
    streamed: 'flags',
    reply: { status: 200, schema: 'SegmentList' },
    errors: [],
    handle: async ({ flags, params }) => ({
      chunks: segmentListToWire(jsonArray(await flags.listSegments({ strategy: params.strategyId }), segmentToWire)),
    }),
  }),
];

/** Handlers pass the project on: the segment may move to another project after the permission check. */
async function projectOfSegment(flags: Flags, { segmentId = '' }: Readonly<Record<string, string>>) {
  return (await flags.getSegment(segmentRef({ segmentId }))).project;
}
