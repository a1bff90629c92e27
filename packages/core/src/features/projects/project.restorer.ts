import { FlagsError } from '../../base/errors.js';
import { isSameJson } from '../../base/json.js';
import { type Edit, editItems } from '../../base/parts.js';
import type { UnitOfWork } from '../../kernel/engine.js';
import { mergeVersions } from '../../kernel/kind.js';
import type { Restorer } from '../../kernel/restorer.js';
import { isSharedWith } from '../tokens/token.js';
import { listStoredTokens } from '../tokens/token.operations.js';
import { assertOwnerStays } from './members.decide.js';
import { ownerOf } from './members.operations.js';
import { deleteProject, updateProject } from './project.decide.js';
import type { ProjectMetadata, ProjectState } from './project.js';
import { type ProjectEvent, projectDocuments } from './project.kind.js';
import type { Member } from './project.types.js';

export const projectRestorer: Restorer<ProjectState, ProjectEvent> = {
  eventsBetween: restoreProject,
  merge: (versions) => mergeVersions(versions, (path) => /^\/members\/[^/]+$/.test(path)),
  async restore(unit, { id, before, target }, { kindsInProjects }) {
    if (before && !target) await assertEmpty(unit, before, kindsInProjects);
    const events = restoreProject(before, target);
    await unit.apply(projectDocuments, id, events);
    return events.length > 0;
  },
  assertMergeable(engine, { before, now }, target) {
    if (isSameJson(target?.members, before?.members)) return;
    assertOwnerStays(now, target, ownerOf(engine));
  },
};

/** Refuses to delete a project that still has documents. */
async function assertEmpty(unit: UnitOfWork, project: ProjectState, kinds: readonly string[]): Promise<void> {
  const shared = (await listStoredTokens(unit)).filter((token) => isSharedWith(token, project.id));
  deleteProject(project, 0, shared.length);
  for (const kind of kinds) {
    const listed = await unit.list({ kind, parent: project.id, part: 'summary', limit: 1 });
    if (listed.length > 0) {
      const message = `The project ${project.id} has a ${kind} now, ${listed[0]?.key.id}; delete or move it first.`;
      throw new FlagsError('project_not_empty', message);
    }
    unit.requireVacant({ kind, parent: project.id });
  }
}

/** Returns the events that bring a project to another state. */
export function restoreProject(now: ProjectState | undefined, target: ProjectState | undefined): ProjectEvent[] {
  if (!now || !target || now.createdAt !== target.createdAt) {
    const created: ProjectEvent[] = target ? [{ type: 'project-created', data: target, before: null }] : [];
    return now ? [{ type: 'project-deleted', data: null, before: now }, ...created] : created;
  }
  return [...updateProject(now, target), ...Object.values(RESTORE_PART).flatMap((restore) => restore(now, target))];
}

/** The parts of a project that events change, without its metadata. */
type RestoredPart = Exclude<keyof ProjectState, keyof ProjectMetadata | 'id' | 'createdAt'>;

/** Returns the events that bring a part to that of another state. */
const RESTORE_PART: Readonly<
  Record<RestoredPart, (project: ProjectState, target: ProjectState) => readonly ProjectEvent[]>
> = {
  members: (project, target) => editItems(project.members, target.members).map(toMemberEvent),
};

function toMemberEvent({ before, after }: Edit<Member>): ProjectEvent {
  if (!after) return { type: 'member-removed', data: null, before };
  if (!before) return { type: 'member-added', data: after, before: null };
  return { type: 'member-role-changed', data: after, before };
}
