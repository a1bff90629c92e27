import type { Project, ProjectOverview, ProjectSummary } from '@flags/core';
import type { JsonSchema } from '@flags/core/integration/shared';
import { PROJECT, PROJECTS } from '../../api/paths.js';
import { LONG_READ, listReply, WHOLE_LIST } from '../../api/query.js';
import { route, withRevision } from '../../api/route.js';
import { jsonArray } from '../../messages/json.js';
import { unchecked } from '../../messages/request.js';
import { count, example, listOf, objectComponent, text, timestamp, version } from '../../messages/schema.js';
import { flagSummarySchema } from '../flags/wire.js';

const health: JsonSchema = {
  type: 'integer',
  minimum: 0,
  maximum: 100,
  description: '100 minus the percentage of flags that are stale or potentially stale.',
};

const project = { id: example('default'), name: example('Default'), description: text };

const overview = {
  name: example('Default'),
  description: text,
  features: listOf(flagSummarySchema),
  health,
  members: count,
  version,
};

const projectSchema = objectComponent('Project', project);

const projectSummarySchema = objectComponent('ProjectSummary', {
  ...project,
  createdAt: timestamp,
  health,
  memberCount: count,
  featureCount: count,
});

const healthReportSchema = objectComponent('HealthReport', {
  ...overview,
  potentiallyStaleCount: {
    ...count,
    description: 'Number of flags that are not stale, but older than the lifetime of their type.',
  },
  activeCount: { ...count, description: 'Number of flags that are not stale.' },
  staleCount: count,
});

function projectToWire({ id, name, description }: Project) {
  return { id, name, description };
}

function projectOverviewToWire({ name, description, flags, health, memberCount }: ProjectOverview) {
  return { version: 1, name, description, features: jsonArray(flags), health, members: memberCount };
}

/** Counts potentially stale flags as active, as Unleash 4.x does. */
function healthReportToWire(project: ProjectOverview) {
  const { potentiallyStaleCount, staleCount, flagCount } = project;
  return { ...projectOverviewToWire(project), potentiallyStaleCount, activeCount: flagCount - staleCount, staleCount };
}

export function projectSummaryToWire(project: ProjectSummary) {
  const { id, name, description, createdAt, health, memberCount, flagCount } = project;
  return { id, name, description, createdAt, health, memberCount, featureCount: flagCount };
}

export const projectRoutes = [
  route('GET', PROJECTS, 'listProjects', {
    summary: 'List the projects, ordered by id',
    paged: 'optional',
    sameForAll: 'projects',
    long: WHOLE_LIST,
    reply: objectComponent('ProjectList', { version, projects: listOf(projectSummarySchema) }),
    handle: ({ flags, query }) =>
      listReply(query, {
        isWhole: true,
        page: (page) => flags.listProjects(page),
        toWire: projectSummaryToWire,
        body: (projects) => ({ version: 1, projects }),
      }),
  }),
  route('POST', PROJECTS, 'createProject', {
    changes: 'project',
    summary: 'Create a project without members',
    body: 'newProject',
    status: 201,
    reply: projectSchema,
    errors: ['project_exists'],
    handle: async ({ flags, body, context }) =>
      withRevision(await flags.createProject(unchecked(body), context), projectToWire),
  }),
  route('GET', PROJECT, 'getProject', {
    summary: 'Get a project with its flags and its health',
    sameForAll: 'projects',
    long: LONG_READ,
    reply: objectComponent('ProjectOverview', overview),
    handle: async ({ flags, ref }) => withRevision(await flags.getProject(ref), projectOverviewToWire),
  }),
  route('GET', `${PROJECT}/health-report`, 'getProjectHealth', {
    summary: 'Get a project and its numbers of stale, potentially stale and active flags',
    sameForAll: 'projects',
    long: LONG_READ,
    reply: healthReportSchema,
    handle: async ({ flags, ref }) => withRevision(await flags.getProject(ref), healthReportToWire),
  }),
  route('PUT', PROJECT, 'updateProject', {
    summary: 'Update the display name or the description of a project',
    body: 'projectChanges',
    reply: projectSchema,
    changes: 'project',
    handle: async ({ flags, ref, body, context }) =>
      withRevision(await flags.updateProject(ref, unchecked(body), context), projectToWire),
  }),
  route('DELETE', PROJECT, 'deleteProject', {
    summary: 'Delete a project whose flags are all archived, and its archived flags permanently',
    errors: ['project_protected', 'project_not_empty'],
    changes: 'project',
    handle: ({ flags, ref, context }) => flags.deleteProject(ref, context),
  }),
];
