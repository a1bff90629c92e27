import type { DomainEvent } from './event.types.js';

/** The members of a stored or public event that determine its projects. */
interface EventStates extends Pick<DomainEvent, 'data' | 'before'> {
  readonly type: string;
  readonly project: string | null;
}

/** The events that may move a flag or a segment from one project to another. Their states name both. */
export const MOVING_EVENTS = ['flag-moved', 'segment-updated'] as const;

/** Returns the projects in the states of an event that may move a flag or a segment; null for the instance. */
export function projectsIn({ type, data, before }: Omit<EventStates, 'project'>): readonly (string | null)[] {
  if (!MOVING_EVENTS.some((one) => one === type)) return [];
  return [projectIn(data), projectIn(before)].filter((project) => project !== undefined);
}

function projectIn(state: unknown): string | null | undefined {
  const { project } = Object(state) as { readonly project?: unknown };
  return typeof project === 'string' || project === null ? project : undefined;
}

/**
 * Returns the projects of events; null for the instance. Streams, lists and histories show an event only to
 * callers who may read each of them.
 */
export function projectsOf(events: Iterable<EventStates>): ReadonlySet<string | null> {
  return new Set([...events].flatMap((event) => [event.project, ...projectsIn(event)]));
}
