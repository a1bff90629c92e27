import type { FlagOperations } from '../api/flags.js';
import { detachedPatch } from '../detached.js';
import { createFlag } from '../domain/flag-lifecycle.js';
import { changeMetadata, patchMetadata } from '../domain/flag-metadata.js';
import { flagDocuments } from '../engine/aggregates.js';
import type { Engine } from '../engine/engine.js';
import { changeFlag } from './change-flag.js';
import { findFlag, findProject, refuseUnknownFlag } from './find.js';
import { listLiveChildren } from './flag-family.js';
import { readLastSeenAt, toDetail, toFlag } from './flag-views.js';

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
      return toFlag(created ?? refuseUnknownFlag(rest.name), lastSeenAt);
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
      const patch = detachedPatch(validate.jsonPatch(input));
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
