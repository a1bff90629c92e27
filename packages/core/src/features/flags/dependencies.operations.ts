import type { ChangeContext, FlagRef, ListPage, PageQuery } from '../../base/common.types.js';
import { cloneJson } from '../../base/json.js';
import { cutPage, pageBounds } from '../../base/pages.js';
import { Namespace, run } from '../../kernel/changes/run-operation.js';
import type { Engine, PreparedChange } from '../../kernel/engine.js';
import {
  type Call,
  call,
  defineOperations,
  FLAG,
  operation,
  type Page,
  singleOperation,
} from '../../kernel/operation.js';
import type { DocumentReader } from '../../storage/document-reader.js';
import { changeFlag } from './change-flag.js';
import * as dependencyRules from './dependencies.decide.js';
import type { Dependency, DependencyInput } from './dependency.types.js';
import { type DependencyEdge, dependencyEdges, type FlagState } from './flag.js';
import { findFlag, flagDocuments } from './flag.kind.js';
import { BY_NAME, listLiveFlags } from './flag-lists.js';

/** Lists the names of the flags that depend on a flag, archived or not, in name order. */
export async function listChildren({ list }: DocumentReader, parent: string): Promise<readonly string[]> {
  const edges = await list({ kind: dependencyEdges.kind, parent, part: 'body' });
  return edges.map(({ content }) => (content as DependencyEdge).child);
}

/** Lists the names of the flags that depend on a flag and are not archived, in name order. */
export async function listLiveChildren(documents: DocumentReader, parent: string): Promise<readonly string[]> {
  const names = await listChildren(documents, parent);
  if (names.length === 0) return names;
  const children = await Promise.all(names.map((name) => documents.read(flagDocuments, name)));
  return names.filter((_, i) => children[i]?.state.archived === false);
}

/**
 * Returns the dependencies that a clone or a revived flag can have: those on flags that can be parents now. A flag with
 * children has none. A clone has children if archived flags depend on a deleted flag of the same name.
 */
export async function possibleDependencies(
  documents: DocumentReader,
  { source, name }: { readonly source: FlagState; readonly name: string },
): Promise<readonly Dependency[]> {
  const dependencies = source.dependencies;
  if (dependencies.length === 0) return [];
  if ((await listChildren(documents, name)).length > 0) return [];
  const parents = await Promise.all(dependencies.map(({ flag }) => documents.read(flagDocuments, flag)));
  return dependencies.filter((_, i) => {
    const parent = parents[i]?.state;
    return dependencyRules.canBeParent(parent, source.project) && parent.dependencies.length === 0;
  });
}

function addDependency(_: Engine, ref: FlagRef, input: DependencyInput): PreparedChange<Dependency> {
  const dependency = cloneJson(toDependency(input));
  return changeFlag(ref, {
    async decide(child, unit) {
      const parent = await unit.read(flagDocuments, dependency.flag);
      const children = await listChildren(unit, child.name);
      return dependencyRules.addDependency(child, dependency, { parent: parent?.state, children });
    },
    result: ({ state }) => state.dependencies.find(({ flag }) => flag === dependency.flag) ?? dependency,
  });
}

function removeDependency(_: Engine, ref: FlagRef, input: { readonly flag: string }): PreparedChange<void> {
  const { flag } = input;
  return changeFlag(ref, {
    decide: (child) => dependencyRules.removeDependency(child, flag),
    result: () => undefined,
  });
}

function removeDependencies(_: Engine, ref: FlagRef): PreparedChange<void> {
  return changeFlag(ref, { decide: dependencyRules.removeDependencies, result: () => undefined });
}

async function listPossibleParents(engine: Engine, ref: FlagRef, query?: PageQuery): Promise<ListPage<string>> {
  const bounds = pageBounds(query);
  const { state: child } = await findFlag(engine.read, ref);
  if (!(await canDepend(engine, child))) return { items: [] };
  const parents = (await listLiveFlags(engine, child.project)).filter((flag) => isPossibleParent(flag, child));
  const page = cutPage(parents, bounds, BY_NAME);
  return { ...page, items: page.items.map(({ name }) => name) };
}

async function canDepend(engine: Engine, { archived, name }: FlagState): Promise<boolean> {
  return !archived && (await listChildren(engine, name)).length === 0;
}

function isPossibleParent(flag: FlagState, child: FlagState): boolean {
  return flag.dependencies.length === 0 && flag.name !== child.name;
}

function toDependency({ flag, enabled = true, variants = [] }: DependencyInput): Dependency {
  return { flag, enabled, variants };
}

export const dependencyOperations = defineOperations({
  addDependency: operation({ ref: FLAG, input: 'dependency', prepare: addDependency }),
  removeDependency: operation({ ref: FLAG, input: 'parent', prepare: removeDependency }),
  removeDependencies: singleOperation({ ref: FLAG, prepare: removeDependencies }),
  listPossibleParents: call({
    ref: FLAG,
    run: (engine: Engine, { ref, context }: Call<FlagRef, undefined, Page>) =>
      listPossibleParents(engine, ref, context),
  }),
});

/** The methods of `Flags` for dependencies. A class cannot span files, so each inherits from one before it. */
export abstract class DependencyAdministration extends Namespace {
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
