import type { ChangeContext, ListPage, PageQuery, ProjectRef } from '../../base/common.types.js';
import { run } from '../../kernel/changes/run-operation.js';
import { StrategyAdministration } from '../flags/strategy-administration.js';
import { memberOperations } from './members.operations.js';
import { projectOperations } from './project.operations.js';
import type { Member, NewProject, Project, ProjectChanges, ProjectOverview, ProjectSummary } from './project.types.js';

/** The methods of `Flags` for projects and their members. */
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
