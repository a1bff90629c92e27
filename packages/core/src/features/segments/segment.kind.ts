import type { DomainEvent } from '../../base/domain-event.js';
import { type ActionOf, describeEvents, type Kind, memberParts } from '../../kernel/kind.js';
import { referredSegments } from '../flags/flag.kind.js';
import type { SegmentState } from './segment.js';

export type SegmentEvent =
  | DomainEvent<'segment-created', SegmentState, null>
  | DomainEvent<'segment-updated', SegmentState, SegmentState>
  | DomainEvent<'segment-deleted', null, SegmentState>;

/** Applies an event. Returns undefined for a deleted segment. */
function evolveSegment(_segment: SegmentState | undefined, event: SegmentEvent): SegmentState | undefined {
  return event.data ?? undefined;
}

const segmentEvents = describeEvents<SegmentEvent>()({
  'segment-created': { parts: memberParts, action: 'createSegment', isWhole: true },
  'segment-updated': { parts: memberParts, action: 'updateSegment', moves: true, isWhole: true },
  'segment-deleted': { parts: memberParts, action: 'deleteSegment', isWhole: true },
});

/** Without a summary: lists read whole segments. */
export const segmentDocuments: Kind<SegmentState, SegmentEvent, ActionOf<typeof segmentEvents>> = {
  ...referredSegments,
  events: segmentEvents,
  smaller: 'divide it into several segments',
  isInProjects: true,
  isInMemory: true,
  evolve: evolveSegment,
  projectOf: ({ project }) => project ?? null,
  summarize: () => null,
};
