import type { Flag } from '@flags/core';
import { type FlagEntry, type InputSchemas, listFlagEntries } from '@flags/core/integration/http';
import type { JsonSchema } from '@flags/core/integration/shared';
import { ARCHIVE, FLAG, FLAGS, projectOfFlag, TAG_PARAMETER } from '../../api/paths.js';
import { inputParameters, listReply, parameter, WHOLE_LIST } from '../../api/query.js';
import { changeAndReply, type RouteResult, route } from '../../api/route.js';
import { JSON_PATCH } from '../../changes/json-patch.js';
import { flagTag } from '../../messages/reply.js';
import { unchecked } from '../../messages/request.js';
import { boolean, listOf, objectComponent, propertiesOf, text, timestamp, version } from '../../messages/schema.js';
import { patchFlag } from './patches.js';
import { flagQueryOf } from './search.js';
import {
  flagDetailSchema,
  flagDetailToWire,
  flagListToWire,
  flagMembers,
  flagSchema,
  flagSummary,
  flagSummarySchema,
} from './wire.js';

/*
 * The routes of flags in the admin API.
 */

const archivedFlagSchema = objectComponent('ArchivedFlag', {
  ...flagSummary,
  project: text,
  archived: { type: 'boolean', const: true },
  archivedAt: timestamp,
  description: flagMembers.description,
  impressionData: boolean,
});

const archivedFlagListSchema = objectComponent('ArchivedFlagList', { version, features: listOf(archivedFlagSchema) });

/** The schema of a flag update: the changes, and a required name, which the operation ignores. */
function flagUpdateInput({ flagChanges }: InputSchemas): JsonSchema {
  return {
    ...flagChanges,
    properties: { name: { type: 'string' }, ...propertiesOf(flagChanges) },
    required: ['name'],
  };
}

/** A flag in the list of its project. */
function summaryToWire({ name, type, stale, createdAt, lastSeenAt, environments }: FlagEntry) {
  return { name, type, stale, createdAt, lastSeenAt, environments };
}

/** The reply to a change that returns its flag. */
async function changed(flag: Promise<Flag>): Promise<RouteResult> {
  return { changed: await flag };
}

export const flagRoutes = [
  route('GET', FLAGS, 'listFlags', {
    summary: 'List the flags of a project, ordered by name',
    query: [
      parameter('archived', 'true: only archived flags. Default: only flags that are not archived.', boolean),
      ...inputParameters('flagQuery', { namePrefix: 'Only flags whose names start with this text.' }),
      TAG_PARAMETER,
    ],
    paged: 'optional',
    sameForAll: 'flags',
    long: WHOLE_LIST,
    reply: objectComponent('FlagList', { version, features: listOf(flagSummarySchema) }),
    handle: ({ flags, ref, query }) =>
      listReply(query, {
        page: (page) => listFlagEntries(flags, { ...flagQueryOf(query), project: ref.project }, page),
        isWhole: true,
        toWire: summaryToWire,
        body: flagListToWire,
      }),
  }),
  route('POST', FLAGS, 'createFlag', {
    summary: 'Create a flag that is off in every environment',
    body: 'newFlag',
    changes: 'flag',
    status: 201,
    reply: flagSchema,
    errors: ['flag_exists'],
    handle: ({ flags, ref, body, context }) => changed(flags.createFlag(ref, unchecked(body), context)),
  }),
  route('GET', FLAG, 'getFlag', {
    summary: 'Get a flag, archived or not, with its configuration in every environment',
    sameForAll: 'flags',
    query: [
      parameter(
        'asOf',
        'Time at which to read the flag, in ISO 8601. Default: now. `lastSeenAt` is null for an earlier time.',
        {
          type: 'string',
          maxLength: 100,
        },
      ),
    ],
    reply: flagDetailSchema,
    long: { kind: 'plan', isShort: ({ query: { asOf } }) => asOf === undefined },
    async handle({ flags, ref, query: { asOf } }) {
      if (typeof asOf === 'string') return { body: flagDetailToWire(await flags.history.asOf(asOf).getFlag(ref)) };
      const flag = await flags.getFlag(ref);
      return { body: flagDetailToWire(flag), etag: flagTag(flag) };
    },
  }),
  route('PUT', FLAG, 'updateFlag', {
    summary: 'Update the description, type, staleness, impression data, labels or owner of a flag',
    body: { schema: flagUpdateInput, choices: ['type'] },
    changes: 'flag',
    reply: flagSchema,
    handle: ({ flags, ref, body, context }) => changed(flags.updateFlag(ref, unchecked(body), context)),
  }),
  route('PATCH', FLAG, 'patchFlag', {
    summary: 'Update a flag with a JSON Patch (RFC 6902)',
    body: JSON_PATCH,
    changes: 'flag',
    reply: flagSchema,
    errors: ['invalid_patch', 'patch_test_failed'],
    handle: ({ flags, ref, body, context }) => changed(patchFlag(flags, { ref, patch: body, context })),
  }),
  route('POST', `${FLAG}/clone`, 'cloneFlag', {
    summary: 'Copy a flag under a new name; the copy is off in every environment',
    body: 'clone',
    changes: 'flag',
    status: 201,
    reply: flagSchema,
    errors: ['flag_exists'],
    handle: ({ flags, ref, body, context }) => changed(flags.cloneFlag(ref, unchecked(body), context)),
  }),
  route('DELETE', FLAG, 'archiveFlag', {
    summary: 'Archive a flag',
    changes: 'flag',
    status: 202,
    errors: ['flag_has_children'],
    never: ['flag_archived'],
    handle: ({ flags, ref, context }) => changeAndReply(flags, 'archiveFlag', { ref, context }),
  }),
];

export const archiveRoutes = [
  route('GET', `${ARCHIVE}/features`, 'listArchivedFlags', {
    summary: 'List the archived flags of all projects, ordered by name',
    paged: 'optional',
    long: WHOLE_LIST,
    reply: archivedFlagListSchema,
    handle: ({ flags, query }) =>
      listReply(query, {
        isWhole: true,
        page: (page) => listFlagEntries(flags, { archived: true }, page),
        body: flagListToWire,
      }),
  }),
  route('GET', `${ARCHIVE}/features/:projectId`, 'listProjectArchivedFlags', {
    summary: 'List the archived flags of a project, ordered by name',
    paged: 'optional',
    long: WHOLE_LIST,
    reply: archivedFlagListSchema,
    handle: ({ flags, ref, query }) =>
      listReply(query, {
        isWhole: true,
        page: (page) => listFlagEntries(flags, { archived: true, project: ref.project }, page),
        body: flagListToWire,
      }),
  }),
  route('POST', `${ARCHIVE}/revive/:featureName`, 'reviveFlag', {
    summary: 'Revive an archived flag; it is off everywhere, and loses dependencies on archived or deleted flags',
    changes: 'flag',
    reply: flagSchema,
    never: ['flag_archived'],
    permissionIn: projectOfFlag,
    handle: ({ flags, ref, context }) => changed(flags.reviveFlag(ref, context)),
  }),
  route('DELETE', `${ARCHIVE}/:featureName`, 'deleteFlag', {
    summary: 'Delete an archived flag permanently; its name can be used again',
    errors: ['flag_not_archived'],
    ifMatch: 'flag',
    permissionIn: projectOfFlag,
    handle: ({ flags, ref, context }) => flags.deleteFlag(ref, context),
  }),
];
