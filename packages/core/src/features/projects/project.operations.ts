import { groupBy } from '../../base/collections.js';
import type { ChangeContext, ListPage, PageQuery, ProjectRef } from '../../base/common.types.js';
import { pageBounds, pageOf } from '../../base/pages.js';
import type { FlagType } from '../../base/settings.types.js';
import { run } from '../../kernel/changes/run-operation.js';
import type { Engine, PreparedChange, UnitOfWork } from '../../kernel/engine.js';
import {
  type Call,
  call,
  defineOperations,
  NO_REFERENCE,
  operation,
  type Page,
  PROJECT,
} from '../../kernel/operation.js';
import type { Versioned } from '../../storage/document-reader.js';
import type { ListedDocument } from '../../storage/port.js';
import { applyToFlag } from '../flags/change-flag.js';
import { assertNoFaults, newFaults } from '../flags/faults.js';
import { deleteFlag } from '../flags/flag.decide.js';
import type { FlagState } from '../flags/flag.js';
import { flagDocuments, throwProjectNotFound } from '../flags/flag.kind.js';
import { listLiveFlags, listStoredFlags, summarizeFlags } from '../flags/flag-lists.js';
import { StrategyAdministration } from '../flags/strategies.operations.js';
import { deleteSegment, unregisterSegment } from '../segments/segment.decide.js';
import { segmentDocuments } from '../segments/segment.kind.js';
import { changeRegistry, readDocumentsById } from '../segments/segment.operations.js';
import { deleteToken } from '../tokens/token.decide.js';
import { isSharedWith } from '../tokens/token.js';
import { tokenDocuments } from '../tokens/token.kind.js';
import { listStoredTokens } from '../tokens/token.operations.js';
import { removeTokenUse } from '../tokens/token-verification.operations.js';
import * as projectRules from './project.decide.js';
import { DEFAULT_PROJECT, type ProjectState } from './project.js';
import { findProject, type ProjectEvent, projectDocuments, type StoredProjectSummary } from './project.kind.js';
import type { NewProject, Project, ProjectChanges, ProjectOverview, ProjectSummary } from './project.types.js';

interface ProjectChange<Result> {
  readonly decide: (project: ProjectState) => readonly ProjectEvent[];
  /** Returns the result of the change from the project after the commit. */
  readonly result: (changed: Versioned<ProjectState>) => Result;
}

/** Prepares a change of an existing project. */
export function changeProject<Result>(
  { project }: ProjectRef,
  { decide, result }: ProjectChange<Result>,
): PreparedChange<Result> {
  return {
    subject: { kind: projectDocuments.kind, id: project },
    async decide(unit) {
      const { state } = (await unit.read(projectDocuments, project)) ?? throwProjectNotFound(project);
      const applying = unit.apply(projectDocuments, project, decide(state));
      if (applying) await applying;
    },
    result: async ({ read }) => result(await findProject(read, { project })),
  };
}

/** Returns the change that creates the default project unless it exists. Another process may create it at the same moment. */
export function createDefaultProject({ now }: Engine): readonly PreparedChange[] {
  const createdAt = now().toISOString();
  const change: PreparedChange = {
    subject: { kind: projectDocuments.kind, id: DEFAULT_PROJECT },
    async decide(unit) {
      if (await unit.read(projectDocuments, DEFAULT_PROJECT)) return;
      const events = projectRules.createProject(undefined, { id: DEFAULT_PROJECT, name: 'Default' }, createdAt);
      await unit.apply(projectDocuments, DEFAULT_PROJECT, events);
    },
    result: () => undefined,
  };
  return [change];
}

async function listProjects(engine: Engine, query?: PageQuery): Promise<ListPage<ProjectSummary>> {
  const { limit, ...start } = pageBounds(query);
  const bounds = limit === Number.POSITIVE_INFINITY ? start : { ...start, limit: limit + 1 };
  const listed = await engine.storage.list({ kind: projectDocuments.kind, part: 'summary', ...bounds });
  const page = pageOf(listed, { limit, cursorOf: ({ key }) => key.id });
  const flags = groupBy(await listLiveFlags(engine), ({ project }) => project);
  return { ...page, items: page.items.map((project) => toSummary(engine, project, flags.get(project.key.id) ?? [])) };
}

