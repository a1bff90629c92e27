import type { AnyFlagRef, ChangeContext, FlagRef, ListPage, PageQuery, ProjectRef } from '../../base/common.types.js';
import { Namespace, run } from '../../kernel/changes/run-operation.js';
import { dependencyOperations } from './dependencies.operations.js';
import type { Dependency, DependencyInput } from './dependency.types.js';
import { flagOperations } from './flag.operations.js';
import type { Flag, FlagChanges, FlagDetail, LabelChanges, NewFlag } from './flag.types.js';
import { flagListOperations } from './flag-lists.operations.js';
import type { FlagPage, FlagQuery } from './flag-search.types.js';
import type { Variant, VariantInput } from './variant.types.js';

/** The methods of `Flags` for flags, their variants and their dependencies. A class cannot span files, so `Flags` inherits them. */
export abstract class FlagAdministration extends Namespace {
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
  createFlag(ref: ProjectRef, input: NewFlag, context?: ChangeContext): Promise<Flag> {
    return run(this, flagOperations.createFlag, { ref, input, context });
  }

  /**
   * Gets one flag, archived or not, with every environment of the instance.
   *
   * @throws FlagsError `project_not_found`, `flag_not_found`
   * @example
   * const { environments, revision } = await flags.getFlag({ project: 'default', flag: 'checkout' });
   */
  getFlag(ref: FlagRef): Promise<FlagDetail> {
    return run(this, flagOperations.getFlag, { ref });
  }

  /**
   * Finds the project of a flag, archived or not, by the flag's name.
   *
   * @throws FlagsError `flag_not_found`
   * @example
   * const { project } = await flags.locateFlag({ flag: 'checkout' });
   */
  locateFlag(ref: { readonly flag: string }): Promise<FlagRef> {
    return run(this, flagOperations.locateFlag, { ref });
  }

  /**
   * Lists flags: of one project, of several or of all; by text, label, owner, type, state and environment. By default all that
   * are not archived, in name order (code points). Answers from memory, after it has applied the changes of other processes.
   *
   * `after` is the `next` of a page with the same `sort`. Pages sorted by `lastSeenAt` may repeat or miss flags whose time
   * changes between two pages.
   *
   * @throws FlagsError `invalid_input`, `project_not_found`, `environment_not_found`
   * @example
   * const { items } = await flags.listFlags({ project: 'default' });
   * const fresh = items.filter((flag) => !flag.stale);
   * @example
   * const archived = await flags.listFlags({ archived: true });
   * const { items, total } = await flags.listFlags({ label: 'team-shop', sort: '-createdAt' }, { limit: 20 });
   */
  listFlags(query?: FlagQuery, page?: PageQuery): Promise<FlagPage> {
    return run(this, flagListOperations.listFlags, { input: query, context: page });
  }

  /**
   * Changes a flag's description, type, staleness, impression data, labels or owner. Does not record an event if nothing
   * changes.
   *
   * @throws FlagsError `invalid_input`, `project_not_found`, `flag_not_found`, `flag_archived`, `revision_mismatch`
   * @example
   * await flags.updateFlag({ project: 'default', flag: 'checkout' }, { stale: true });
   */
  updateFlag(ref: FlagRef, changes: FlagChanges, context?: ChangeContext): Promise<Flag> {
    return run(this, flagOperations.updateFlag, { ref, input: changes, context });
  }

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
  changeLabels(ref: FlagRef, changes: LabelChanges, context?: ChangeContext): Promise<Flag> {
    return run(this, flagOperations.changeLabels, { ref, input: changes, context });
  }

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
  cloneFlag(ref: FlagRef, input: { readonly name: string }, context?: ChangeContext): Promise<Flag> {
    return run(this, flagOperations.cloneFlag, { ref, input, context });
  }

  /**
   * Archives a flag: it leaves the lists and cannot be changed; its strategies stay. Does nothing if the flag is
   * archived already.
   *
   * @throws FlagsError `project_not_found`, `flag_not_found`, `flag_has_children` (flags that are not archived depend
   * on it), `revision_mismatch`
   * @example
   * await flags.archiveFlag({ project: 'default', flag: 'checkout' });
   */
  archiveFlag(ref: FlagRef, context?: ChangeContext): Promise<void> {
    return run(this, flagOperations.archiveFlag, { ref, context });
  }

