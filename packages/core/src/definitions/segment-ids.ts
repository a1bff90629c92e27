import { NO_SEGMENTS, SEGMENT_REGISTRY, type SegmentState, segmentRegistries } from '../segments/segment.js';
import type { DocumentReader } from '../storage/documents.js';
import type { DefinedSegment } from './definition.types.js';

/** The identifying members of a stored segment. */
export type KnownSegment = Pick<SegmentState, 'id' | 'name' | 'createdAt'>;

/** The ids of segments, by their names in the store and in a document. */
export interface SegmentIds {
  /** Returns the id of a definition's segment, present or new. */
  of(definition: DefinedSegment): number;
  /** Returns the id that a strategy's reference means; undefined if there is no such segment. */
  resolve(reference: string | number): number | undefined;
}

/**
 * Finds the segments of a document, and gives ids to new ones. A definition refers to the segment with its name, or to
 * a renamed one with its id and creation time. A new segment keeps its id unless another segment has it.
 */
export async function findSegmentIds(
  { read }: Pick<DocumentReader, 'read'>,
  known: readonly KnownSegment[],
  definitions: readonly DefinedSegment[],
): Promise<SegmentIds> {
  const { lastId } = (await read(segmentRegistries, SEGMENT_REGISTRY))?.state ?? NO_SEGMENTS;
  const byName = new Map(known.map((one) => [one.name, one.id]));
  const byId = new Map(known.map((one) => [one.id, one]));
  const wanted = new Set(definitions.map(({ name }) => name));
  const ids = new Map<string, number>();
  const taken = new Set(byId.keys());
  for (const definition of definitions) {
    const { id, name, createdAt } = definition;
    const same = id === undefined ? undefined : byId.get(id);
    const isRenamed = same !== undefined && !wanted.has(same.name) && isSameTime(same.createdAt, createdAt);
    const found = byName.get(name) ?? (isRenamed ? same.id : undefined);
    if (found !== undefined) ids.set(name, found);
    else if (id !== undefined && !taken.has(id)) ids.set(name, id);
    const assigned = ids.get(name);
    if (assigned !== undefined) taken.add(assigned);
  }
  let last = Math.max(lastId, 0);
  for (const { name } of definitions) {
    if (ids.has(name)) continue;
    do last += 1;
    while (taken.has(last));
    ids.set(name, last);
  }
  const named = new Map(definitions.flatMap(({ id, name }) => (id === undefined ? [] : [[id, name] as const])));
  return {
    of: ({ name }) => ids.get(name) as number,
    resolve(reference) {
      if (typeof reference === 'string') return ids.get(reference) ?? byName.get(reference);
      const name = named.get(reference);
      if (name !== undefined) return ids.get(name);
      return byId.has(reference) ? reference : undefined;
    },
  };
}

function isSameTime(one: string, other: string | undefined): boolean {
  return other !== undefined && Date.parse(one) === Date.parse(other);
}
