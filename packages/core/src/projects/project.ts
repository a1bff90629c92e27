import type { ProjectRef } from '../base/common.types.js';
import type { DomainEvent } from '../base/domain-event.js';
import { pickChanged } from '../base/json.js';
import { FlagsError } from '../errors.js';
import type { Aggregate, Read, Versioned } from '../storage/documents.js';
import type { Member, NewProject, ProjectChanges } from './project.types.js';

/** Every instance has this project, which cannot be deleted. */
export const DEFAULT_PROJECT = 'default';

/** The stored state of a project: one document, including its members. */
export interface ProjectState extends ProjectMetadata {
  readonly id: string;
  readonly createdAt: string;
  /** Sorted by user id. */
  readonly members: readonly Member[];
}

export interface ProjectMetadata {
  readonly name: string;
  readonly description: string;
}

export type ProjectEvent =
  | DomainEvent<'project-created', ProjectState, null>
  | DomainEvent<'project-updated', Partial<ProjectMetadata>, Partial<ProjectMetadata>>
  | DomainEvent<'project-deleted', null, ProjectState>
  | DomainEvent<'member-added', Member, null>
  | DomainEvent<'member-role-changed', Member, Member>
  | DomainEvent<'member-removed', null, Member>;

/** Applies an event. Returns undefined for a deleted project. */
export function evolveProject(project: ProjectState | undefined, event: ProjectEvent): ProjectState | undefined {
  if (event.type === 'project-created') return event.data;
  return project && evolveExisting(project, event);
}

function evolveExisting(
  project: ProjectState,
  event: Exclude<ProjectEvent, { readonly type: 'project-created' }>,
): ProjectState | undefined {
  switch (event.type) {
    case 'project-deleted':
      return undefined;
    case 'project-updated':
      return { ...project, ...event.data };
    case 'member-removed':
      return { ...project, members: project.members.filter(({ userId }) => userId !== event.before.userId) };
    default:
      return { ...project, members: withMember(project.members, event.data) };
  }
}

function withMember(members: readonly Member[], member: Member): readonly Member[] {
  const others = members.filter(({ userId }) => userId !== member.userId);
  return [...others, member].sort((one, other) => one.userId - other.userId);
}

export function createProject(
  existing: ProjectState | undefined,
  { id, name, description = '' }: NewProject,
  createdAt: string,
): ProjectEvent[] {
  if (existing) throw new FlagsError('project_exists', `The project id ${id} is taken; choose another.`);
  return [{ type: 'project-created', data: { id, name, description, createdAt, members: [] }, before: null }];
}

export function updateProject(project: ProjectState, changes: ProjectChanges): ProjectEvent[] {
  const changed = pickChanged<ProjectMetadata>(project, changes, ['name', 'description']);
  return changed ? [{ type: 'project-updated', ...changed }] : [];
}

/**
 * Deletes a project.
 *
 * @param flagCount the number of the project's flags that are not archived
 * @param sharedTokenCount the number of API tokens that name this project beside others: they would give access to a
 * later project with the same id
 */
export function deleteProject(project: ProjectState, flagCount: number, sharedTokenCount = 0): ProjectEvent[] {
  if (project.id === DEFAULT_PROJECT) {
    throw new FlagsError('project_protected', `The project ${DEFAULT_PROJECT} cannot be deleted.`);
  }
  if (flagCount > 0) {
    const flags = flagCount === 1 ? 'a flag that is' : `${flagCount} flags that are`;
    throw new FlagsError(
      'project_not_empty',
      `The project ${project.id} has ${flags} not archived; archive every flag first.`,
    );
  }
  if (sharedTokenCount > 0) {
    const tokens = sharedTokenCount === 1 ? 'an API token' : `${sharedTokenCount} API tokens`;
    const message = `The project ${project.id} shares ${tokens} with other projects; delete the tokens first.`;
    throw new FlagsError('project_not_empty', message);
  }
  return [{ type: 'project-deleted', data: null, before: project }];
}

/** The summary of a project in lists. The document's id is the project's. */
export interface StoredProjectSummary {
  readonly name: string;
  readonly description: string;
  readonly createdAt: string;
  readonly memberCount: number;
}

export const projectDocuments: Aggregate<ProjectState, ProjectEvent> = {
  kind: 'project',
  evolve: evolveProject,
  parentOf: () => null,
  projectOf: ({ id }) => id,
  summarize: ({ name, description, createdAt, members }): StoredProjectSummary => ({
    name,
    description,
    createdAt,
    memberCount: members.length,
  }),
};

/** Resolves to the project. Rejects with `project_not_found`. */
export async function findProject(read: Read, { project }: ProjectRef): Promise<Versioned<ProjectState>> {
  return (await read(projectDocuments, project)) ?? throwProjectNotFound(project);
}

export function throwProjectNotFound(project: string): never {
  throw new FlagsError('project_not_found', `There is no project ${project}; create it, or list the projects.`);
}
