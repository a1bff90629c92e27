import type { Dependency, DependencyInput, DependencyOperations } from '../api/dependencies.js';
import { detached } from '../detached.js';
import { addDependency, removeDependencies, removeDependency } from '../domain/dependencies.js';
import { flagDocuments } from '../engine/aggregates.js';
import type { Engine } from '../engine/engine.js';
import { changeFlag } from './change-flag.js';
import { findFlag } from './find.js';
import { listChildren } from './flag-family.js';
import { listLiveFlags } from './flag-lists.js';

/** Which flags depend on which. */
export function dependencyOperations(engine: Engine): DependencyOperations {
  const { read, validate } = engine;
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
      if (child.archived || (await listChildren(engine, child.name)).length > 0) return [];
      const flags = await listLiveFlags(engine, child.project);
      const parentless = flags.filter(({ parents }) => parents.length === 0);
      return parentless.map(({ name }) => name).filter((name) => name !== child.name);
    },
  };
}

function toDependency({ flag, enabled = true, variants = [] }: DependencyInput): Dependency {
  return { flag, enabled, variants };
}
