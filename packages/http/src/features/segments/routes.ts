import type { Flags, Segment, SegmentUse } from '@flags/core';
import { projectOfSegment } from '@flags/core/integration/http';
import { SEGMENT, SEGMENTS } from '../../api/paths.js';
import { LONG_READ, listReply, segmentIdIn, WHOLE_LIST } from '../../api/query.js';
import { route, withRevision } from '../../api/route.js';
import { projectIn } from '../../auth/permissions.js';
import { jsonArray } from '../../messages/json.js';
import { unchecked } from '../../messages/request.js';
import {
  example,
  listOf,
  nullableText,
  objectComponent,
  positiveInteger,
  text,
  timestamp,
} from '../../messages/schema.js';
import { constraintSchema, constraintToWire } from '../flags/wire.js';

const segmentSchema = objectComponent('Segment', {
  id: positiveInteger,
  name: example('beta'),
  description: example('Who has asked for it'),
  constraints: listOf(constraintSchema),
  project: {
    ...example(null, nullableText),
    description: 'The only project whose flags may use the segment; null: any project.',
  },
  createdAt: timestamp,
  createdBy: text,
});

const segmentListSchema = objectComponent('SegmentList', { segments: listOf(segmentSchema) });

const segmentUseSchema = objectComponent('SegmentUse', {
  id: { type: 'string', description: 'The id of the strategy.' },
  featureName: text,
  projectId: text,
  environment: text,
});

function segmentToWire({ id, name, description, constraints, project, createdAt, createdBy }: Segment) {
  return { id, name, description, constraints: constraints.map(constraintToWire), project, createdAt, createdBy };
}

function segmentListToWire(segments: unknown) {
  return { segments };
}

export function segmentUseToWire({ strategy, flag, project, environment }: SegmentUse) {
  return { id: strategy, featureName: flag, projectId: project, environment };
}

export const segmentRoutes = [
  route('GET', SEGMENTS, 'listSegments', {
    summary: 'List the segments, ordered by id',
    paged: 'optional',
    long: WHOLE_LIST,
    reply: segmentListSchema,
    // Reads page by page, because segments may be large.
    handle: ({ flags, query }) =>
      listReply(query, {
        page: (page) => flags.segments.list({}, page),
        toWire: segmentToWire,
        body: segmentListToWire,
      }),
  }),
  route('POST', SEGMENTS, 'createSegment', {
    changes: 'segment',
    summary: 'Create a segment',
    body: 'newSegment',
    status: 201,
    reply: segmentSchema,
    errors: ['project_not_found', 'segment_exists'],
    permissionIn: 'handler',
    async handle({ flags, principal, body, context }) {
      await principal.check('createSegment', projectIn(body) ?? null);
      return withRevision(await flags.segments.create(unchecked(body), context), segmentToWire);
    },
  }),
  route('GET', SEGMENT, 'getSegment', {
    summary: 'Get a segment',
    reply: segmentSchema,
    permissionIn: locateSegment,
    long: LONG_READ,
    handle: async ({ flags, ref }) => withRevision(await flags.segments.get(ref), segmentToWire),
  }),
  route('PUT', SEGMENT, 'updateSegment', {
    summary: 'Update a segment for all strategies that use it',
    body: 'segmentChanges',
    reply: segmentSchema,
    errors: ['project_not_found', 'segment_exists', 'segment_in_use'],
    changes: 'segment',
    permissionIn: locateSegment,
    async handle({ flags, ref, body, project, principal, context }) {
      const next = projectIn(body);
      if (next !== undefined && next !== project) await principal.check('updateSegment', next);
      return withRevision(await flags.segments.update(ref, unchecked(body), context), segmentToWire);
    },
  }),
  route('DELETE', SEGMENT, 'deleteSegment', {
    summary: 'Delete a segment that no strategy uses',
    errors: ['segment_in_use'],
    changes: 'segment',
    permissionIn: locateSegment,
    handle: ({ flags, ref, context }) => flags.segments.delete(ref, context),
  }),
  route('GET', `${SEGMENT}/strategies`, 'listSegmentUses', {
    summary: 'List the strategies that use a segment, including those of archived flags',
    reply: objectComponent('SegmentUses', { strategies: listOf(segmentUseSchema) }),
    permissionIn: locateSegment,
    handle: async ({ flags, ref }) => ({
      body: { strategies: jsonArray((await flags.segments.listUses(ref)).items, segmentUseToWire) },
    }),
  }),
  route('GET', `${SEGMENTS}/strategies/:strategyId`, 'listStrategySegments', {
    summary: 'List the segments that a strategy uses, ordered by id',
    reply: segmentListSchema,
    never: ['strategy_not_found'],
    async handle({ flags, params }) {
      const { items } = await flags.segments.list({ strategy: params.strategyId });
      return { body: segmentListToWire(jsonArray(items, segmentToWire)) };
    },
  }),
];

/** Handlers pass on the project, because the segment may move to another one after the permission check. */
function locateSegment(flags: Flags, { segmentId = '' }: Readonly<Record<string, string>>) {
  return projectOfSegment(flags, segmentIdIn(segmentId));
}
