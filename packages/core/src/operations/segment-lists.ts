import type { Segment, SegmentOperations, SegmentUse } from '../api/segments.js';
import type { FlagState } from '../domain/flag.js';
import type { SegmentState } from '../domain/segment.js';
import { usesOfSegment } from '../domain/segment-uses.js';
import type { Versioned } from '../engine/aggregate.js';
import { flagDocuments, type StoredFlagSummary, segmentDocuments } from '../engine/aggregates.js';
import type { Engine } from '../engine/engine.js';
import { FlagsError } from '../errors.js';
import { invalidInput } from '../validation/validator.js';
import { cutPage, pageBounds } from './pages.js';

/** Reads segments, and who uses them. */
export function segmentListOperations(
  engine: Engine,
): Pick<SegmentOperations, 'getSegment' | 'listSegments' | 'pageSegments' | 'listSegmentUses'> {
  return {
    getSegment: async ({ segment }) => toSegment(await findSegment(engine, segment)),

    async listSegments({ strategy } = {}) {
      const segments = await listAllSegments(engine);
      const used = strategy === undefined ? undefined : await listUsedBy(engine, strategy);
      return segments.filter(({ id }) => used?.includes(id) ?? true);
    },

    async pageSegments(query = {}) {
      const bounds = pageBounds(engine, query);
      if (bounds.after !== undefined && !/^\d+$/.test(bounds.after)) {
        throw invalidInput([{ message: 'must be the id of a segment', path: '/after' }]);
      }
      return cutPage(await listAllSegments(engine), bounds, {
        cursorOf: ({ id }) => `${id}`,
        compare: (one, other) => Number(one) - Number(other),
      });
    },

    async listSegmentUses({ segment }) {
      await findSegment(engine, segment);
      return listUses(engine, segment);
    },
  };
}

/** By id: as numbers, where a storage has them in the order of their digits. */
async function listAllSegments({ storage }: Engine): Promise<readonly Segment[]> {
  const listed = await storage.list({ kind: segmentDocuments.kind, part: 'body' });
  const segments = listed.map(({ content, revision }) => toSegment({ state: content as SegmentState, revision }));
  return segments.sort((one, other) => one.id - other.id);
}

/** The strategies that use a segment, by flag name; those of archived flags too. */
export async function listUses(engine: Engine, segment: number): Promise<readonly SegmentUse[]> {
  const flags = await readFlagsThat(engine, (segments) => segments.includes(segment));
  return flags.flatMap((flag) => usesOfSegment(flag, segment));
}

/** The ids of the segments that a strategy uses. */
async function listUsedBy(engine: Engine, strategy: string): Promise<readonly number[]> {
  const flags = await readFlagsThat(engine, (segments) => segments.length > 0);
  const strategies = flags.flatMap(({ environments }) => environments.flatMap((one) => one.strategies));
  return strategies.find(({ id }) => id === strategy)?.segments ?? [];
}

/** Reads the flags whose summaries name such segments, or tell nothing of segments. */
async function readFlagsThat(
  { storage, read }: Engine,
  use: (segments: readonly number[]) => boolean,
): Promise<readonly FlagState[]> {
  const listed = await storage.list({ kind: flagDocuments.kind, part: 'summary' });
  const candidates = listed.filter(({ content }) => {
    const { segments } = content as StoredFlagSummary;
    return segments === undefined || use(segments);
  });
  const found = await Promise.all(candidates.map(({ key }) => read(flagDocuments, key.id)));
  return found.flatMap((flag) => (flag ? [flag.state] : []));
}

async function findSegment({ read }: Engine, segment: number): Promise<Versioned<SegmentState>> {
  return (await read(segmentDocuments, idOfSegment(segment))) ?? refuseUnknownSegment(segment);
}

/** The id of a segment's document. */
export function idOfSegment(segment: number): string {
  if (typeof segment === 'number') return `${segment}`;
  throw invalidInput([{ message: 'must name a segment, as a number', path: '/segment' }]);
}

export function toSegment({ state, revision }: Versioned<SegmentState>): Segment {
  const { id, name, description, constraints, project = null, createdAt, createdBy } = state;
  return { id, name, description, constraints, project, createdAt, createdBy, revision };
}

export function refuseUnknownSegment(segment: number): never {
  throw new FlagsError('segment_not_found', `There is no segment ${segment}; create it, or list the segments.`);
}
