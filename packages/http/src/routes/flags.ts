import type {
  ArchivedFlag,
  FlagChanges,
  FlagOverview,
  FlagSummary,
  Flags,
  Page,
  PageQuery,
  ProjectRef,
} from '@flags/core';
import type { JsonSchema } from '@flags/core/integration';
import { unchecked } from '../body.js';
import { listPieces, propertiesOf, propertyOf } from '../query.js';
import { type QueryValues, type Route, route } from '../route.js';
import { archivedFlagToWire, flagDetailToWire, flagListToWire, flagSummaryToWire } from '../wire/flag.js';
import { flagQueryOf } from './features.js';
import { ARCHIVE, FLAG, FLAGS, flagInProject, flagRef, projectOfFlag, projectRef, TAG_PARAMETER } from './paths.js';

/** The schema of a flag update: the changes, and a required name, which the operation ignores. */
function flagUpdateSchema(flagChanges: JsonSchema): JsonSchema {
  return {
    ...flagChanges,
    properties: { name: { type: 'string' }, ...propertiesOf(flagChanges) },
    required: ['name'],
  };
}

/** Lists the flags of a project from memory, because the storage does not find flags by label. */
async function filteredFlags(flags: Flags, ref: ProjectRef, { archived, namePrefix, tag }: QueryValues) {
  // Refuses an unknown project.
  await flags.listFlags(ref, { limit: 1 });
  const displayNames = new Map(flags.settings.environments.map(({ name, displayName }) => [name, displayName]));
  const toSummary = ({ environments, ...flag }: FlagOverview): FlagSummary => ({
    ...flag,
    environments: environments.map(({ name, enabled }) => ({
      name,
      displayName: displayNames.get(name) ?? name,
      enabled,
    })),
  });
  async function find(page: PageQuery): Promise<Page<FlagSummary>> {
    const query = flagQueryOf({ archived, namePrefix, tag, project: ref.project });
    const { items, next } = await flags.listFlags({}, { ...query, ...page });
    return { items: items.map(toSummary), ...(next !== undefined && { next }) };
  }
  return { whole: async () => (await find({})).items, page: find };
}

export const flagRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: FLAGS,
    action: 'listFlags',
    summary: 'The flags of a project, by name',
    tag: 'Flags',
    access: 'admin',
    query: [
      {
        name: 'archived',
        description: 'true: only the archived flags; otherwise only those that are not archived.',
        schema: () => ({ type: 'boolean' }),
      },
      {
        name: 'namePrefix',
        description: 'Only flags whose names begin so.',
        schema: ({ flagQuery }) => propertyOf(flagQuery, 'namePrefix'),
      },
      TAG_PARAMETER,
    ],
    paged: 'optional',
    cacheBy: 'flags',
    reply: { status: 200, schema: 'FlagList' },
    errors: ['invalid_input', 'project_not_found'],
    async handle({ flags, params, query }) {
      const ref = projectRef(params);
      const live = { whole: () => flags.listFlags(ref), page: (page: PageQuery) => flags.listFlags(ref, page) };
      const archived = {
        whole: () => flags.listArchivedFlags(ref),
        page: (page: PageQuery) => flags.listArchivedFlags(ref, page),
      };
      const all = query.archived === true ? archived : live;
      const isFiltered = query.namePrefix !== undefined || query.tag !== undefined;
      const { items, next } = await listPieces<FlagSummary>(query, {
        ...(isFiltered ? await filteredFlags(flags, ref, query) : all),
        cursorOf: ({ name }) => name,
        toWire: flagSummaryToWire,
      });
      return { chunks: flagListToWire(items), next };
    },
  }),
  route({
    method: 'POST',
    path: FLAGS,
    action: 'createFlag',
    summary: 'Create a flag, off in every environment',
    tag: 'Flags',
    access: 'admin',
    body: { required: true, schema: ({ newFlag }) => newFlag, checkedBy: 'core' },
    changes: 'flag',
    reply: { status: 201, schema: 'Flag' },
    errors: ['invalid_input', 'project_not_found', 'flag_exists'],
    async handle({ flags, params, body }) {
      return { changed: await flags.createFlag(projectRef(params), unchecked(body)) };
    },
  }),
  route({
    method: 'GET',
    path: FLAG,
    action: 'getFlag',
    summary: 'A flag, archived or not, with its configuration in every environment',
    tag: 'Flags',
    access: 'admin',
    cacheBy: 'flags',
    query: [
      {
        name: 'asOf',
        description: 'The flag as it was at this time, ISO 8601; now when absent. `lastSeenAt` is null then.',
        schema: () => ({ type: 'string', maxLength: 100 }),
      },
    ],
    reply: { status: 200, schema: 'FlagDetail' },
    errors: ['invalid_input', 'project_not_found', 'flag_not_found'],
    heavy: 'read',
    isLight: ({ query: { asOf } }) => asOf === undefined,
    async handle({ flags, params, query: { asOf } }) {
      if (typeof asOf === 'string') return { body: flagDetailToWire(await flags.asOf(asOf).getFlag(flagRef(params))) };
      const flag = await flags.getFlag(flagRef(params));
      return { body: flagDetailToWire(flag), revision: flag.revision };
    },
  }),
  route({
    method: 'PUT',
    path: FLAG,
    action: 'updateFlag',
    summary: 'Change the description, type, staleness, impression data, labels or owner of a flag',
    tag: 'Flags',
    access: 'admin',
    body: { required: true, schema: ({ flagChanges }) => flagUpdateSchema(flagChanges), checkedBy: 'router' },
    changes: 'flag',
    reply: { status: 200, schema: 'Flag' },
    errors: ['invalid_input', 'project_not_found', 'flag_not_found', 'flag_archived', 'revision_mismatch'],
    ifMatch: 'flag',
    async handle({ flags, params, body, context }) {
      return { changed: await flags.updateFlag(flagRef(params), unchecked<FlagChanges>(body), context) };
    },
  }),
  route({
    method: 'PATCH',
    path: FLAG,
    action: 'patchFlag',
    summary: 'Change a flag by a JSON Patch (RFC 6902)',
    tag: 'Flags',
    access: 'admin',
    body: { required: true, schema: ({ jsonPatch }) => jsonPatch, checkedBy: 'core' },
    changes: 'flag',
    reply: { status: 200, schema: 'Flag' },
    errors: [
      'invalid_input',
      'invalid_patch',
      'patch_test_failed',
      'project_not_found',
      'flag_not_found',
      'flag_archived',
      'revision_mismatch',
    ],
    ifMatch: 'flag',
    async handle({ flags, params, body, context }) {
      return { changed: await flags.patchFlag(flagRef(params), unchecked(body), context) };
    },
  }),
  route({
    method: 'POST',
    path: `${FLAG}/clone`,
    action: 'cloneFlag',
    summary: 'Copy a flag under a new name, off in every environment',
    tag: 'Flags',
    access: 'admin',
    body: { required: true, schema: ({ clone }) => clone, checkedBy: 'core' },
    changes: 'flag',
    reply: { status: 201, schema: 'Flag' },
    errors: [
      'invalid_input',
      'project_not_found',
      'flag_not_found',
      'flag_archived',
      'flag_exists',
      'revision_mismatch',
    ],
    ifMatch: 'flag',
    async handle({ flags, params, body, context }) {
      return { changed: await flags.cloneFlag(flagRef(params), unchecked(body), context) };
    },
  }),
  route({
    method: 'DELETE',
    path: FLAG,
    action: 'archiveFlag',
    summary: 'Archive a flag',
    tag: 'Flags',
    access: 'admin',
    changes: 'flag',
    reply: { status: 202 },
    errors: ['project_not_found', 'flag_not_found', 'flag_has_children', 'revision_mismatch'],
    ifMatch: 'flag',
    async handle({ flags, params, context }) {
      await flags.archiveFlag(flagRef(params), context);
      return {};
    },
  }),
];

