import type { Engine } from '../changes/engine.js';
import type { ChangeContext, ProjectRef } from '../common.types.js';
import { FlagsError } from '../errors.js';
import { findProject } from '../flags/find.js';
import { addMember, changeMemberRole, OWNER, removeMember } from './members.decide.js';
import type { ProjectEvent, ProjectState } from './project.js';
import { changeProject } from './project.operations.js';
import type { Member, MemberOperations, Role } from './project.types.js';

/** Who belongs to a project, in which role. */
export function memberOperations(engine: Engine): MemberOperations {
  const { read, isUser } = engine;
  const owner = ownerOf(engine);
  return {
    async addMember(ref, input, context) {
      const member = pickMember(engine, input);
      const known = await isUser(member.userId);
      await changeMembers(engine, { ref, member, context }, (project) => {
        if (!known) throw new FlagsError('user_not_found', `There is no user ${member.userId}.`);
        return addMember(project, member);
      });
    },

    async changeMemberRole(ref, input, context) {
      const member = pickMember(engine, input);
      await changeMembers(engine, { ref, member, context }, (project) => changeMemberRole(project, member, owner));
    },

    async removeMember(ref, input, context) {
      const member = pickMember(engine, input);
      await changeMembers(engine, { ref, member, context }, (project) => removeMember(project, member, owner));
    },

    async listMembers(ref) {
      return (await findProject(read, ref)).state.members;
    },
  };
}

function pickMember({ validate }: Engine, input: Member): Member {
  const { userId, roleId } = validate.member(input);
  return { userId, roleId };
}

async function changeMembers(
  engine: Engine,
  { ref, member, context }: { ref: ProjectRef; member: Member; context: ChangeContext | undefined },
  decide: (project: ProjectState) => ProjectEvent[],
): Promise<void> {
  await changeProject(engine, { ref, context }, (project) => {
    assertRole(engine, member.roleId);
    return decide(project);
  });
}

/** Roles are configured: what is not in the settings does not exist. */
function assertRole({ settings }: Engine, roleId: number): void {
  if (settings.roles.some(({ id }) => id === roleId)) return;
  const roles = settings.roles.map(({ id, name }) => `${id} ${name}`).join(', ');
  throw new FlagsError('role_not_found', `There is no role ${roleId}; there are ${roles}.`);
}

function ownerOf({ settings }: Engine): Role {
  const owner = settings.roles.find(({ name }) => name === OWNER);
  if (!owner) throw new Error(`No role is named ${OWNER}.`);
  return owner;
}
