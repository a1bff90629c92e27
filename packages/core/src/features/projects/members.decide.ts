import { FlagsError } from '../../base/errors.js';
import type { Role } from '../../base/settings.types.js';
import type { ProjectState } from './project.js';
import type { ProjectEvent } from './project.kind.js';
import type { Member } from './project.types.js';

/** A project with owners always keeps at least one. */
export const OWNER = 'owner';

export function addMember(project: ProjectState, member: Member): ProjectEvent[] {
  if (memberOf(project, member.userId)) {
    throw new FlagsError('member_exists', `User already has access to project=${project.id}`);
  }
  return [{ type: 'member-added', data: member, before: null }];
}

/** Changes nothing if the user is not a member. */
export function changeMemberRole(project: ProjectState, member: Member, owner: Role): ProjectEvent[] {
  const before = memberOf(project, member.userId);
  if (!before || before.roleId === member.roleId) return [];
  assertNotLastOwner(project, before, owner);
  return [{ type: 'member-role-changed', data: member, before }];
}

/** The user must hold the given role. */
export function removeMember(project: ProjectState, member: Member, owner: Role): ProjectEvent[] {
  const before = memberOf(project, member.userId);
  if (before?.roleId !== member.roleId) {
    const message = `The user ${member.userId} does not have the role ${member.roleId} in the project ${project.id}.`;
    throw new FlagsError('member_not_found', message);
  }
  assertNotLastOwner(project, before, owner);
  return [{ type: 'member-removed', data: null, before }];
}

function memberOf(project: ProjectState, userId: number): Member | undefined {
  return project.members.find((member) => member.userId === userId);
}

/** Throws `last_owner` if a project would lose its last owner. */
export function assertOwnerStays(now: ProjectState | undefined, next: ProjectState | undefined, owner: Role): void {
  const hasOwner = (project: ProjectState) => project.members.some(({ roleId }) => roleId === owner.id);
  if (now && next && hasOwner(now) && !hasOwner(next)) throw lastOwner();
}

function lastOwner(): FlagsError {
  return new FlagsError('last_owner', 'A project must have at least one owner.');
}

function assertNotLastOwner(project: ProjectState, leaving: Member, owner: Role): void {
  if (leaving.roleId !== owner.id) return;
  const owners = project.members.filter(({ roleId }) => roleId === owner.id);
  if (owners.length === 1) throw lastOwner();
}
