import type { Versioned } from '../changes/aggregate.js';
import type { Engine } from '../changes/engine.js';
import { groupBy } from '../collections.js';
import type { ChangeContext, Page, PageQuery, ProjectRef } from '../common.types.js';
import { findProject, throwProjectNotFound } from '../flags/find.js';
import { listLiveFlags, summarizeFlags } from '../flags/flag-lists.operations.js';
import type { ListedFlag } from '../flags/flag-views.js';
import { pageBounds, readPage } from '../pages.js';
import type { ListedDocument } from '../storage/port.js';
import { healthOf } from './health.js';
import * as projectRules from './project.js';
import { type ProjectEvent, type ProjectState, projectDocuments, type StoredProjectSummary } from './project.js';
import type { NewProject, Project, ProjectChanges, ProjectOverview, ProjectSummary } from './project.types.js';

/** Changes an existing project. Resolves to the changed project. */
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

export function listProjects(engine: Engine): Promise<readonly ProjectSummary[]>;
export function listProjects(engine: Engine, page: PageQuery): Promise<Page<ProjectSummary>>;
export async function listProjects(
  engine: Engine,
  query?: PageQuery,
): Promise<readonly ProjectSummary[] | Page<ProjectSummary>> {
  const { storage } = engine;
  const summaries = { kind: projectDocuments.kind, part: 'summary' } as const;
  if (query) {
    const page = await readPage(storage, { ...summaries, ...pageBounds(engine, query) });
    const items = page.items.map(async (project) => {
      return toSummary(engine, project, await listLiveFlags(engine, project.key.id));
    });
    return { ...page, items: await Promise.all(items) };
  }
  const [projects, live] = await Promise.all([storage.list(summaries), listLiveFlags(engine)]);
  const flags = groupBy(live, ({ project }) => project);
  return projects.map((project) => toSummary(engine, project, flags.get(project.key.id) ?? []));
}

export async function getProject(engine: Engine, ref: ProjectRef): Promise<ProjectOverview> {
  const { read } = engine;
  const { state, revision } = await findProject(read, ref);
  const flags = await listLiveFlags(engine, state.id);
  const { id, name, description, createdAt, members } = state;
  return {
    id,
    name,
    description,
    createdAt,
    revision,
    ...healthOf(flags, engine.settings.flagTypes, engine.now()),
    flagCount: flags.length,
    memberCount: members.length,
    flags: await summarizeFlags(engine, flags),
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
  return { health: healthOf(flags, settings.flagTypes, now()).health, flagCount: flags.length };
}

export async function createProject(
  { validate, change, now }: Engine,
  input: NewProject,
  context?: ChangeContext,
): Promise<Project> {
  const valid = validate.newProject(input);
  const createdAt = now().toISOString();
  const created = await change({
    aggregate: projectDocuments,
    id: valid.id,
    context,
    decide: (existing) => projectRules.createProject(existing?.state, valid, createdAt),
  });
  return toProject(created ?? throwProjectNotFound(valid.id));
}

export async function updateProject(
  engine: Engine,
  ref: ProjectRef,
  input: ProjectChanges,
  context?: ChangeContext,
): Promise<Project> {
  const { validate } = engine;
  const changes = validate.projectChanges(input);
  return toProject(
    await changeProject(engine, { ref, context }, (project) => projectRules.updateProject(project, changes)),
  );
}

function toProject({ state, revision }: Versioned<ProjectState>): Project {
  const { id, name, description, createdAt } = state;
  return { id, name, description, createdAt, revision };
}
