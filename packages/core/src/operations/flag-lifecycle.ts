import type { FlagOperations } from '../api/flags.js';
import { archiveFlag, deleteFlag, reviveFlag } from '../domain/flag-lifecycle.js';
import { flagDocuments } from '../engine/aggregates.js';
import type { Engine } from '../engine/engine.js';
import { changeFlag } from './change-flag.js';
import { refuseUnknownFlag } from './find.js';
import { listLiveChildren } from './flag-family.js';
import { readLastSeenAt, toFlag } from './flag-views.js';
import { followReferences } from './follow-references.js';

/** Archives, revives and deletes flags. */
export function flagLifecycleOperations(
  engine: Engine,
): Pick<FlagOperations, 'archiveFlag' | 'reviveFlag' | 'deleteFlag'> {
  const { change, metrics, retention, now } = engine;
  return {
    async archiveFlag(ref, context) {
      const archivedAt = now().toISOString();
      await changeFlag(engine, { ref, context }, async (flag) => {
        return archiveFlag(flag, await listLiveChildren(engine, flag.name), archivedAt);
      });
    },

    async reviveFlag({ flag }, context) {
      const lastSeenAt = await readLastSeenAt(metrics, flag);
      const revived = await change({
        aggregate: flagDocuments,
        id: flag,
        context,
        decide: (found) => reviveFlag((found ?? refuseUnknownFlag(flag)).state),
      });
      return toFlag(revived ?? refuseUnknownFlag(flag), lastSeenAt);
    },

    async deleteFlag({ flag }, context) {
      await change({
        aggregate: flagDocuments,
        id: flag,
        context,
        decide: async (found, read) => {
          const { state } = found ?? refuseUnknownFlag(flag);
          const events = deleteFlag(state);
          return { events, along: await followReferences(read, state, events) };
        },
      });
      await retention.forget([flag]);
    },
  };
}
