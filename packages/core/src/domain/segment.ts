import type { NewSegment, SegmentChanges } from '../api/segments.js';
import type { Constraint } from '../api/strategies.js';
import { FlagsError } from '../errors.js';
import type { DomainEvent } from './domain-event.js';
import { pickChanged } from './pick-changed.js';

/** A segment as it is stored: one document. */
export interface SegmentState extends SegmentContent {
  readonly id: number;
  readonly createdAt: string;
  readonly createdBy: string;
}

interface SegmentContent {
  readonly name: string;
  readonly description: string;
  readonly constraints: readonly Constraint[];
}

export type SegmentEvent =
  | DomainEvent<'segment-created', SegmentState, null>
  | DomainEvent<'segment-updated', SegmentState, SegmentState>
  | DomainEvent<'segment-deleted', null, SegmentState>;

/** The segment after an event; undefined once it is deleted. */
export function evolveSegment(_segment: SegmentState | undefined, event: SegmentEvent): SegmentState | undefined {
  return event.data ?? undefined;
}

/** What a new segment gets from outside the decision. */
export interface SegmentBirth {
  readonly id: number;
  readonly createdAt: string;
  readonly createdBy: string;
}

export function createSegment(
  { name, description = '', constraints }: NewSegment,
  birth: SegmentBirth,
): SegmentEvent[] {
  const { id, createdAt, createdBy } = birth;
  return [
    { type: 'segment-created', data: { id, name, description, constraints, createdAt, createdBy }, before: null },
  ];
}

export function updateSegment(segment: SegmentState, changes: SegmentChanges): SegmentEvent[] {
  const changed = pickChanged<SegmentContent>(segment, changes, ['name', 'description', 'constraints']);
  return changed ? [{ type: 'segment-updated', data: { ...segment, ...changed.data }, before: segment }] : [];
}

/** @param usedBy the names of the flags whose strategies use it */
export function deleteSegment(segment: SegmentState, usedBy: readonly string[]): SegmentEvent[] {
  if (usedBy.length > 0) {
    const message = `The segment ${segment.id} is used by strategies of ${usedBy.join(', ')}; take it out of them first.`;
    throw new FlagsError('segment_in_use', message);
  }
  return [{ type: 'segment-deleted', data: null, before: segment }];
}
