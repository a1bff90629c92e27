import type { Documents } from '../changes/documents.js';
import { FlagsError } from '../errors.js';

/** Keeps ids and names unique across all segments: one document that every creation, renaming and deletion writes. */
export interface SegmentRegistry {
  /** The highest id ever assigned. */
  readonly lastId: number;
  /** The names in use. */
  readonly names: readonly string[];
}

export const NO_SEGMENTS: SegmentRegistry = { lastId: 0, names: [] };

export function registerSegment(
  registry: SegmentRegistry,
  { id, name }: { id: number; name: string },
): SegmentRegistry {
  return { lastId: id, names: withName(registry.names, name) };
}

export function renameSegment({ lastId, names }: SegmentRegistry, from: string, to: string): SegmentRegistry {
  return { lastId, names: withName(withoutName(names, from), to) };
}

export function unregisterSegment({ lastId, names }: SegmentRegistry, name: string): SegmentRegistry {
  return { lastId, names: withoutName(names, name) };
}

/** Releases names, then takes others. Restored segments keep their ids, which may be older than the last one. */
export function restoreRegistry(
  { lastId, names }: SegmentRegistry,
  {
    released,
    taken,
  }: { readonly released: readonly string[]; readonly taken: readonly { id: number; name: string }[] },
): SegmentRegistry {
  const kept = released.reduce<readonly string[]>(withoutName, names);
  return {
    lastId: Math.max(lastId, ...taken.map(({ id }) => id)),
    names: taken.reduce((all, { name }) => withName(all, name), kept),
  };
}

function withName(names: readonly string[], name: string): readonly string[] {
  if (names.includes(name)) {
    throw new FlagsError('segment_exists', `The segment name ${name} is taken; choose another.`);
  }
  return [...names, name];
}

function withoutName(names: readonly string[], name: string): readonly string[] {
  return names.filter((other) => other !== name);
}

/** A single document with the id {@link SEGMENT_REGISTRY}. */
export const segmentRegistries: Documents<SegmentRegistry> = { kind: 'segment-registry', parentOf: () => null };
export const SEGMENT_REGISTRY = 'all';
