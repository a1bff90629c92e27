import type { ProjectOperations, ProjectSummary } from '../api/projects.js';
import { healthOf } from '../domain/health.js';
import { projectDocuments, type StoredProjectSummary } from '../engine/aggregates.js';
import type { Engine } from '../engine/engine.js';
import { groupBy } from '../group-by.js';
import type { ListedDocument } from '../storage/port.js';
import { findProject } from './find.js';
import { listLiveFlags, summarizeFlags } from './flag-lists.js';
import type { ListedFlag } from './flag-views.js';
import { pageBounds, readPage } from './pages.js';

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
