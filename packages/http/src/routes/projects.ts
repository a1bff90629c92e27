import type { Project, ProjectOverview, ProjectSummary } from '@flags/core';
import { unchecked } from '../body.js';
import { type JsonChunks, jsonArray, jsonObject } from '../json-chunks.js';
import { listPieces } from '../query.js';
import { type Route, route } from '../route.js';
import { flagSummaryToWire } from '../wire/flag.js';
import { PROJECT, PROJECTS, projectRef } from './paths.js';

function projectToWire({ id, name, description }: Project) {
  return { id, name, description };
}

function projectListToWire(projects: JsonChunks) {
  return jsonObject({ version: 1, projects });
}

function projectOverviewToWire({ name, description, flags, health, memberCount }: ProjectOverview) {
  const features = jsonArray(flags, flagSummaryToWire);
  return { version: 1, name, description, features, health, members: memberCount };
}

/** As in Unleash 4.x, potentially stale flags are active. */
function healthReportToWire(project: ProjectOverview) {
  const { potentiallyStaleCount, staleCount, flagCount } = project;
  return { ...projectOverviewToWire(project), potentiallyStaleCount, activeCount: flagCount - staleCount, staleCount };
}

function projectSummaryToWire(project: ProjectSummary) {
  const { id, name, description, createdAt, health, memberCount, flagCount } = project;
  return { id, name, description, createdAt, health, memberCount, featureCount: flagCount };
}

export const projectRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: PROJECTS,
    action: 'listProjects',
    summary: 'All projects, by id',
    tag: 'Projects',
    access: 'admin',
    paged: 'optional',
    cacheBy: 'projects',
    reply: { status: 200, schema: 'ProjectList' },
    errors: ['invalid_input'],
    async handle({ flags, query }) {
      const { items, next } = await listPieces(query, {
        whole: () => flags.listProjects(),
        page: (page) => flags.listProjects(page),
        cursorOf: ({ id }) => id,
        toWire: projectSummaryToWire,
      });
      return { chunks: projectListToWire(items), next };
    },
  }),
  route({
    method: 'POST',
    path: PROJECTS,
    action: 'createProject',
    summary: 'Create a project without members',
    tag: 'Projects',
    access: 'admin',
    body: { required: true, schema: ({ newProject }) => newProject, checkedBy: 'core' },
    reply: { status: 201, schema: 'Project' },
    errors: ['invalid_input', 'project_exists'],
    async handle({ flags, body }) {
      const project = await flags.createProject(unchecked(body));
      return { body: projectToWire(project), revision: project.revision };
    },
  }),
  route({
    method: 'GET',
    path: PROJECT,
    action: 'getProject',
    summary: 'A project with its flags and its health',
    tag: 'Projects',
    access: 'admin',
    cacheBy: 'projects',
    reply: { status: 200, schema: 'ProjectOverview' },
    errors: ['project_not_found'],
    async handle({ flags, params }) {
      const project = await flags.getProject(projectRef(params));
      return { chunks: jsonObject(projectOverviewToWire(project)), revision: project.revision };
    },
  }),
  route({
    method: 'GET',
    path: `${PROJECT}/health-report`,
    action: 'getProjectHealth',
    permission: 'getProject',
    summary: 'A project as its overview shows it, and how many of its flags are stale, potentially stale and active',
    tag: 'Projects',
    access: 'admin',
    cacheBy: 'projects',
    reply: { status: 200, schema: 'HealthReport' },
    errors: ['project_not_found'],
    async handle({ flags, params }) {
      const project = await flags.getProject(projectRef(params));
      return { chunks: jsonObject(healthReportToWire(project)), revision: project.revision };
    },
  }),
  route({
    method: 'PUT',
    path: PROJECT,
    action: 'updateProject',
    summary: 'Change the display name or the description of a project',
    tag: 'Projects',
    access: 'admin',
    body: { required: true, schema: ({ projectChanges }) => projectChanges, checkedBy: 'core' },
    reply: { status: 200, schema: 'Project' },
    errors: ['invalid_input', 'project_not_found', 'revision_mismatch'],
    ifMatch: 'project',
    async handle({ flags, params, body, context }) {
      const project = await flags.updateProject(projectRef(params), unchecked(body), context);
      return { body: projectToWire(project), revision: project.revision };
    },
  }),
  route({
    method: 'DELETE',
    path: PROJECT,
    action: 'deleteProject',
    summary: 'Delete a project that has no flags, and its archived flags for good',
    tag: 'Projects',
    access: 'admin',
    reply: { status: 200 },
    errors: ['project_not_found', 'project_protected', 'project_not_empty', 'revision_mismatch'],
    ifMatch: 'project',
    async handle({ flags, params, context }) {
      await flags.deleteProject(projectRef(params), context);
      return {};
    },
  }),
];