async function getProject(engine: Engine, ref: ProjectRef): Promise<ProjectOverview> {
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

function toSummary(engine: Engine, project: ListedDocument, flags: readonly FlagState[]): ProjectSummary {
  const { name, description, createdAt, memberCount } = project.content as StoredProjectSummary;
  const { key, revision } = project;
  return { id: key.id, name, description, createdAt, revision, ...figuresOf(engine, flags), memberCount };
}

function figuresOf(
  { settings, now }: Engine,
  flags: readonly FlagState[],
): Pick<ProjectSummary, 'health' | 'flagCount'> {
  return { health: healthOf(flags, settings.flagTypes, now()), flagCount: flags.length };
}

function createProject({ now }: Engine, _: undefined, input: NewProject): PreparedChange<Project> {
  const project = { ...input };
  const { id } = project;
  const createdAt = now().toISOString();
  return {
    subject: { kind: projectDocuments.kind, id },
    async decide(unit) {
      const existing = await unit.read(projectDocuments, id);
      const events = projectRules.createProject(existing?.state, project, createdAt);
      assertNoFaults(newFaults(undefined, project));
      await unit.apply(projectDocuments, id, events);
    },
    result: async ({ read }) => toProject(await findProject(read, { project: id })),
  };
}

function updateProject(_: Engine, ref: ProjectRef, input: ProjectChanges): PreparedChange<Project> {
  const changes = { ...input };
  return changeProject(ref, {
    decide(project) {
      const events = projectRules.updateProject(project, changes);
      assertNoFaults(newFaults(project, { ...project, ...changes }));
      return events;
    },
    result: toProject,
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

/** The numbers of stale flags. */
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

/**
 * Deletes a project with its archived flags, segments and tokens in one commit. If another change adds a document to
 * the project, the commit conflicts, and the deletion is decided again. A remaining token or segment would belong to a
 * later project of the same id.
 */
function deleteProject({ registry }: Engine, ref: ProjectRef): PreparedChange<void> {
  return {
    subject: { kind: projectDocuments.kind, id: ref.project },
    async decide(unit) {
      const project = (await findProject(unit.read, ref)).state;
      const flags = await listStoredFlags(unit, project.id);
      const live = flags.filter(({ archived }) => !archived).length;
      const sharedTokens = (await listStoredTokens(unit)).filter((token) => isSharedWith(token, project.id));
      const events = projectRules.deleteProject(project, live, sharedTokens.length);
      await unit.apply(projectDocuments, project.id, events);
      await deleteSegments(unit, project.id);
      const names = flags.map(({ name }) => name);
      for await (const { id, state } of readDocumentsById(unit, flagDocuments, names)) {
        // Another process may have revived the flag since the listing.
        if (!state.archived) projectRules.deleteProject(project, 1);
        await applyToFlag(unit, { name: id, before: state }, deleteFlag(state));
      }
      const tokens = await listIds(unit, tokenDocuments.kind, project.id);
      for await (const { id, state } of readDocumentsById(unit, tokenDocuments, tokens)) {
        await unit.apply(tokenDocuments, id, deleteToken(state));
        await removeTokenUse(unit, id);
      }
      for (const kind of registry.kindsInProjects) unit.requireVacant({ kind, parent: project.id });
    },
    result: () => undefined,
  };
}

/** Deletes the project's segments, and releases their names. */
async function deleteSegments(unit: UnitOfWork, project: string): Promise<void> {
  const names = new Set<string>();
  const ids = await listIds(unit, segmentDocuments.kind, project);
  for await (const { id, state } of readDocumentsById(unit, segmentDocuments, ids)) {
    await unit.apply(segmentDocuments, id, deleteSegment(state, 0));
    names.add(state.name);
  }
  if (names.size === 0) return;
  await changeRegistry(unit, (registry) => [...names].reduce(unregisterSegment, registry));
}

async function listIds({ list }: UnitOfWork, kind: string, parent: string): Promise<readonly string[]> {
  return (await list({ kind, parent, part: 'summary' })).map(({ key }) => key.id);
}

export const projectOperations = defineOperations({
  createProject: operation({ ref: NO_REFERENCE, input: 'newProject', prepare: createProject }),
  updateProject: operation({ ref: PROJECT, input: 'projectChanges', prepare: updateProject }),
  deleteProject: operation({ ref: PROJECT, prepare: deleteProject }),
  listProjects: call({
    ref: NO_REFERENCE,
    run: (engine: Engine, { context }: Call<undefined, undefined, Page>) => listProjects(engine, context),
  }),
  getProject: call({ ref: PROJECT, run: (engine: Engine, { ref }: Call<ProjectRef>) => getProject(engine, ref) }),
});

/** The methods of `Flags` for projects. */
export abstract class ProjectAdministration<Own extends string = never> extends StrategyAdministration<Own> {
  /**
   * Creates a project without members.
   *
   * If several callers create the same id concurrently, exactly one succeeds.
   *
   * @throws FlagsError `invalid_input`, `project_exists`, `revision_mismatch` (with any `ifRevision`)
   * @example
   * await flags.createProject({ id: 'shop', name: 'Shop' });
   */
  createProject(input: NewProject, context?: ChangeContext): Promise<Project> {
    return run(this, projectOperations.createProject, { input, context });
  }

  /**
   * Changes a project's display name or description. Does not record an event if nothing changes.
   *
   * @throws FlagsError `invalid_input`, `project_not_found`, `revision_mismatch`
   * @example
   * await flags.updateProject({ project: 'shop' }, { description: 'Everything that sells' });
   */
  updateProject(ref: ProjectRef, changes: ProjectChanges, context?: ChangeContext): Promise<Project> {
    return run(this, projectOperations.updateProject, { ref, input: changes, context });
  }

  /**
   * Deletes a project and, permanently, its archived flags, segments and tokens.
   *
   * If a flag, or a token for several projects, is created concurrently, either the creation or the deletion succeeds.
   *
   * @throws FlagsError `project_not_found`, `project_protected` (the project `default`), `project_not_empty` (it has
   * flags that are not archived, or API tokens name it beside other projects), `revision_mismatch`
   * @example
   * await flags.deleteProject({ project: 'shop' });
   */
  deleteProject(ref: ProjectRef, context?: ChangeContext): Promise<void> {
    return run(this, projectOperations.deleteProject, { ref, context });
  }

  /**
   * Lists projects by id, in code-point order.
   *
   * @example
   * const { items } = await flags.listProjects();
   * const unhealthy = items.filter((project) => project.health < 80);
   */
  listProjects(page?: PageQuery): Promise<ListPage<ProjectSummary>> {
    return run(this, projectOperations.listProjects, { context: page });
  }

  /**
   * Gets one project with its flags.
   *
   * @throws FlagsError `project_not_found`
   * @example
   * const { health, flags: list } = await flags.getProject({ project: 'default' });
   */
  getProject(ref: ProjectRef): Promise<ProjectOverview> {
    return run(this, projectOperations.getProject, { ref });
  }
}
