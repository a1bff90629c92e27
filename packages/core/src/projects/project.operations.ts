import type { Versioned } from '../changes/aggregate.js';
import type { Engine } from '../changes/engine.js';
import { groupBy } from '../collections.js';
import type { ChangeContext, ProjectRef } from '../common.types.js';
import { findProject, throwProjectNotFound } from '../flags/find.js';
import { listLiveFlags, summarizeFlags } from '../flags/flag-lists.operations.js';
import type { ListedFlag } from '../flags/flag-views.js';
import { pageBounds, readPage } from '../pages.js';
import type { ListedDocument } from '../storage/port.js';
import { deleteProjectWithContents } from './delete-project.js';
import { healthOf } from './health.js';
import {
  createProject,
  type ProjectEvent,
  type ProjectState,
  projectDocuments,
  type StoredProjectSummary,
  updateProject,
} from './project.js';
import type { Project, ProjectOperations, ProjectSummary } from './project.types.js';

/** Changes an existing project; gives it as it is afterwards. */
export async function changeProject(
  { change }: Pick<Engine, 'change'>,
  { ref, context }: { readonly ref: ProjectRef; readonly context: ChangeContext | undefined },
  decide: (project: ProjectState) => ProjectEvent[],
): Promise<Versioned<ProjectState>> {
  const changed = await change({
    aggregate: projectDocuments,
    id: ref.project,
    context,
    decide: (found) => decide((found ?? throwProjectNotFound(ref.project)).state),
  });
  return changed ?? throwProjectNotFound(ref.project);
}

/** Reads projects with what is computed of their flags. */
export function projectListOperations(
  engine: Engine,
): Pick<ProjectOperations, 'listProjects' | 'pageProjects' | 'getProject'> {
  const { read, storage } = engine;
  return {
    async listProjects() {
      const [projects, live] = await Promise.all([
        storage.list({ kind: projectDocuments.kind, part: 'summary' }),
        listLiveFlags(engine),
      ]);
      const flags = groupBy(live, ({ project }) => project);
      return projects.map((project) => toSummary(engine, project, flags.get(project.key.id) ?? []));
    },

    async pageProjects(query = {}) {
      const projects = { kind: projectDocuments.kind, part: 'summary' } as const;
      const page = await readPage(storage, { ...projects, ...pageBounds(engine, query) });
      const items = page.items.map(async (project) => {
        return toSummary(engine, project, await listLiveFlags(engine, project.key.id));
      });
      return { ...page, items: await Promise.all(items) };
    },

    async getProject(ref) {
      const { state, revision } = await findProject(read, ref);
      const flags = await listLiveFlags(engine, state.id);
      const { id, name, description, createdAt, members } = state;
      return {
        id,
        name,
        description,
        createdAt,
        revision,
        ...figuresOf(engine, flags),
        memberCount: members.length,
        flags: await summarizeFlags(engine, flags),
      };
    },
  };
}

function toSummary(engine: Engine, project: ListedDocument, flags: readonly ListedFlag[]): ProjectSummary {
  const { name, description, createdAt, memberCount } = project.content as StoredProjectSummary;
  const { key, revision } = project;
  return { id: key.id, name, description, createdAt, revision, ...figuresOf(engine, flags), memberCount };
}

function figuresOf(
  { settings, now }: Engine,
  flags: readonly ListedFlag[],
): Pick<ProjectSummary, 'health' | 'flagCount'> {
  return { health: healthOf(flags, settings.flagTypes, now()), flagCount: flags.length };
}

/** Creates, changes, deletes and reads projects. */
export function projectOperations(engine: Engine): ProjectOperations {
  const { change, validate, now } = engine;
  return {
    ...projectListOperations(engine),

    async createProject(input, context) {
      const valid = validate.newProject(input);
      const createdAt = now().toISOString();
      const created = await change({
        aggregate: projectDocuments,
        id: valid.id,
        context,
        decide: (existing) => createProject(existing?.state, valid, createdAt),
      });
      return toProject(created ?? throwProjectNotFound(valid.id));
    },

    async updateProject(ref, input, context) {
      const changes = validate.projectChanges(input);
      return toProject(await changeProject(engine, { ref, context }, (project) => updateProject(project, changes)));
    },

    deleteProject: (ref, context) => deleteProjectWithContents(engine, ref, context),
  };
}

function toProject({ state, revision }: Versioned<ProjectState>): Project {
  const { id, name, description, createdAt } = state;
  return { id, name, description, createdAt, revision };
}
