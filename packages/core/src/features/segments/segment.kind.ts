import { isSameJson } from '../../base/json.js';
import { type ActionOf, describeEvents, type Kind, memberParts } from '../../kernel/kind.js';
import { referredSegments } from '../flags/flag.kind.js';
import type { SegmentEvent, SegmentState } from './segment.js';

/** Applies an event. Returns undefined for a deleted segment. */
function evolveSegment(_segment: SegmentState | undefined, event: SegmentEvent): SegmentState | undefined {
  return event.data ?? undefined;
}

/** Returns the events that bring a segment to another state. */
export function restoreSegment(now: SegmentState | undefined, target: SegmentState | undefined): SegmentEvent[] {
  if (isSameJson(now, target)) return [];
  if (!target) return now ? [{ type: 'segment-deleted', data: null, before: now }] : [];
  return now
    ? [{ type: 'segment-updated', data: target, before: now }]
    : [{ type: 'segment-created', data: target, before: null }];
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
