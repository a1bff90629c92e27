import type { DomainEvent } from './base/domain-event.js';
import { changeRequestsFeature } from './features/change-requests/feature.js';
import type { ChangeOperationName } from './features/change-requests/vocabulary.js';
import { consumersFeature } from './features/consumers/feature.js';
import { definitionsFeature } from './features/definitions/feature.js';
import { environmentsFeature } from './features/environments/feature.js';
import { flagsFeature } from './features/flags/feature.js';
import { historyFeature } from './features/history/feature.js';
import { projectsFeature } from './features/projects/feature.js';
import { rolloutsFeature } from './features/rollouts/feature.js';
import { segmentsFeature } from './features/segments/feature.js';
import { tokensFeature } from './features/tokens/feature.js';
import { usageFeature } from './features/usage/feature.js';
import type * as rows from './kernel/changes/run-operation.js';
import { dueOperations } from './kernel/due/due.operations.js';
import type { EventActionOf, EventTypeOf, OperationsOf } from './kernel/feature.js';
import type { EventDescription } from './kernel/kind.js';
import * as events from './kernel/log/event-projects.js';
import { createRegistry } from './kernel/registry.js';
import type { EventType } from './words/event-names.js';

/** The features, the lowest first: each imports the kernel and those before it. No host adds to them. */
export const FEATURES = [
  flagsFeature,
  tokensFeature,
  segmentsFeature,
  projectsFeature,
  usageFeature,
  environmentsFeature,
  rolloutsFeature,
  changeRequestsFeature,
  historyFeature,
  consumersFeature,
  definitionsFeature,
] as const;

export const REGISTRY = createRegistry(FEATURES);

/** All types of events. */
export const EVENT_TYPES: readonly EventType[] = REGISTRY.eventTypes as readonly EventTypeOf<
  (typeof FEATURES)[number]
>[];

/** The operation whose permission an event needs. The compiler refuses an event whose action has no row. */
export type EventAction = Existing<EventActionOf<(typeof FEATURES)[number]>>;

/** Returns the description of a type of event. */
export function describeEvent(type: string): EventDescription<DomainEvent, EventAction> {
  return REGISTRY.describeEvent(type) as EventDescription<DomainEvent, EventAction>;
}

/** Returns the projects of events; null for the instance. */
export function projectsOf(given: Parameters<typeof events.projectsOf>[1]): ReadonlySet<string | null> {
  return events.projectsOf(REGISTRY, given);
}

type Operations = OperationsOf<typeof FEATURES> & typeof dueOperations;

type Existing<Name extends keyof Operations> = Name;

/**
 * Every operation, by its name: in change sets, permissions and routes. Its row names the method of `Flags` that runs it.
 * Evaluation is not an operation. The lists of names that callers see begin with the operations of projects.
 */
export const OPERATIONS: Readonly<Record<keyof Operations, AnyOperation>> = Object.assign(
  {},
  ...[projectsFeature, ...FEATURES].map(({ operations }) => operations),
  dueOperations,
);

/** The row of an operation, without the types of its arguments. */
export type AnyOperation = Pick<rows.AnyRow, 'op' | 'method' | 'ref' | 'input'>;

/** The name of an operation, reads too. */
export type AnyOperationName = keyof Operations;

/** The name of an operation that changes documents. */
export type OperationName = {
  [Name in keyof Operations]: Operations[Name] extends { readonly prepare: unknown } ? Name : never;
}[keyof Operations];

/** The name of an operation that says that change sets may contain it. */
type SetOperationName = {
  [Name in keyof Operations]: Operations[Name] extends { readonly isInSets: true } ? Name : never;
}[keyof Operations];

export type ResultOf<Name extends OperationName> = rows.ResultOf<Operations[Name]>;
export type ChangeArguments<Name extends OperationName> = rows.ChangeArguments<Operations[Name]>;

const BY_NAME: ReadonlyMap<string, rows.UntypedChange> = new Map(
  Object.entries(OPERATIONS).flatMap(([name, row]) => ('prepare' in row ? [[name, row as rows.UntypedChange]] : [])),
);

/** Returns the row of an operation that changes documents; undefined for other names. */
export function operationOf(name: string): rows.UntypedChange | undefined {
  return BY_NAME.get(name);
}

/** The names of the operations that a change set may contain. */
export const CHANGE_OPERATIONS: readonly ChangeOperationName[] = [...BY_NAME].flatMap(([name, { isInSets }]) =>
  isInSets ? [name as SetOperationName] : [],
);

/** The names of the operations that a change request may contain. */
export const REQUEST_OPERATIONS: readonly OperationName[] = [...BY_NAME].flatMap(
  ([name, { isInSets, isInRequests }]) => (isInSets || isInRequests ? [name as OperationName] : []),
);
