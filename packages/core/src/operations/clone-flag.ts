import type { FlagOperations } from '../api/flags.js';
import { cloneFlag } from '../domain/flag-lifecycle.js';
import { flagDocuments } from '../engine/aggregates.js';
import type { Engine } from '../engine/engine.js';
import { findFlag, findProject, refuseUnknownFlag } from './find.js';
import { inheritableDependencies } from './flag-family.js';
import { readLastSeenAt, toFlag } from './flag-views.js';
import { followReferences } from './follow-references.js';

/** Copies flags. */
export function cloneFlagOperations(engine: Engine): Pick<FlagOperations, 'cloneFlag'> {
  const { change, validate, metrics, now } = engine;
  return {
    async cloneFlag(ref, input, context) {
      const { name } = validate.clone(input);
      const lastSeenAt = await readLastSeenAt(metrics, name);
      const birth = { name, createdAt: now().toISOString(), idFor: rememberIds(engine.newId) };
      const created = await change({
        aggregate: flagDocuments,
        id: name,
        seen: { documents: flagDocuments, id: ref.flag },
        context,
        decide: async (existing, read) => {
          const source = await findFlag(read, ref);
          await findProject(read, ref);
          const dependencies = await inheritableDependencies(engine, { source: source.state, name, read });
          const events = cloneFlag(existing?.state, source.state, { ...birth, dependencies });
          return { events, along: await followReferences(read, undefined, events) };
        },
      });
      return toFlag(created ?? refuseUnknownFlag(name), lastSeenAt);
    },
  };
}

/** The same new id for the same strategy, however often a decision is repeated. */
function rememberIds(newId: () => string): (strategy: string) => string {
  const ids = new Map<string, string>();
  return (strategy) => {
    const id = ids.get(strategy) ?? newId();
    ids.set(strategy, id);
    return id;
  };
}
