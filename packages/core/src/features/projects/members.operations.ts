import type { ListPage, ProjectRef } from '../../base/common.types.js';
import { FlagsError } from '../../base/errors.js';
import type { Role } from '../../base/settings.types.js';
import type { Engine, PreparedChange } from '../../kernel/engine.js';
import { type Call, call, defineOperations, operation, PROJECT } from '../../kernel/operation.js';
import * as memberRules from './members.decide.js';
import type { ProjectState } from './project.js';
import { findProject, type ProjectEvent } from './project.kind.js';
import { changeProject } from './project.operations.js';
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
