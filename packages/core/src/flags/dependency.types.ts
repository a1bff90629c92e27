import type { ChangeContext, FlagRef, Page, PageQuery } from '../common.types.js';

/** A parent flag that has to be as it says for the child to be on. */
export interface Dependency {
  /** The parent's name. */
  readonly flag: string;
  /** Whether the parent has to be on, or off. */
  readonly enabled: boolean;
  /** Names of variants, one of which the parent has to have; any when empty. Only with `enabled: true`. */
  readonly variants: readonly string[];
}

export interface DependencyInput {
  readonly flag: string;
  /** true when absent. */
  readonly enabled?: boolean;
  /** `[]` when absent. */
  readonly variants?: readonly string[];
}

export interface DependencyOperations {
  /**
   * Makes a flag depend on a parent, or changes how it does. Parents are flags of the same project without parents of
   * their own, and a flag that is a parent has none: crossing additions cannot break that.
   *
   * @throws FlagsError `invalid_input`, `project_not_found`, `flag_not_found`, `flag_archived` (the child),
   * `parent_not_found` (no such flag in the project, or an archived one), `dependency_cycle` (a flag and itself),
   * `dependency_too_deep` (the parent has a parent, or the child is one), `revision_mismatch`
   * @example
   * await flags.addDependency({ project: 'default', flag: 'checkout' }, { flag: 'payments' });
   */
  addDependency(ref: FlagRef, input: DependencyInput, context?: ChangeContext): Promise<Dependency>;

  /**
   * Ends a flag's dependency on one parent.
   *
   * @throws FlagsError `project_not_found`, `flag_not_found`, `flag_archived`, `dependency_not_found`,
   * `revision_mismatch`
   * @example
   * await flags.removeDependency({ project: 'default', flag: 'checkout' }, { flag: 'payments' });
   */
  removeDependency(ref: FlagRef, parent: { readonly flag: string }, context?: ChangeContext): Promise<void>;

  /**
   * Ends all of a flag's dependencies. None: nothing happens.
   *
   * @throws FlagsError `project_not_found`, `flag_not_found`, `flag_archived`, `revision_mismatch`
   * @example
   * await flags.removeDependencies({ project: 'default', flag: 'checkout' });
   */
  removeDependencies(ref: FlagRef, context?: ChangeContext): Promise<void>;

  /**
   * The names of the flags that this flag could depend on, in name order.
   *
   * @throws FlagsError `project_not_found`, `flag_not_found`
   * @example
   * const candidates = await flags.listPossibleParents({ project: 'default', flag: 'checkout' });
   */
  listPossibleParents(ref: FlagRef): Promise<readonly string[]>;
  /** Returns one page. */
  listPossibleParents(ref: FlagRef, page: PageQuery): Promise<Page<string>>;
}
