import {
  type Definitions,
  definitionsSchema,
  type ErrorCode,
  type ImportOptions,
  type ImportResult,
} from '@flags/core';
import { exportReadableDefinitions } from '@flags/core/integration/http';
import type { JsonSchema } from '@flags/core/integration/shared';
import { parameter } from '../../api/query.js';
import { type RouteRequest, route } from '../../api/route.js';
import { createProjectFilter, isPermitted } from '../../auth/permissions.js';
import { createChangePermissions } from '../../changes/change-permissions.js';
import { unchecked } from '../../messages/request.js';
import { component } from '../../messages/schema.js';
import { visibleEffects } from '../environments/changes.js';
import { definitionsToWire, importResultSchema, importResultToWire } from '../environments/changes-wire.js';

const { $schema: _$schema, ...definitions } = definitionsSchema();

const exportSchema = component('Definitions', {
  ...definitions,
  examples: [
    {
      version: 1,
      projects: [{ id: 'default', name: 'Default' }],
      segments: [],
      flags: [
        {
          name: 'checkout',
          project: 'default',
          type: 'release',
          description: 'The new checkout',
          environments: { production: { enabled: true, strategies: [{ name: 'default' }] } },
        },
      ],
    },
  ],
});

const IMPORT_ERRORS: readonly ErrorCode[] = [
  'invalid_input',
  'parent_not_found',
  'flag_has_children',
  'segment_in_use',
  'dependency_cycle',
  'dependency_too_deep',
  'last_owner',
  'approval_required',
  'change_set_too_large',
];

const body: JsonSchema = {
  type: 'object',
  properties: {
    definitions,
    prune: {
      type: 'boolean',
      description:
        'Whether to archive flags of the listed projects that the document does not contain. Default: false.',
    },
    dryRun: { type: 'boolean', description: 'Whether to return the differences without a commit. Default: false.' },
    reason: { type: 'string', maxLength: 1000, description: 'The reason for the changes, shown in the history.' },
  },
  required: ['definitions'],
};

export const definitionRoutes = [
  route('GET', '/api/admin/export', 'exportDefinitions', {
    permissionIn: 'anyProject',
    summary: 'Export projects, segments and flags as one document',
    query: [
      parameter('project', 'Only this project. Default: all projects that the caller may export.', {
        type: 'string',
        minLength: 1,
        maxLength: 100,
      }),
    ],
    reply: exportSchema,
    errors: ['project_not_found'],
    long: { kind: 'plan' },
    async handle({ flags, principal, query: { project } }) {
      const canRead = createProjectFilter(principal, 'exportDefinitions');
      const named = typeof project === 'string' ? { project } : {};
      if (typeof project === 'string') await principal.check('exportDefinitions', project);
      const definitions = await exportReadableDefinitions(flags, named, canRead);
      return { body: definitionsToWire(definitions) };
    },
  }),
  route('POST', '/api/admin/import', 'importDefinitions', {
    permissionIn: 'handler',
    summary: 'Import projects, segments and flags from a document; only differences are committed',
    body: { schema: body, checkedBy: 'core' },
    reply: importResultSchema,
    errors: IMPORT_ERRORS,
    long: { kind: 'change' },
    async handle({ body: given, ...request }) {
      // Does not use rest syntax: it would copy every unknown member, and every character of a text body.
      const {
        definitions: document,
        prune,
        dryRun,
        reason = request.context.reason,
      } = unchecked<Omit<ImportOptions, 'id'> & { readonly definitions: Definitions }>(Object(given));
      await checkNamedProjects(request.principal, document);
      const { bypassApproval } = request.context;
      const needs = { action: 'importDefinitions', isDryRun: dryRun === true, ownsNewProjects: true } as const;
      const result = await createChangePermissions(request, needs).flags.definitions.import(document, {
        ...(prune !== undefined && { prune }),
        ...(dryRun !== undefined && { dryRun }),
        ...(reason !== undefined && { reason }),
        ...(request.context.id !== undefined && { id: request.context.id }),
        ...(bypassApproval !== undefined && { bypassApproval }),
      });
      const { effects, differences } = result;
      const created = differences.filter(
        ({ kind, parts }) => kind === 'project' && parts.some(({ path }) => path === ''),
      );
      const ids = created.map(({ id }) => id);
      const maySee = createProjectFilter(request.principal, 'importDefinitions', ids);
      const rollouts: ImportResult['rollouts'][number][] = [];
      for (const rollout of result.rollouts) if (await maySee(rollout.project)) rollouts.push(rollout);
      const visible = effects && (await visibleEffects(effects, maySee));
      return { body: importResultToWire({ ...result, rollouts }, visible) };
    },
  }),
];

/**
 * Checks the permission in every project that a document names, before the document is validated: callers without
 * permission learn nothing about it. A document that names none is about the instance.
 */
async function checkNamedProjects(principal: RouteRequest['principal'], document: unknown): Promise<void> {
  const { projects, segments, flags } = Object(document) as Readonly<Record<string, unknown>>;
  const own = new Set(membersOf(projects, 'id'));
  const named = new Set([...membersOf(segments, 'project'), ...membersOf(flags, 'project')]);
  for (const project of own) {
    // A new project is about the instance.
    if (!(await isPermitted(principal, 'importDefinitions', project))) await principal.check('importDefinitions', null);
  }
  for (const project of named) if (!own.has(project)) await principal.check('importDefinitions', project);
  const isAboutInstance = listOf(segments).some((one) => typeof Object(one).project !== 'string');
  if (own.size + named.size === 0 && (isAboutInstance || listOf(flags).length === 0)) {
    await principal.check('importDefinitions', null);
  } else if (own.size + named.size === 0) {
    await principal.check('importDefinitions', 'default');
  }
}

function listOf(items: unknown): readonly unknown[] {
  return Array.isArray(items) ? items : [];
}

function membersOf(items: unknown, member: 'id' | 'project'): readonly string[] {
  return listOf(items).flatMap((item) => {
    const value = (Object(item) as Readonly<Record<string, unknown>>)[member];
    return typeof value === 'string' ? [value] : [];
  });
}
