import type { Versioned } from '../changes/documents.js';
import type { Engine, PreparedChange } from '../changes/engine.js';
import { groupBy } from '../collections.js';
import type { Awaitable, Page, PageQuery, ProjectRef } from '../common.types.js';
import { findProject, type ListedFlag, throwProjectNotFound } from '../flags/flag-documents.js';
import { listLiveFlags, summarizeFlags } from '../flags/flag-lists.operations.js';
import type { FlagType } from '../flags.js';
import { pageBounds, readPage } from '../pages.js';
import type { ListedDocument } from '../storage/port.js';
import * as projectRules from './project.js';
import { type ProjectEvent, type ProjectState, projectDocuments, type StoredProjectSummary } from './project.js';
import type { NewProject, Project, ProjectChanges, ProjectOverview, ProjectSummary } from './project.types.js';

interface ProjectChange<Result> {
  readonly decide: (project: ProjectState) => readonly ProjectEvent[];
  /** Returns the result of the change. `changed` reads the project after the commit. */
  readonly result: (changed: () => Promise<Versioned<ProjectState>>) => Awaitable<Result>;
}

/** Prepares a change of an existing project. */
export function changeProject<Result>(
  { project }: ProjectRef,
  { decide, result }: ProjectChange<Result>,
): PreparedChange<Result> {
  return {
    subject: { kind: projectDocuments.kind, id: project },
    async decide(copy) {
      const { state } = (await copy.read(projectDocuments, project)) ?? throwProjectNotFound(project);
      const applying = copy.apply(projectDocuments, project, decide(state));
      if (applying) await applying;
    },
    result: ({ read }) => result(() => findProject(read, { project })),
  };
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
    ...figuresOf(engine, flags),
    ...stalenessOf(flags, engine.settings.flagTypes, engine.now()),
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
  return { health: healthOf(flags, settings.flagTypes, now()), flagCount: flags.length };
}

export function createProject({ validate, now }: Engine, input: NewProject): PreparedChange<Project> {
  const valid = validate.newProject(input);
  const { id } = valid;
  const createdAt = now().toISOString();
  return {
    subject: { kind: projectDocuments.kind, id },
    async decide(copy) {
      const existing = await copy.read(projectDocuments, id);
      await copy.apply(projectDocuments, id, projectRules.createProject(existing?.state, valid, createdAt));
    },
    result: async ({ read }) => toProject(await findProject(read, { project: id })),
  };
}

export function updateProject({ validate }: Engine, ref: ProjectRef, input: ProjectChanges): PreparedChange<Project> {
  const changes = validate.projectChanges(input);
  return changeProject(ref, {
    decide: (project) => projectRules.updateProject(project, changes),
    result: async (changed) => toProject(await changed()),
  });
}

function toProject({ state, revision }: Versioned<ProjectState>): Project {
  const { id, name, description, createdAt } = state;
  return { id, name, description, createdAt, revision };
}

const DAY = 86_400_000;

interface Aging {
  readonly type: string;
  readonly stale: boolean;
  readonly createdAt: string;
}

/** How many flags are out of date. */
interface Staleness {
  readonly staleCount: number;
  /** Flags that are not stale, but older than the lifetime of their type. */
  readonly potentiallyStaleCount: number;
}

function stalenessOf(flags: readonly Aging[], types: readonly FlagType[], now: Date): Staleness {
  const lifetimes = new Map(types.map(({ name, lifetimeDays }) => [name, (lifetimeDays ?? Infinity) * DAY]));
  const isOutlived = ({ type, createdAt }: Aging) =>
    now.getTime() - Date.parse(createdAt) > (lifetimes.get(type) ?? Infinity);
  return {
    staleCount: flags.filter(({ stale }) => stale).length,
    potentiallyStaleCount: flags.filter((flag) => !flag.stale && isOutlived(flag)).length,
  };
}

/** 0–100: 100 minus the percentage of flags that are stale or potentially stale, rounded; 100 without flags. */
export function healthOf(flags: readonly Aging[], types: readonly FlagType[], now: Date): number {
  if (flags.length === 0) return 100;
  const { staleCount, potentiallyStaleCount } = stalenessOf(flags, types, now);
  return Math.round(100 - (100 * (staleCount + potentiallyStaleCount)) / flags.length);
}
