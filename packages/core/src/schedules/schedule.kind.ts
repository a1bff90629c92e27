import { type ChangedPart, type EventDescriptions, type Kind, memberParts } from '../engine/kind.js';
import type { ScheduleEvent, ScheduleState, ScheduleSummary } from './schedule.js';

/** The parents of schedules: a poll reads only the open ones. */
export const [OPEN, ENDED] = ['open', 'ended'] as const;

/** A new schedule is put, because its event does not have its changes. */
function evolveSchedule(schedule: ScheduleState | undefined, event: ScheduleEvent): ScheduleState | undefined {
  return schedule && event.type === 'schedule-ended' ? { ...schedule, ...event.data } : schedule;
}

function withoutChanges({ v: _v, changes: _changes, hash: _hash, contents: _contents, ...summary }: ScheduleState) {
  return summary satisfies ScheduleSummary;
}

/** The projects do not change. */
function scheduleParts(event: ScheduleEvent): readonly ChangedPart[] {
  return memberParts(event, (name) => name !== 'projects');
}

const scheduleEvents: EventDescriptions<ScheduleEvent> = {
  'schedule-created': { parts: scheduleParts, spans: true },
  'schedule-ended': { parts: scheduleParts, spans: true, shrinks: true },
};

/** Without a history: an undo never restores a schedule. */
export const scheduleDocuments: Kind<ScheduleState, ScheduleEvent> = {
  kind: 'schedule',
  events: scheduleEvents,
  smaller: 'make several schedules of fewer changes',
  cannotUndo: 'schedules, which cannot be undone; cancel the schedule, or make another one.',
  evolve: evolveSchedule,
  parentOf: ({ state }) => (state === 'pending' ? OPEN : ENDED),
  projectOf: ({ projects }) => (projects.length === 1 ? (projects[0] ?? null) : null),
  summarize: withoutChanges,
};