  /**
   * Revives an archived flag, off in every environment. Does nothing if the flag is not archived. With `project`, a
   * flag of another project is not found. Removes dependencies on flags that are archived or deleted: the change set
   * then also has events of the type `dependency-removed`.
   *
   * @throws FlagsError `flag_not_found`, `revision_mismatch`
   * @example
   * await flags.reviveFlag({ flag: 'checkout' });
   */
  reviveFlag(ref: AnyFlagRef, context?: ChangeContext): Promise<Flag> {
    return run(this, flagOperations.reviveFlag, { ref, context });
  }

  /**
   * Deletes an archived flag and its metrics permanently. The name is free again. With `project`, a flag of another
   * project is not found.
   *
   * @throws FlagsError `flag_not_found`, `flag_not_archived`, `revision_mismatch`
   * @example
   * await flags.deleteFlag({ flag: 'checkout' });
   */
  deleteFlag(ref: AnyFlagRef, context?: ChangeContext): Promise<void> {
    return run(this, flagOperations.deleteFlag, { ref, context });
  }

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
  moveFlag(ref: FlagRef, input: ProjectRef, context?: ChangeContext): Promise<Flag> {
    return run(this, flagOperations.moveFlag, { ref, input, context });
  }

  /**
   * Replaces all variants of a flag, in all environments, in the given order. `[]` removes them.
   *
   * Weights without `weightType` are shares, and all weights add up to 1000: 900 and 100 stay so. The last share is
   * stored as `variable`, the others as `fix`.
   *
   * Fixed weights must add up to less than 1000, and at least one variant must be variable. Variable variants share the
   * remainder equally; the first ones get one more each if it does not divide evenly (three variable: 334, 333, 333).
   *
   * If several callers set variants concurrently, the last one wins. Pass `ifRevision` to reject it instead.
   *
   * @throws FlagsError `invalid_input` (naming the rule), `project_not_found`, `flag_not_found`, `flag_archived`,
   * `revision_mismatch`
   * @example
   * await flags.setVariants({ project: 'default', flag: 'checkout' }, [
   *   { name: 'blue', weightType: 'fix', weight: 100 },
   *   { name: 'green' },
   * ]); // blue 100, green 900
   */
  setVariants(ref: FlagRef, variants: readonly VariantInput[], context?: ChangeContext): Promise<readonly Variant[]> {
    return run(this, flagOperations.setVariants, { ref, input: variants, context });
  }

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
  addDependency(ref: FlagRef, input: DependencyInput, context?: ChangeContext): Promise<Dependency> {
    return run(this, dependencyOperations.addDependency, { ref, input, context });
  }

  /**
   * Removes a flag's dependency on one parent.
   *
   * @throws FlagsError `project_not_found`, `flag_not_found`, `flag_archived`, `dependency_not_found`,
   * `revision_mismatch`
   * @example
   * await flags.removeDependency({ project: 'default', flag: 'checkout' }, { flag: 'payments' });
   */
  removeDependency(ref: FlagRef, parent: { readonly flag: string }, context?: ChangeContext): Promise<void> {
    return run(this, dependencyOperations.removeDependency, { ref, input: parent, context });
  }

  /**
   * Removes all dependencies of a flag. Does nothing if there are none.
   *
   * @throws FlagsError `project_not_found`, `flag_not_found`, `flag_archived`, `revision_mismatch`
   * @example
   * await flags.removeDependencies({ project: 'default', flag: 'checkout' });
   */
  removeDependencies(ref: FlagRef, context?: ChangeContext): Promise<void> {
    return run(this, dependencyOperations.removeDependencies, { ref, context });
  }

  /**
   * Lists the names of the flags that could be parents of this flag, in name order (code points).
   *
   * @throws FlagsError `project_not_found`, `flag_not_found`
   * @example
   * const { items: candidates } = await flags.listPossibleParents({ project: 'default', flag: 'checkout' });
   */
  listPossibleParents(ref: FlagRef, page?: PageQuery): Promise<ListPage<string>> {
    return run(this, dependencyOperations.listPossibleParents, { ref, context: page });
  }
}
