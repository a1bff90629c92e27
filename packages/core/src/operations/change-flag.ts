import type { ChangeContext, FlagRef } from '../api/refs.js';
import type { Awaitable } from '../awaitable.js';
import type { FlagEvent, FlagState } from '../domain/flag.js';
import type { Versioned } from '../engine/aggregate.js';
import { flagDocuments } from '../engine/aggregates.js';
import type { Engine } from '../engine/engine.js';
import type { Read } from '../engine/reader.js';
import { belonging, refuseUnknownFlag } from './find.js';
import { followReferences } from './follow-references.js';
import { assertSegmentsUsable } from './segment-access.js';

/** Changes an existing flag of the project that the reference names; gives it as it is afterwards. */
export async function changeFlag(
  { change }: Pick<Engine, 'change'>,
  { ref, context }: { readonly ref: FlagRef; readonly context: ChangeContext | undefined },
  decide: (flag: FlagState, read: Read) => Awaitable<FlagEvent[]>,
): Promise<Versioned<FlagState>> {
  const changed = await change({
    aggregate: flagDocuments,
    id: ref.flag,
    context,
    decide: async (found, read) => {
      const { state } = await belonging(found, { ref, read });
      const events = await decide(state, read);
      await assertSegmentsUsable(read, { project: state.project, events, context });
      return { events, along: await followReferences(read, state, events) };
    },
  });
  return changed ?? refuseUnknownFlag(ref.flag);
}
