import type { FlagsEvent } from '@flags/core';
import { projectIn } from '../body.js';

type ShownEvent = Pick<FlagsEvent, 'type' | 'project' | 'data' | 'before'>;

/** Returns the projects in the states of an event that may move a flag or a segment. */
export function projectsIn({ type, data, before }: ShownEvent): readonly (string | null)[] {
  if (type !== 'flag-moved' && type !== 'segment-updated') return [];
  return [projectIn(data), projectIn(before)].filter((project) => project !== undefined);
}

/** Returns the projects that events show. A flag or segment that moves shows two. */
export function projectsOf(events: Iterable<ShownEvent>): ReadonlySet<string | null> {
  return new Set([...events].flatMap((event) => [event.project, ...projectsIn(event)]));
}
