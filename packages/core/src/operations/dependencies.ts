import type { Dependency, DependencyInput, DependencyOperations } from '../api/dependencies.js';
import { detached } from '../detached.js';
import { addDependency, removeDependencies, removeDependency } from '../domain/dependencies.js';
import type { FlagState } from '../domain/flag.js';
import { flagDocuments } from '../engine/aggregates.js';
import type { Engine } from '../engine/engine.js';
import { changeFlag } from './change-flag.js';
import { findFlag } from './find.js';
import { listChildren } from './flag-family.js';
import { listLiveFlags } from './flag-lists.js';
import { type ListedFlag, toListedFlag } from './flag-views.js';
import { pageBounds, readPage } from './pages.js';

/** Which flags depend on which. */
export function dependencyOperations(engine: Engine): DependencyOperations {
  const { read, storage, validate } = engine;
  return {
    async addDependency(ref, input, context) {
      const dependency = detached(toDependency(validate.dependency(input)));
      await changeFlag(engine, { ref, context }, async (child, read) => {
        const parent = await read(flagDocuments, dependency.flag);
        const children = await listChildren(engine, child.name);
        return addDependency(child, dependency, { parent: parent?.state, children });
      });
      return dependency;
    },

    async removeDependency(ref, { flag }, context) {
      await changeFlag(engine, { ref, context }, (child) => removeDependency(child, flag));
    },

    async removeDependencies(ref, context) {
      await changeFlag(engine, { ref, context }, removeDependencies);
    },

    async listPossibleParents(ref) {
      const { state: child } = await findFlag(read, ref);
      if (!(await canDepend(engine, child))) return [];
      const flags = await listLiveFlags(engine, child.project);
      return flags.filter((flag) => isPossibleParent(flag, child)).map(({ name }) => name);
    },

    async pagePossibleParents(ref, query = {}) {
      const bounds = pageBounds(engine, query);
      const { state: child } = await findFlag(read, ref);
      if (!(await canDepend(engine, child))) return { items: [] };
      const flags = { kind: flagDocuments.kind, part: 'summary', parent: child.project } as const;
      const page = await readPage(storage, { ...flags, ...bounds }, (document) =>
        isPossibleParent(toListedFlag(document), child),
      );
      return { ...page, items: page.items.map(({ key }) => key.id) };
    },
  };
}

async function canDepend(engine: Engine, { archived, name }: FlagState): Promise<boolean> {
  return !archived && (await listChildren(engine, name)).length === 0;
}

function isPossibleParent({ name, archived, parents }: ListedFlag, child: FlagState): boolean {
  return !archived && parents.length === 0 && name !== child.name;
}

function toDependency({ flag, enabled = true, variants = [] }: DependencyInput): Dependency {
  return { flag, enabled, variants };
}
