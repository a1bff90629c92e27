import type { ChangeContext, ListPage, ProjectRef } from '../../base/common.types.js';
import { FlagsError } from '../../base/errors.js';
import type { Role } from '../../base/settings.types.js';
import { run } from '../../kernel/changes/run-operation.js';
import type { Engine, PreparedChange } from '../../kernel/engine.js';
import { type Call, call, defineOperations, operation, PROJECT } from '../../kernel/operation.js';
import * as memberRules from './members.decide.js';
import type { ProjectState } from './project.js';
import { findProject, type ProjectEvent } from './project.kind.js';
import { changeProject, ProjectAdministration } from './project.operations.js';
import type { Member } from './project.types.js';

async function addMember(engine: Engine, ref: ProjectRef, input: Member): Promise<PreparedChange<void>> {
  const member = pickMember(input);
  const known = await engine.isUser(member.userId);
  return changeMembers(engine, { ref, member }, (project) => {
    if (!known) throw new FlagsError('user_not_found', `There is no user ${member.userId}.`);
    return memberRules.addMember(project, member);
  });
}

function changeMemberRole(engine: Engine, ref: ProjectRef, input: Member): PreparedChange<void> {
  const member = pickMember(input);
  return changeMembers(engine, { ref, member }, (project) =>
    memberRules.changeMemberRole(project, member, ownerOf(engine)),
  );
}

function removeMember(engine: Engine, ref: ProjectRef, input: Member): PreparedChange<void> {
  const member = pickMember(input);
  return changeMembers(engine, { ref, member }, (project) =>
    memberRules.removeMember(project, member, ownerOf(engine)),
  );
}

async function listMembers({ read }: Engine, ref: ProjectRef): Promise<ListPage<Member>> {
  return { items: (await findProject(read, ref)).state.members };
}

function pickMember({ userId, roleId }: Member): Member {
  return { userId, roleId };
}

function changeMembers(
  engine: Engine,
  { ref, member }: { readonly ref: ProjectRef; readonly member: Member },
  decide: (project: ProjectState) => readonly ProjectEvent[],
): PreparedChange<void> {
  return changeProject(ref, {
    decide(project) {
      assertRole(engine, member.roleId);
      return decide(project);
    },
    result: () => undefined,
  });
}

/** Throws `role_not_found` unless the settings contain the role. */
function assertRole({ settings }: Engine, roleId: number): void {
  if (settings.roles.some(({ id }) => id === roleId)) return;
  const roles = settings.roles.map(({ id, name }) => `${id} ${name}`).join(', ');
  throw new FlagsError('role_not_found', `There is no role ${roleId}; there are ${roles}.`);
}

export function ownerOf({ settings }: Pick<Engine, 'settings'>): Role {
  const owner = settings.roles.find(({ name }) => name === memberRules.OWNER);
  if (!owner) throw new Error(`No role is named ${memberRules.OWNER}.`);
  return owner;
}

export const memberOperations = defineOperations({
  addMember: operation({ ref: PROJECT, input: 'member', prepare: addMember }),
  changeMemberRole: operation({ ref: PROJECT, input: 'member', prepare: changeMemberRole }),
  removeMember: operation({ ref: PROJECT, input: 'member', prepare: removeMember }),
  listMembers: call({ ref: PROJECT, run: (engine: Engine, { ref }: Call<ProjectRef>) => listMembers(engine, ref) }),
});

/** The methods of `Flags` for the members of projects. */
export abstract class MemberAdministration<Own extends string = never> extends ProjectAdministration<Own> {
  /**
   * Adds a user to a project with a role.
   *
   * If several callers add the same user concurrently, exactly one succeeds.
   *
   * @throws FlagsError `invalid_input`, `project_not_found`, `role_not_found`, `user_not_found` (if the host configured
   * `isUser`), `member_exists` (with any role), `revision_mismatch`
   * @example
   * await flags.addMember({ project: 'default' }, { userId: 7, roleId: 4 });
   */
  addMember(ref: ProjectRef, member: Member, context?: ChangeContext): Promise<void> {
    return run(this, memberOperations.addMember, { ref, input: member, context });
  }

  /**
   * Changes a member's role. Does nothing if the user is not a member.
   *
   * @throws FlagsError `invalid_input`, `project_not_found`, `role_not_found`, `last_owner` (the only owner cannot take
   * another role), `revision_mismatch`
   * @example
   * await flags.changeMemberRole({ project: 'default' }, { userId: 7, roleId: 5 });
   */
  changeMemberRole(ref: ProjectRef, member: Member, context?: ChangeContext): Promise<void> {
    return run(this, memberOperations.changeMemberRole, { ref, input: member, context });
  }

  /**
   * Removes a member from a project. The user must hold the given role.
   *
   * If the last two owners leave concurrently, exactly one succeeds.
   *
   * @throws FlagsError `invalid_input`, `project_not_found`, `role_not_found`, `member_not_found` (no such member, or
   * with another role), `last_owner`, `revision_mismatch`
   * @example
   * await flags.removeMember({ project: 'default' }, { userId: 7, roleId: 5 });
   */
  removeMember(ref: ProjectRef, member: Member, context?: ChangeContext): Promise<void> {
    return run(this, memberOperations.removeMember, { ref, input: member, context });
  }

  /**
   * Lists all members of a project, by user id.
   *
   * @throws FlagsError `project_not_found`
   * @example
   * const { items } = await flags.listMembers({ project: 'default' });
   * const owners = items.filter((member) => member.roleId === 4);
   */
  listMembers(ref: ProjectRef): Promise<ListPage<Member>> {
    return run(this, memberOperations.listMembers, { ref });
  }
}
