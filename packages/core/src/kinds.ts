import type { DomainEvent } from './base/domain-event.js';
import { type ActionOf, type EventDescription, type Kind, memberParts, type RecordedKind } from './engine/kind.js';
import type { Restorer } from './engine/restorer.js';
import { requestDocuments } from './features/change-requests/change-request.kind.js';
import { policyDocuments } from './features/change-requests/policy.kind.js';
import { flagDocuments } from './flags/flag.kind.js';
import { flagRestorer } from './flags/flag.restorer.js';
import { projectDocuments } from './projects/project.kind.js';
import { projectRestorer } from './projects/project.restorer.js';
import { segmentDocuments } from './segments/segment.kind.js';
import { segmentRestorer } from './segments/segment.restorer.js';
import { tokenDocuments } from './tokens/token.kind.js';

/** A kind of document, and how an undo and an import restore it. */
interface ListedKind<State, Event extends DomainEvent, Action extends string = string> {
  readonly documents: RecordedKind<State, Event, Action> & Partial<Pick<Kind<State, Event>, 'evolve'>>;
  /** Undefined: the history leaves these documents out, and an undo never restores them. */
  readonly restorer: Restorer<State, Event> | undefined;
}

function listed<State, Event extends DomainEvent, Action extends string>(
  documents: ListedKind<State, Event, Action>['documents'],
  restorer?: Restorer<State, Event>,
): ListedKind<State, Event, Action> {
  return { documents, restorer };
}

/**
 * Every kind of document that events change, in the order in which a restoration creates them. Types of events, size
 * limits, histories, undos, imports and the replica follow from this list.
 */
const KINDS = [
  listed(projectDocuments, projectRestorer),
  listed(segmentDocuments, segmentRestorer),
  listed(flagDocuments, flagRestorer),
  listed(tokenDocuments),
  listed(requestDocuments),
  listed(policyDocuments),
] as const;

type EventTypeOf<Listed> = Listed extends { readonly documents: { readonly events: infer Events } }
  ? keyof Events
  : never;

/** A type of event. */
export type EventType = EventTypeOf<(typeof KINDS)[number]>;

/** The operation whose permission an event needs. */
export type EventAction = ActionOf<(typeof KINDS)[number]['documents']['events']>;

type AnyKind = ListedKind<unknown, DomainEvent>;

/** {@link KINDS} as one type. */
export const ALL_KINDS = KINDS as readonly unknown[] as readonly AnyKind[];

const EVENTS: ReadonlyMap<string, EventDescription<DomainEvent>> = new Map(
  ALL_KINDS.flatMap(({ documents }) => Object.entries(documents.events)),
);

/** All types of events. */
export const EVENT_TYPES = [...EVENTS.keys()] as readonly EventType[];

/** An event that a later release has stored. */
const UNKNOWN_EVENT: EventDescription<DomainEvent> = { parts: memberParts };

/** Returns the description of a type of event. */
export function describeEvent(type: string): EventDescription<DomainEvent, EventAction> {
  return (EVENTS.get(type) ?? UNKNOWN_EVENT) as EventDescription<DomainEvent, EventAction>;
}

const BY_NAME: ReadonlyMap<string, AnyKind> = new Map(ALL_KINDS.map((kind) => [kind.documents.kind, kind]));

/** Returns the description of a kind; undefined for index documents, which have no events. */
export function kindOf(name: string): AnyKind['documents'] | undefined {
  return BY_NAME.get(name)?.documents;
}

/** A kind that history shows and undo restores. */
export interface KindWithHistory extends AnyKind {
  readonly restorer: Restorer<unknown>;
}

/** The kinds that history shows and undo restores, in the order in which a restoration creates them. */
export const KINDS_WITH_HISTORY = ALL_KINDS.filter((kind): kind is KindWithHistory => kind.restorer !== undefined);

/** Returns the restorer of a kind; undefined for a kind without history. */
export function restorerOf(kind: string): AnyKind['restorer'] {
  return BY_NAME.get(kind)?.restorer;
}

/** The kinds that evaluation keeps in memory. */
export const KINDS_IN_MEMORY = ALL_KINDS.filter(({ documents }) => documents.isInMemory).map(
  ({ documents }) => documents.kind,
);

export function hasHistory({ kind }: { readonly kind: string }): boolean {
  return restorerOf(kind) !== undefined;
}

/** Applies stored events to the state of a document. The cast is safe: every stored event is the result of a decision. */
export function foldEvents(kind: string, state: unknown, events: readonly { readonly type: string }[]): unknown {
  const known = kindOf(kind);
  return events.reduce<unknown>((folded, event) => known?.evolve?.(folded, event as DomainEvent), state);
}
