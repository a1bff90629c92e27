import type { DomainEvent } from './base/domain-event.js';
import { changeRequestsFeature } from './features/change-requests/feature.js';
import { flagsFeature } from './features/flags/feature.js';
import { projectsFeature } from './features/projects/feature.js';
import { segmentsFeature } from './features/segments/feature.js';
import { tokensFeature } from './features/tokens/feature.js';
import type { EventActionOf, EventTypeOf } from './kernel/feature.js';
import type { EventDescription } from './kernel/kind.js';
import * as events from './kernel/log/event-projects.js';
import { createRegistry } from './kernel/registry.js';
import type { EventType } from './words/event-names.js';

/** The features, the lowest first: each imports the kernel and those before it. No host adds to them. */
export const FEATURES = [flagsFeature, tokensFeature, segmentsFeature, projectsFeature, changeRequestsFeature] as const;

export const REGISTRY = createRegistry(FEATURES);

/** All types of events. */
export const EVENT_TYPES: readonly EventType[] = REGISTRY.eventTypes as readonly EventTypeOf<
  (typeof FEATURES)[number]
>[];

/** The operation whose permission an event needs. */
export type EventAction = EventActionOf<(typeof FEATURES)[number]>;

/** Returns the description of a type of event. */
export function describeEvent(type: string): EventDescription<DomainEvent, EventAction> {
  return REGISTRY.describeEvent(type) as EventDescription<DomainEvent, EventAction>;
}

/** Returns the projects of events; null for the instance. */
export function projectsOf(given: Parameters<typeof events.projectsOf>[1]): ReadonlySet<string | null> {
  return events.projectsOf(REGISTRY, given);
}
