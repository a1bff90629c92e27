import type { DomainEvent } from '../../base/domain-event.js';
import type { Registry } from '../registry.js';

/** The members of a stored or public event that determine its projects. */
interface EventStates extends Pick<DomainEvent, 'data' | 'before'> {
  readonly type: string;
  readonly project: string | null;
}

/** Returns the projects in the states of an event that may move a flag or a segment; null for the instance. */
function projectsIn(
  { describeEvent }: Registry,
  { type, data, before }: Omit<EventStates, 'project'>,
): readonly (string | null)[] {
  if (!describeEvent(type).moves) return [];
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
export function projectsOf(registry: Registry, events: Iterable<EventStates>): ReadonlySet<string | null> {
  return new Set(
    [...events].flatMap((event) => spannedBy(registry, event) ?? [event.project, ...projectsIn(registry, event)]),
  );
}

/** Returns the projects of an event that is about several; undefined for others. */
function spannedBy(
  { describeEvent }: Registry,
  { type, data }: Omit<EventStates, 'project'>,
): readonly (string | null)[] | undefined {
  const { projects } = Object(data) as { readonly projects?: unknown };
  return describeEvent(type).spans && Array.isArray(projects) ? projects : undefined;
}
