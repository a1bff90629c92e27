import type { ChangeContext, FlagRef, JsonPatch, Page, PageQuery, ProjectRef } from '../common.types.js';
import type { Dependency } from './dependency.types.js';
import type { Strategy } from './strategy.types.js';
import type { Variant } from './variant.types.js';

/** A flag without its configuration per environment. */
export interface Flag {
  /** Unique over the whole instance, archived flags included. */
  readonly name: string;
  readonly project: string;
  readonly description: string | null;
  /** One of the configured flag types. */
  readonly type: string;
  readonly stale: boolean;
  readonly impressionData: boolean;
  readonly archived: boolean;
  /** ISO 8601, UTC, milliseconds. */
  readonly createdAt: string;
  /** The end of the latest reported period that counted it; null when never seen. */
  readonly lastSeenAt: string | null;
  /** Empty when the flag has none. */
  readonly variants: readonly Variant[];
  /**
   * Changes with every change to the flag, and when another begins to depend on it, never with metrics; give it back as
   * `ifRevision`.
   */
  readonly revision: number;
}

/** A flag with its configuration in every environment of the instance, in the configured order. */
export interface FlagDetail extends Flag {
  readonly environments: readonly FlagEnvironment[];
  /** The parents, in the order in which they were added. */
  readonly dependencies: readonly Dependency[];
  /** Names of the flags, not archived, that depend on this one, in name order. */
  readonly children: readonly string[];
}

export interface FlagEnvironment {
  readonly name: string;
  readonly enabled: boolean;
  readonly strategies: readonly Strategy[];
}

/** What lists show of a flag. */
export interface FlagSummary {
  readonly name: string;
  readonly type: string;
  readonly stale: boolean;
  readonly createdAt: string;
  readonly lastSeenAt: string | null;
  readonly environments: readonly EnvironmentSummary[];
}

export interface EnvironmentSummary {
  readonly name: string;
  readonly displayName: string;
  readonly enabled: boolean;
}

/** An archived flag, as the archive lists it. */
export interface ArchivedFlag extends FlagSummary {
  readonly project: string;
  readonly archived: true;
  /** ISO 8601, UTC, milliseconds; null for a flag that release 0.1 has archived. */
  readonly archivedAt: string | null;
  readonly description: string | null;
  readonly impressionData: boolean;
}

export interface NewFlag {
  /** 1–100 characters that a URL keeps as they are (`encodeURIComponent(name) === name`), not `.` or `..`. */
  readonly name: string;
  /** `''` when absent. */
  readonly description?: string | null;
  /** `release` when absent, or else the first configured type. */
  readonly type?: string;
  /** false when absent. */
  readonly impressionData?: boolean;
}

/** Absent members stay as they are; a `null` description clears it. */
export interface FlagChanges {
  readonly description?: string | null;
  readonly type?: string;
  readonly stale?: boolean;
  readonly impressionData?: boolean;
}

export interface FlagOperations {
  /**
   * Creates a flag, off in every environment. Of simultaneous creations of one name exactly one succeeds.
   *
   * @throws FlagsError `invalid_input`, `project_not_found`, `flag_exists` (also when the name is taken in another
   * project or by an archived flag), `revision_mismatch` (with any `ifRevision`)
   * @example
   * await flags.createFlag({ project: 'default' }, { name: 'checkout', description: 'The new checkout' });
   */
  createFlag(ref: ProjectRef, input: NewFlag, context?: ChangeContext): Promise<Flag>;

  /**
   * The project's flags that are not archived, in name order (code points).
   *
   * @throws FlagsError `project_not_found`
   * @example
   * const on = (await flags.listFlags({ project: 'default' })).filter((flag) => !flag.stale);
   */
  listFlags(ref: ProjectRef): Promise<readonly FlagSummary[]>;
  /** Returns one page: its cost depends on the page, not on the number of flags in the project. */
  listFlags(ref: ProjectRef, page: PageQuery): Promise<Page<FlagSummary>>;

  /**
   * One flag, archived or not, with every environment of the instance.
   *
   * @throws FlagsError `project_not_found`, `flag_not_found`
   * @example
   * const { environments, revision } = await flags.getFlag({ project: 'default', flag: 'checkout' });
   */
  getFlag(ref: FlagRef): Promise<FlagDetail>;

