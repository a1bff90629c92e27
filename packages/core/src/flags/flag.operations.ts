import type { Versioned } from '../changes/aggregate.js';
import type { Engine } from '../changes/engine.js';
import { clonePatch } from '../replica/clone-json.js';
import { changeFlag, followReferences } from './change-flag.js';
import { inheritableDependencies, listLiveChildren } from './dependencies.operations.js';
import { findFlag, findProject, throwFlagNotFound } from './find.js';
import type { FlagState } from './flag.js';
import type { FlagOperations } from './flag.types.js';
import { flagDocuments } from './flag-documents.js';
import { readLastSeenAt, toDetail, toFlag } from './flag-views.js';
import { archiveFlag, cloneFlag, createFlag, deleteFlag, reviveFlag } from './lifecycle.decide.js';
import { changeMetadata, patchMetadata } from './metadata.decide.js';

/** Creates, reads and changes flags. */
export function flagOperations(
  engine: Engine,
): Pick<FlagOperations, 'createFlag' | 'getFlag' | 'updateFlag' | 'patchFlag'> {
  const { change, read, validate, settings, metrics, now } = engine;
  return {
    async createFlag(ref, input, context) {
      const { type = defaultType(engine), ...rest } = validate.newFlag(input);
      const createdAt = now().toISOString();
      const lastSeenAt = await readLastSeenAt(metrics, rest.name);
      const created = await change({
        aggregate: flagDocuments,
        id: rest.name,
        context,
        decide: async (existing, read) => {
          const { state } = await findProject(read, ref);
          return createFlag(existing?.state, { ...rest, type }, { project: state.id, createdAt });
        },
      });
      return toFlag(created ?? throwFlagNotFound(rest.name), lastSeenAt);
    },

    async getFlag(ref) {
      const found = await findFlag(read, ref);
      const [children, lastSeenAt] = await Promise.all([
        listLiveChildren(engine, ref.flag),
        readLastSeenAt(metrics, ref.flag),
      ]);
      return toDetail(toFlag(found, lastSeenAt), found.state, { settings, children });
    },

    async updateFlag(ref, input, context) {
      const changes = validate.flagChanges(input);
      const lastSeenAt = await readLastSeenAt(metrics, ref.flag);
      const updated = await changeFlag(engine, { ref, context }, (flag) => changeMetadata(flag, changes, lastSeenAt));
      return toFlag(updated, lastSeenAt);
    },

    async patchFlag(ref, input, context) {
      const patch = clonePatch(validate.jsonPatch(input));
      const lastSeenAt = await readLastSeenAt(metrics, ref.flag);
      const patched = await changeFlag(engine, { ref, context }, (flag) =>
        patchMetadata(flag, { patch, lastSeenAt, validate: validate.flagChanges }),
      );
      return toFlag(patched, lastSeenAt);
    },
  };
}

const PREFERRED_TYPE = 'release';

/** `release`, or the first type of an instance that has none of that name. */
function defaultType({ settings }: Engine): string {
  const names = settings.flagTypes.map(({ name }) => name);
  return names.includes(PREFERRED_TYPE) ? PREFERRED_TYPE : (names[0] ?? PREFERRED_TYPE);
}

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
        revisionOf: { documents: flagDocuments, id: ref.flag },
        context,
        decide: async (existing, read) => {
          const source = await findFlag(read, ref);
          await findProject(read, ref);
          const dependencies = await inheritableDependencies(engine, { source: source.state, name, read });
          const events = cloneFlag(existing?.state, source.state, { ...birth, dependencies });
          return { events, sideWrites: await followReferences(read, undefined, events) };
        },
      });
      return toFlag(created ?? throwFlagNotFound(name), lastSeenAt);
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

/** Archives, revives and deletes flags. */
export function flagLifecycleOperations(
  engine: Engine,
): Pick<FlagOperations, 'archiveFlag' | 'locateFlag' | 'reviveFlag' | 'deleteFlag'> {
  const { change, metrics, read, retention, now } = engine;
  return {
    async archiveFlag(ref, context) {
      const archivedAt = now().toISOString();
      await changeFlag(engine, { ref, context }, async (flag) => {
        return archiveFlag(flag, await listLiveChildren(engine, flag.name), archivedAt);
      });
    },

    async locateFlag({ flag }) {
      const { project } = belongingTo(await read(flagDocuments, flag), { flag });
      return { project, flag };
    },

    async reviveFlag({ flag, project }, context) {
      const lastSeenAt = await readLastSeenAt(metrics, flag);
      const revived = await change({
        aggregate: flagDocuments,
        id: flag,
        context,
        decide: (found) => reviveFlag(belongingTo(found, { flag, project })),
      });
      return toFlag(revived ?? throwFlagNotFound(flag), lastSeenAt);
    },

    async deleteFlag({ flag, project }, context) {
      await change({
        aggregate: flagDocuments,
        id: flag,
        context,
        decide: async (found, read) => {
          const state = belongingTo(found, { flag, project });
          const events = deleteFlag(state);
          return { events, sideWrites: await followReferences(read, state, events) };
        },
      });
      await retention.forget([flag]);
    },
  };
}

/** A flag that was found by its name; of the project, where one is named. */
function belongingTo(
  found: Versioned<FlagState> | undefined,
  { flag, project }: { readonly flag: string; readonly project?: string | undefined },
): FlagState {
  if (!found || (project !== undefined && found.state.project !== project)) return throwFlagNotFound(flag);
  return found.state;
}
