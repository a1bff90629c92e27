import type { ArchivedFlag } from '@flags/core';
import { listPieces } from '../query.js';
import { type Route, route } from '../route.js';
import { archivedFlagToWire, flagListToWire, flagToWire } from '../wire/flag.js';
import { ARCHIVE, flagInProject, projectOfFlag, projectRef } from './paths.js';

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
      const flag = await flags.reviveFlag(flagInProject(params, project), context);
      return { body: flagToWire(flag), revision: flag.revision };
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