  /**
   * Changes a flag's description, type, staleness or impression data. What stays the same makes no event.
   *
   * @throws FlagsError `invalid_input`, `project_not_found`, `flag_not_found`, `flag_archived`, `revision_mismatch`
   * @example
   * await flags.updateFlag({ project: 'default', flag: 'checkout' }, { stale: true });
   */
  updateFlag(ref: FlagRef, changes: FlagChanges, context?: ChangeContext): Promise<Flag>;

  /**
   * Changes a flag by a JSON Patch (RFC 6902) on `/description`, `/type`, `/stale` and `/impressionData`, all operations
   * or none. Changes to `/name`, `/project`, `/createdAt`, `/lastSeen` and `/lastSeenAt` are silently kept from
   * happening.
   *
   * @throws FlagsError as {@link updateFlag}, and `invalid_patch`, `patch_test_failed`
   * @example
   * await flags.patchFlag({ project: 'default', flag: 'checkout' }, [
   *   { op: 'replace', path: '/description', value: 'The newer checkout' },
   * ]);
   */
  patchFlag(ref: FlagRef, patch: JsonPatch, context?: ChangeContext): Promise<Flag>;

  /**
   * Copies a flag's description, type, strategies and variants under a new name, with new strategy ids, off everywhere,
   * not stale. A `groupId` parameter that is the source's name becomes the new name. Dependencies are copied but for
   * those on parents that are archived or gone. `ifRevision` is the source's.
   *
   * Crossing with the source's archiving, either the copy was made before it or this fails.
   *
   * @throws FlagsError `invalid_input`, `project_not_found`, `flag_not_found`, `flag_archived`, `flag_exists`,
   * `revision_mismatch`
   * @example
   * await flags.cloneFlag({ project: 'default', flag: 'checkout' }, { name: 'checkout-2' });
   */
  cloneFlag(ref: FlagRef, input: { readonly name: string }, context?: ChangeContext): Promise<Flag>;

  /**
   * Archives a flag: it leaves the lists and cannot be changed, its strategies stay. Already archived: nothing happens.
   *
   * @throws FlagsError `project_not_found`, `flag_not_found`, `flag_has_children` (flags that are not archived depend on
   * it), `revision_mismatch`
   * @example
   * await flags.archiveFlag({ project: 'default', flag: 'checkout' });
   */
  archiveFlag(ref: FlagRef, context?: ChangeContext): Promise<void>;

  /**
   * Finds the project of a flag, archived or not, by the flag's name alone.
   *
   * @throws FlagsError `flag_not_found`
   * @example
   * const { project } = await flags.locateFlag({ flag: 'checkout' });
   */
  locateFlag(ref: { readonly flag: string }): Promise<FlagRef>;

  /**
   * Takes a flag out of the archive, off in every environment. Not archived: nothing happens. With a `project`, a flag of
   * another project is not found.
   *
   * @throws FlagsError `flag_not_found`, `revision_mismatch`
   * @example
   * await flags.reviveFlag({ flag: 'checkout' });
   */
  reviveFlag(ref: { readonly flag: string; readonly project?: string }, context?: ChangeContext): Promise<Flag>;

  /**
   * Deletes an archived flag for good, with what metrics know of it; its name is free again. With a `project`, a flag of
   * another project is not found.
   *
   * @throws FlagsError `flag_not_found`, `flag_not_archived`, `revision_mismatch`
   * @example
   * await flags.deleteFlag({ flag: 'checkout' });
   */
  deleteFlag(ref: { readonly flag: string; readonly project?: string }, context?: ChangeContext): Promise<void>;

  /**
   * Archived flags, of one project or of all, in name order (code points).
   *
   * @throws FlagsError `project_not_found`
   * @example
   * const archived = await flags.listArchivedFlags({ project: 'default' });
   */
  listArchivedFlags(ref?: Partial<ProjectRef>): Promise<readonly ArchivedFlag[]>;
  /** Returns one page. May read the summaries of all flags, in batches. */
  listArchivedFlags(ref: Partial<ProjectRef>, page: PageQuery): Promise<Page<ArchivedFlag>>;
}
