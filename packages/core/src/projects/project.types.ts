import type { ChangeContext, ListPage, PageQuery, ProjectRef } from '../base/common.types.js';
import type { FlagSummary } from '../flags/flag.types.js';

/** A project: it holds flags and members. */
export interface Project {
  /** The same characters as in flag names. */
  readonly id: string;
  /** The display name. */
  readonly name: string;
  readonly description: string;
  /** ISO 8601, UTC, milliseconds. */
  readonly createdAt: string;
  readonly revision: number;
}

/** A project in a list. */
export interface ProjectSummary extends Project {
  /**
   * 0–100: 100 minus the percentage of flags that are stale or potentially stale (older than the lifetime of their
   * type), rounded. 100 for a project without flags.
   */
  readonly health: number;
  readonly memberCount: number;
  /** The number of flags that are not archived. */
  readonly flagCount: number;
}

/** A project with its flags and counts. */
export interface ProjectOverview extends ProjectSummary {
  readonly staleCount: number;
  /** The number of flags that are not stale, but older than the lifetime of their type. */
  readonly potentiallyStaleCount: number;
  /** The flags that are not archived, in name order. */
  readonly flags: readonly FlagSummary[];
}

/** A project to create. */
export interface NewProject {
  /** The same characters as in flag names. */
  readonly id: string;
  /** 1–100 characters. */
  readonly name: string;
  /** At most 1000 characters. Default: `''`. */
  readonly description?: string;
}

/** Absent members stay unchanged. */
export interface ProjectChanges {
  readonly name?: string;
  readonly description?: string;
}

export interface ProjectOperations {
  /**
   * Creates a project without members.
   *
   * If several callers create the same id concurrently, exactly one succeeds.
   *
   * @throws FlagsError `invalid_input`, `project_exists`, `revision_mismatch` (with any `ifRevision`)
   * @example
   * await flags.createProject({ id: 'shop', name: 'Shop' });
   */
  createProject(input: NewProject, context?: ChangeContext): Promise<Project>;

  /**
   * Changes a project's display name or description. Does not record an event if nothing changes.
   *
   * @throws FlagsError `invalid_input`, `project_not_found`, `revision_mismatch`
   * @example
   * await flags.updateProject({ project: 'shop' }, { description: 'Everything that sells' });
   */
  updateProject(ref: ProjectRef, changes: ProjectChanges, context?: ChangeContext): Promise<Project>;

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
  deleteProject(ref: ProjectRef, context?: ChangeContext): Promise<void>;

  /**
   * Lists projects by id, in code-point order.
   *
   * @example
   * const { items } = await flags.listProjects();
   * const unhealthy = items.filter((project) => project.health < 80);
   */
  listProjects(page?: PageQuery): Promise<ListPage<ProjectSummary>>;

  /**
   * Gets one project with its flags.
   *
   * @throws FlagsError `project_not_found`
   * @example
   * const { health, flags: list } = await flags.getProject({ project: 'default' });
   */
  getProject(ref: ProjectRef): Promise<ProjectOverview>;
}

/** A user's role in a project. A user has one role per project. Users belong to the host application. */
export interface Member {
  /** A positive integer. */
  readonly userId: number;
  /** The id of a configured role. */
  readonly roleId: number;
}

export interface MemberOperations {
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
  addMember(ref: ProjectRef, member: Member, context?: ChangeContext): Promise<void>;

  /**
   * Changes a member's role. Does nothing if the user is not a member.
   *
   * @throws FlagsError `invalid_input`, `project_not_found`, `role_not_found`, `last_owner` (the only owner cannot take
   * another role), `revision_mismatch`
   * @example
   * await flags.changeMemberRole({ project: 'default' }, { userId: 7, roleId: 5 });
   */
  changeMemberRole(ref: ProjectRef, member: Member, context?: ChangeContext): Promise<void>;

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
  removeMember(ref: ProjectRef, member: Member, context?: ChangeContext): Promise<void>;

  /**
   * Lists all members of a project, by user id.
   *
   * @throws FlagsError `project_not_found`
   * @example
   * const { items } = await flags.listMembers({ project: 'default' });
   * const owners = items.filter((member) => member.roleId === 4);
   */
  listMembers(ref: ProjectRef): Promise<ListPage<Member>>;
}
