import type { ProjectRef } from '../../base/common.types.js';
import type { DomainEvent } from '../../base/domain-event.js';
import { type ActionOf, describeEvents, type Kind, memberParts, wholePart } from '../../kernel/kind.js';
import type { Read, Versioned } from '../../storage/document-reader.js';
import { referredProjects, throwProjectNotFound } from '../flags/flag.kind.js';
import type { ProjectMetadata, ProjectState } from './project.js';
import type { Member } from './project.types.js';

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

/** The summary of a project in lists. The document's id is the project's. */
export interface StoredProjectSummary {
  readonly name: string;
  readonly description: string;
  readonly createdAt: string;
  readonly memberCount: number;
}

function memberPart({ data, before }: Pick<ProjectEvent, 'data' | 'before'>, { userId }: Member) {
  return [wholePart(['members', `${userId}`], { data, before })];
}

const projectEvents = describeEvents<ProjectEvent>()({
  'project-created': { parts: memberParts, action: 'createProject', isWhole: true },
  'project-updated': { parts: memberParts, action: 'updateProject' },
  'project-deleted': { parts: memberParts, action: 'deleteProject', isWhole: true },
  'member-added': { parts: (event) => memberPart(event, event.data), action: 'addMember', isAboutAccess: true },
  'member-role-changed': {
    parts: (event) => memberPart(event, event.data),
    action: 'changeMemberRole',
    isAboutAccess: true,
  },
  'member-removed': {
    parts: (event) => memberPart(event, event.before),
    action: 'removeMember',
    shrinks: true,
    isAboutAccess: true,
  },
});

export const projectDocuments: Kind<ProjectState, ProjectEvent, ActionOf<typeof projectEvents>> = {
  ...referredProjects,
  events: projectEvents,
  smaller: 'remove members first',
  isInProjects: false,
  evolve: evolveProject,
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
