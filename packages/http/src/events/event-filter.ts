import type { Flags, FlagsEvent, HistoryEntry } from '@flags/core';
import { describeEvent, projectsOf } from '@flags/core/integration/http';
import type { ProjectFilter } from '../auth/permissions.js';

/** The projects of some events, and the change sets whose reason or origin they show. Does not retain the events. */
interface Subjects {
  readonly projects: ReadonlySet<string | null>;
  readonly reasons: ReadonlySet<string>;
}

/** Returns the projects and change sets that `eventFilterFor` checks. */
export function subjectsOf(events: Iterable<FlagsEvent>): Subjects {
  const reasons = new Set<string>();
  const all = [...events];
  for (const { reason, origin, changeSet } of all) if (reason !== null || origin !== null) reasons.add(changeSet);
  return { projects: projectsOf(all), reasons };
}

/** Shows events as a caller may see them, for streams, lists of events and histories. */
export interface EventFilter {
  /** Returns an event as the caller may see it; undefined if it is about a project that the caller may not read. */
  show(event: FlagsEvent): FlagsEvent | undefined;
  /** Returns a change set as the caller may see it; undefined if one of its events is hidden. */
  showSet(set: HistoryEntry): HistoryEntry | undefined;
}

/** Returns a function that resolves to all projects of a change set. */
export function projectsOfSetIn(flags: Flags): EventFilterQuestions['projectsOfSet'] {
  return async (changeSet) => (await flags.history.listProjects({ changeSet })).items;
}

export interface EventFilterQuestions {
  readonly projectsOfSet: (id: string) => Promise<readonly (string | null)[]>;
  readonly maySee: ProjectFilter;
}

/**
 * Creates the filter of a caller. An event is shown if the caller may read every project that the event is about. Shows the
 * reason and the origin of a change set, if the caller may read every project that the set is about. Others are null.
 */
export async function eventFilterFor(
  { projects, reasons }: Subjects,
  { projectsOfSet, maySee }: EventFilterQuestions,
): Promise<EventFilter> {
  const answers = new Map<string | null, boolean>();
  const mayRead = async (project: string | null) => {
    const known = answers.get(project) ?? (await maySee(project));
    answers.set(project, known);
    return known;
  };
  const shownReasons = new Set<string>();
  for (const project of projects) await mayRead(project);
  for (const id of reasons) if (await maySeeAll(await projectsOfSet(id), mayRead)) shownReasons.add(id);

  function show(event: FlagsEvent): FlagsEvent | undefined {
    for (const project of projectsOf([event])) if (!answers.get(project)) return undefined;
    const { changeSet, reason, origin } = event;
    const isPlain = reason === null && origin === null;
    return isPlain || shownReasons.has(changeSet) ? event : { ...event, reason: null, origin: null };
  }

  return {
    show,
    showSet(set) {
      const events = set.events.map(show).filter((event) => event !== undefined);
      return events.length < set.events.length ? undefined : { ...set, reason: events[0]?.reason ?? null, events };
    },
  };
}

export async function maySeeAll(projects: Iterable<string | null>, maySee: ProjectFilter): Promise<boolean> {
  for (const project of projects) if (!(await maySee(project))) return false;
  return true;
}

/** Whether an event is about tokens or members. A history shows it to callers who may read the event log. */
export function isAboutAccess({ type, data, before }: Pick<FlagsEvent, 'type' | 'data' | 'before'>): boolean {
  return describeEvent(type).isAboutAccess === true || hasMembers(data) || hasMembers(before);
}

/** Whether the state of a project holds members. */
export function hasMembers(state: unknown): boolean {
  const { members } = Object(state) as { readonly members?: unknown };
  return Array.isArray(members) && members.length > 0;
}
