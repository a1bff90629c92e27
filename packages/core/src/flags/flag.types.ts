import type { AnyFlagRef, ChangeContext, FlagRef, ListPage, PageQuery, ProjectRef } from '../base/common.types.js';
import type { Dependency } from './dependency.types.js';
import type { FlagEnvironment } from './strategy.types.js';
import type { Variant } from './variant.types.js';

/** The members of a flag that its creation and `updateFlag` set. */
export interface FlagMembers {
  /** At most 10,000 characters. In a new flag `''` by default; null if it was cleared. */
  readonly description: string | null;
  /** One of the configured flag types. In a new flag `release` by default, or the first type if that is not configured. */
  readonly type: string;
  /** In a new flag always false. */
  readonly stale: boolean;
  /** In a new flag false by default. */
  readonly impressionData: boolean;
  /** At most 20, each of 1–50 characters and unique, in the given order. In a new flag `[]` by default. */
  readonly labels: readonly string[];
  /** A user, a team or a mail address, 1–200 characters; null by default, if the flag has no owner. */
  readonly owner: string | null;
}

/** A flag without its configuration per environment. */
export interface Flag extends FlagMembers {
  /** Unique in the instance, archived flags included. */
  readonly name: string;
  readonly project: string;
  readonly archived: boolean;
  /** ISO 8601, UTC, milliseconds. */
  readonly createdAt: string;
  /** Empty if the flag has no variants. */
  readonly variants: readonly Variant[];
  /**
   * Increases with every change of the flag, and when another flag becomes its child; never with metrics. Pass it as
   * `ifRevision`.
   */
  readonly revision: number;
}

/** A flag with its configuration in every environment of the instance, in the configured order. */
export interface FlagDetail extends Flag {
  /** The end of the latest client report that counted the flag; null without reports. */
  readonly lastSeenAt: string | null;
  readonly environments: readonly FlagEnvironment[];
  /** The parents, in the order of their addition. */
  readonly dependencies: readonly Dependency[];
  /** Names of the flags that depend on this one, in name order, without archived flags. */
  readonly children: readonly string[];
}

/** A flag in a list. */
export interface FlagSummary {
  readonly name: string;
  readonly type: string;
  readonly stale: boolean;
  readonly createdAt: string;
  readonly lastSeenAt: string | null;
  readonly environments: readonly EnvironmentSummary[];
}

/** A flag's switch in one environment. */
export interface EnvironmentSummary {
  readonly name: string;
  readonly displayName: string;
  readonly enabled: boolean;
}

/** A flag in the list of archived flags. */
export interface ArchivedFlag extends FlagSummary {
  readonly project: string;
  readonly archived: true;
  /** ISO 8601, UTC, milliseconds. */
  readonly archivedAt: string;
  readonly description: string | null;
  readonly impressionData: boolean;
}

/** A flag to create. */
export interface NewFlag extends Partial<Omit<FlagMembers, 'stale'>> {
  /** 1–100 characters that need no encoding in a URL (`encodeURIComponent(name) === name`), not `.` or `..`. */
  readonly name: string;
}

/** Absent members stay unchanged. `labels` replaces all labels. A `null` description or owner clears it. */
export interface FlagChanges extends Partial<FlagMembers> {}

/** Labels to add and to remove. A label in both lists is added. */
export interface LabelChanges {
  readonly add?: readonly string[];
  readonly remove?: readonly string[];
}

export interface FlagOperations {
  /**
   * Creates a flag, off in every environment.
   *
   * If several callers create the same name concurrently, exactly one succeeds.
   *
   * @throws FlagsError `invalid_input`, `project_not_found`, `flag_exists` (also when the name is taken in another
   * project or by an archived flag), `revision_mismatch` (with any `ifRevision`)
   * @example
   * await flags.createFlag({ project: 'default' }, { name: 'checkout', description: 'The new checkout' });
   */
  createFlag(ref: ProjectRef, input: NewFlag, context?: ChangeContext): Promise<Flag>;

  /**
   * Gets one flag, archived or not, with every environment of the instance.
   *
   * @throws FlagsError `project_not_found`, `flag_not_found`
   * @example
   * const { environments, revision } = await flags.getFlag({ project: 'default', flag: 'checkout' });
   */
  getFlag(ref: FlagRef): Promise<FlagDetail>;