const ARCHIVED = { cursorOf: ({ name }: ArchivedFlag) => name, toWire: archivedFlagToWire };

export const archiveRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: `${ARCHIVE}/features`,
    action: 'listArchivedFlags',
    summary: 'The archived flags of all projects, by name',
    tag: 'Archive',
    access: 'admin',
    paged: 'optional',
    streamed: 'flags',
    reply: { status: 200, schema: 'ArchivedFlagList' },
    errors: ['invalid_input'],
    async handle({ flags, query }) {
      const { items, next } = await listPieces(query, {
        ...ARCHIVED,
        whole: () => flags.listArchivedFlags(),
        page: (page) => flags.listArchivedFlags({}, page),
      });
      return { chunks: flagListToWire(items), next };
    },
  }),
  route({
    method: 'GET',
    path: `${ARCHIVE}/features/:projectId`,
    action: 'listProjectArchivedFlags',
    summary: 'The archived flags of a project, by name',
    tag: 'Archive',
    access: 'admin',
    paged: 'optional',
    streamed: 'flags',
    reply: { status: 200, schema: 'ArchivedFlagList' },
    errors: ['invalid_input', 'project_not_found'],
    async handle({ flags, params, query }) {
      const ref = projectRef(params);
      const { items, next } = await listPieces(query, {
        ...ARCHIVED,
        whole: () => flags.listArchivedFlags(ref),
        page: (page) => flags.listArchivedFlags(ref, page),
      });
      return { chunks: flagListToWire(items), next };
    },
  }),
  route({
    method: 'POST',
    path: `${ARCHIVE}/revive/:featureName`,
    action: 'reviveFlag',
    summary: 'Take a flag out of the archive, off in every environment',
    tag: 'Archive',
    access: 'admin',
    changes: 'flag',
    reply: { status: 200, schema: 'Flag' },
    errors: ['flag_not_found', 'revision_mismatch'],
    ifMatch: 'flag',
    projectOf: projectOfFlag,
    async handle({ flags, params, project, context }) {
      return { changed: await flags.reviveFlag(flagInProject(params, project), context) };
    },
  }),
  route({
    method: 'DELETE',
    path: `${ARCHIVE}/:featureName`,
    action: 'deleteFlag',
    summary: 'Delete an archived flag for good; its name is free again',
    tag: 'Archive',
    access: 'admin',
    reply: { status: 200 },
    errors: ['flag_not_found', 'flag_not_archived', 'revision_mismatch'],
    ifMatch: 'flag',
    projectOf: projectOfFlag,
    async handle({ flags, params, project, context }) {
      await flags.deleteFlag(flagInProject(params, project), context);
      return {};
    },
  }),
];
