import type { FlagOperations } from '../api/flags.js';
import type { FlagState } from '../domain/flag.js';
import { archiveFlag, deleteFlag, reviveFlag } from '../domain/flag-lifecycle.js';
import type { Versioned } from '../engine/aggregate.js';
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
      return toFlag(revived ?? refuseUnknownFlag(flag), lastSeenAt);
    },

    async deleteFlag({ flag, project }, context) {
      await change({
        aggregate: flagDocuments,
        id: flag,
        context,
        decide: async (found, read) => {
          const state = belongingTo(found, { flag, project });
          const events = deleteFlag(state);
          return { events, along: await followReferences(read, state, events) };
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
  if (!found || (project !== undefined && found.state.project !== project)) return refuseUnknownFlag(flag);
  return found.state;
}
