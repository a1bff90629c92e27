import type { NewSegment, SegmentChanges, SegmentOperations } from '../api/segments.js';
import { detached } from '../detached.js';
import { createSegment, deleteSegment, movesAway, updateSegment } from '../domain/segment.js';
import {
  NO_SEGMENTS,
  registerSegment,
  renameSegment,
  type SegmentRegistry,
  unregisterSegment,
} from '../domain/segment-registry.js';
import { SEGMENT_REGISTRY, segmentDocuments, segmentRegistries } from '../engine/aggregates.js';
import { type DocumentChange, writeIndex } from '../engine/document-change.js';
import type { Engine } from '../engine/engine.js';
import type { Read } from '../engine/reader.js';
import { assertUsersAffordable } from './affordable.js';
import { findProject } from './find.js';
import { idOfSegment, listUses, refuseUnknownSegment, segmentListOperations, toSegment } from './segment-lists.js';

/** Constraints that strategies of many flags share. */
export function segmentOperations(engine: Engine): SegmentOperations {
  const { change, validate, now } = engine;
  return {
    ...segmentListOperations(engine),

    async createSegment(input, context) {
      const valid = detachedSegment(validate.newSegment(input));
      const createdAt = now().toISOString();
      const created = await change({
        aggregate: segmentDocuments,
        id: async (read) => `${await nextId(read)}`,
        context,
        decide: (_found, read, createdBy) => register(read, valid, { createdAt, createdBy }),
      });
      if (!created) throw new Error('A segment that was created is not there.');
      return toSegment(created);
    },

    async updateSegment({ segment }, input, context) {
      const changes = detachedSegment(validate.segmentChanges(input));
      const updated = await change({
        aggregate: segmentDocuments,
        id: idOfSegment(segment),
        context,
        decide: async (found, read) => {
          const { state } = found ?? refuseUnknownSegment(segment);
          const { name = state.name, constraints } = changes;
          if (constraints) assertUsersAffordable(engine, { id: state.id, constraints });
          await findProjectOf(read, changes);
          const uses = movesAway(state, changes) ? await listUses(engine, state.id) : [];
          const events = updateSegment(state, changes, uses);
          if (name === state.name) return events;
          return { events, along: [await changeRegistry(read, (all) => renameSegment(all, state.name, name))] };
        },
      });
      return toSegment(updated ?? refuseUnknownSegment(segment));
    },

    async deleteSegment({ segment }, context) {
      await change({
        aggregate: segmentDocuments,
        id: idOfSegment(segment),
        context,
        decide: async (found, read) => {
          const { state } = found ?? refuseUnknownSegment(segment);
          const events = deleteSegment(state, (await listUses(engine, state.id)).length);
          return { events, along: [await changeRegistry(read, (all) => unregisterSegment(all, state.name))] };
        },
      });
    },
  };
}

/** Under the next id, whose name nobody else has. */
async function register(read: Read, segment: NewSegment, origin: { createdAt: string; createdBy: string }) {
  const id = await nextId(read);
  await findProjectOf(read, segment);
  const events = createSegment(segment, { id, ...origin });
  return { events, along: [await changeRegistry(read, (all) => registerSegment(all, { id, name: segment.name }))] };
}

/** Texts, and constraints of the engine's own. */
function detachedSegment<T extends SegmentChanges>(input: T): T {
  return { ...input, ...(input.constraints && { constraints: detached(input.constraints) }) };
}

/** Refuses a project that does not exist. */
async function findProjectOf(read: Read, { project }: SegmentChanges): Promise<void> {
  if (typeof project === 'string') await findProject(read, { project });
}

async function nextId(read: Read): Promise<number> {
  return ((await read(segmentRegistries, SEGMENT_REGISTRY))?.state ?? NO_SEGMENTS).lastId + 1;
}

/** A change of the names and ids that are in use. */
export async function changeRegistry(
  read: Read,
  apply: (registry: SegmentRegistry) => SegmentRegistry,
): Promise<DocumentChange> {
  const found = await read(segmentRegistries, SEGMENT_REGISTRY);
  return writeIndex(segmentRegistries, { id: SEGMENT_REGISTRY, found, next: apply(found?.state ?? NO_SEGMENTS) });
}