  /**
   * Changes a flag's description, type, staleness, impression data, labels or owner. Does not record an event if nothing
   * changes.
   *
   * @throws FlagsError `invalid_input`, `project_not_found`, `flag_not_found`, `flag_archived`, `revision_mismatch`
   * @example
   * await flags.updateFlag({ project: 'default', flag: 'checkout' }, { stale: true });
   */
  updateFlag(ref: FlagRef, changes: FlagChanges, context?: ChangeContext): Promise<Flag>;

  /**
   * Adds labels to a flag and removes others, in one change. Added labels come last. Ignores labels to add that the
   * flag has, and labels to remove that it does not have. Does not record an event if nothing
   * changes.
   *
   * Concurrent calls all take effect: each starts from the current labels.
   *
   * @throws FlagsError as `updateFlag`; `invalid_input` also for too many labels
   * @example
   * const { labels } = await flags.changeLabels({ project: 'default', flag: 'checkout' }, { add: ['team-shop'] });
   */
  changeLabels(ref: FlagRef, changes: LabelChanges, context?: ChangeContext): Promise<Flag>;

  /**
   * Copies a flag's description, type, labels, owner, strategies and variants to a new flag. The copy is off
   * everywhere, not stale, and has new strategy ids.
   *
   * A `groupId` parameter equal to the source's name becomes the new name. Dependencies on archived or deleted parents
   * are not copied. `ifRevision` is the source's revision.
   *
   * If the source is archived concurrently, the copy either completes before that, or fails.
   *
   * @throws FlagsError `invalid_input`, `project_not_found`, `flag_not_found`, `flag_archived`, `flag_exists`,
   * `revision_mismatch`
   * @example
   * await flags.cloneFlag({ project: 'default', flag: 'checkout' }, { name: 'checkout-2' });
   */
  cloneFlag(ref: FlagRef, input: { readonly name: string }, context?: ChangeContext): Promise<Flag>;

  /**
   * Archives a flag: it leaves the lists and cannot be changed; its strategies stay. Does nothing if the flag is
   * archived already.
   *
   * @throws FlagsError `project_not_found`, `flag_not_found`, `flag_has_children` (flags that are not archived depend
   * on it), `revision_mismatch`
   * @example
   * await flags.archiveFlag({ project: 'default', flag: 'checkout' });
   */
  archiveFlag(ref: FlagRef, context?: ChangeContext): Promise<void>;

  /**
   * Finds the project of a flag, archived or not, by the flag's name.
   *
   * @throws FlagsError `flag_not_found`
   * @example
   * const { project } = await flags.locateFlag({ flag: 'checkout' });
   */
  locateFlag(ref: { readonly flag: string }): Promise<FlagRef>;

  /**
   * Revives an archived flag, off in every environment. Does nothing if the flag is not archived. With `project`, a
   * flag of another project is not found. Removes dependencies on flags that are archived or deleted: the change set
   * then also has events of the type `dependency-removed`.
   *
   * @throws FlagsError `flag_not_found`, `revision_mismatch`
   * @example
   * await flags.reviveFlag({ flag: 'checkout' });
   */
  reviveFlag(ref: AnyFlagRef, context?: ChangeContext): Promise<Flag>;

  /**
   * Deletes an archived flag and its metrics permanently. The name is free again. With `project`, a flag of another
   * project is not found.
   *
   * @throws FlagsError `flag_not_found`, `flag_not_archived`, `revision_mismatch`
   * @example
   * await flags.deleteFlag({ flag: 'checkout' });
   */
  deleteFlag(ref: AnyFlagRef, context?: ChangeContext): Promise<void>;

  /**
   * Moves a flag to another project, with its strategies, states and variants. Does nothing if it is there already.
   *
   * A flag with dependencies or children cannot move, because dependencies stay within a project. Segments of the old
   * project cannot be used in another one.
   *
   * @throws FlagsError `invalid_input`, `project_not_found` (either project), `flag_not_found`, `flag_archived`,
   * `parent_not_found` (the flag depends on others), `flag_has_children`, `segment_in_use` (flags of the other project
   * cannot use a segment of the flag), `revision_mismatch`
   * @example
   * await flags.moveFlag({ project: 'default', flag: 'checkout' }, { project: 'shop' });
   */
  moveFlag(ref: FlagRef, input: ProjectRef, context?: ChangeContext): Promise<Flag>;

  /**
   * Lists archived flags of one project or of all, in name order (code points).
   *
   * @throws FlagsError `project_not_found`
   * @example
   * const { items: archived } = await flags.listArchivedFlags({ project: 'default' });
   */
  listArchivedFlags(ref?: Partial<ProjectRef>, page?: PageQuery): Promise<ListPage<ArchivedFlag>>;
}
