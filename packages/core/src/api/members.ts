import type { ChangeContext, ProjectRef } from './refs.js';

/** A user's one role in a project. Users belong to the host application. */
export interface Member {
  /** A positive integer. */
  readonly userId: number;
  /** The id of a configured role. */
  readonly roleId: number;
}

export interface Role {
  readonly id: number;
  /** One role is named `owner`. */
  readonly name: string;
}

export interface MemberOperations {
  /**
   * Adds a user to a project with a role. Of simultaneous additions of one user exactly one succeeds.
   *
   * @throws FlagsError `invalid_input`, `project_not_found`, `role_not_found`, `user_not_found` (where the host gives a
   * look-up), `member_exists` (whatever the role), `revision_mismatch`
   * @example
   * await flags.addMember({ project: 'default' }, { userId: 7, roleId: 4 });
   */
  addMember(ref: ProjectRef, member: Member, context?: ChangeContext): Promise<void>;

  /**
   * Gives a member another role. A user who is not a member: nothing happens.
   *
   * @throws FlagsError `invalid_input`, `project_not_found`, `role_not_found`, `last_owner` (the only owner cannot take
   * another role), `revision_mismatch`
   * @example
   * await flags.changeMemberRole({ project: 'default' }, { userId: 7, roleId: 5 });
   */
  changeMemberRole(ref: ProjectRef, member: Member, context?: ChangeContext): Promise<void>;

  /**
   * Removes a user, who must hold that role, from a project. Of two owners leaving at the same moment exactly one goes.
   *
   * @throws FlagsError `invalid_input`, `project_not_found`, `role_not_found`, `member_not_found` (no such member, or
   * with another role), `last_owner`, `revision_mismatch`
   * @example
   * await flags.removeMember({ project: 'default' }, { userId: 7, roleId: 5 });
   */
  removeMember(ref: ProjectRef, member: Member, context?: ChangeContext): Promise<void>;

  /**
   * The members of a project, by user id.
   *
   * @throws FlagsError `project_not_found`
   * @example
   * const owners = (await flags.listMembers({ project: 'default' })).filter((member) => member.roleId === 4);
   */
  listMembers(ref: ProjectRef): Promise<readonly Member[]>;
}
