import type { ChangeContext, FlagRef, ListPage, PageQuery } from '../base/common.types.js';

/** A parent flag and the state it must have for the child to be on. */
export interface Dependency {
  /** The parent's name. */
  readonly flag: string;
  /** Whether the parent must be on or off. */
  readonly enabled: boolean;
  /** Names of variants, one of which the parent must have; empty for any. Only with `enabled: true`. */
  readonly variants: readonly string[];
}

/** A dependency on a parent flag, to add or to replace. */
export interface DependencyInput {
  readonly flag: string;
  /** Default: true. */
  readonly enabled?: boolean;
  /** Default: `[]`. */
  readonly variants?: readonly string[];
}

export interface DependencyOperations {
  /**
   * Adds a dependency on a parent, or replaces the one on that parent.
   *
   * Parents belong to the same project and have no parents themselves; a flag with children cannot get parents.
   * Concurrent additions cannot break these rules.
   *
   * @throws FlagsError `invalid_input`, `project_not_found`, `flag_not_found`, `flag_archived` (the child),
   * `parent_not_found` (no such flag in the project, or an archived one), `dependency_cycle` (a flag and itself),
   * `dependency_too_deep` (the parent has a parent, or the child is one), `revision_mismatch`
   * @example
   * await flags.addDependency({ project: 'default', flag: 'checkout' }, { flag: 'payments' });
   */
  addDependency(ref: FlagRef, input: DependencyInput, context?: ChangeContext): Promise<Dependency>;

  /**
   * Removes a flag's dependency on one parent.
   *
   * @throws FlagsError `project_not_found`, `flag_not_found`, `flag_archived`, `dependency_not_found`,
   * `revision_mismatch`
   * @example
   * await flags.removeDependency({ project: 'default', flag: 'checkout' }, { flag: 'payments' });
   */
  removeDependency(ref: FlagRef, parent: { readonly flag: string }, context?: ChangeContext): Promise<void>;

  /**
   * Removes all dependencies of a flag. Does nothing if there are none.
   *
   * @throws FlagsError `project_not_found`, `flag_not_found`, `flag_archived`, `revision_mismatch`
   * @example
   * await flags.removeDependencies({ project: 'default', flag: 'checkout' });
   */
  removeDependencies(ref: FlagRef, context?: ChangeContext): Promise<void>;

  /**
   * Lists the names of the flags that could be parents of this flag, in name order (code points).
   *
   * @throws FlagsError `project_not_found`, `flag_not_found`
   * @example
   * const { items: candidates } = await flags.listPossibleParents({ project: 'default', flag: 'checkout' });
   */
  listPossibleParents(ref: FlagRef, page?: PageQuery): Promise<ListPage<string>>;
}
