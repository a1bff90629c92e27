import type { DomainEvent } from './base/domain-event.js';
import { type EventDescription, type Kind, memberParts } from './engine/kind.js';
import type { FlagEvent } from './flags/flag.js';
import { flagDocuments } from './flags/flag.kind.js';
import type { ProjectEvent } from './projects/project.js';
import { projectDocuments } from './projects/project.kind.js';
import type { SegmentEvent } from './segments/segment.js';
import { segmentDocuments } from './segments/segment.kind.js';
import type { TokenEvent } from './tokens/token.js';
import { tokenDocuments } from './tokens/token.kind.js';

/** Every kind of document that events change, in the order in which a restoration creates them. */
const KINDS = [projectDocuments, segmentDocuments, flagDocuments, tokenDocuments] as const;

const EVENTS: { readonly [Type in EventType]: EventDescription<never> } = {
  ...projectDocuments.events,
  ...flagDocuments.events,
  ...segmentDocuments.events,
  ...tokenDocuments.events,
};

/** A type of event. */
export type EventType = (ProjectEvent | FlagEvent | SegmentEvent | TokenEvent)['type'];

/** All types of events. */
export const EVENT_TYPES = Object.keys(EVENTS) as readonly EventType[];

type AnyEvent = EventDescription<DomainEvent>;

const BY_TYPE: ReadonlyMap<string, AnyEvent> = new Map(
  Object.entries(EVENTS).map(([type, one]) => [type, one as AnyEvent]),
);

/** An event that a later release has stored. */
const UNKNOWN_EVENT: AnyEvent = { parts: memberParts };

/** Returns the description of a type of event. */
export function describeEvent(type: string): AnyEvent {
  return BY_TYPE.get(type) ?? UNKNOWN_EVENT;
}

type AnyKind = Kind<unknown, DomainEvent>;

const BY_NAME: ReadonlyMap<string, AnyKind> = new Map(KINDS.map((kind) => [kind.kind, kind as unknown as AnyKind]));

/** Returns the description of a kind; undefined for index documents, which have no events. */
export function kindOf(name: string): AnyKind | undefined {
  return BY_NAME.get(name);
}

/** The name of a kind that history shows and undo restores. */
export type HistoryKind = 'project' | 'segment' | 'flag';

interface KindWithHistory extends AnyKind {
  readonly kind: HistoryKind;
  readonly history: NonNullable<AnyKind['history']>;
}

/** The kinds that history shows and undo restores, in the order in which a restoration creates them. */
export const KINDS_WITH_HISTORY = KINDS.filter((kind) => kind.history) as unknown as readonly KindWithHistory[];

/** The kinds that evaluation keeps in memory. */
export const KINDS_IN_MEMORY = [...BY_NAME.values()].filter(({ isInMemory }) => isInMemory).map(({ kind }) => kind);

export function hasHistory({ kind }: { readonly kind: string }): boolean {
  return kindOf(kind)?.history !== undefined;
}

/** Applies stored events to the state of a document. The cast is safe: every stored event is the result of a decision. */
export function foldEvents(kind: string, state: unknown, events: readonly { readonly type: string }[]): unknown {
  const known = kindOf(kind);
  return events.reduce<unknown>((folded, event) => known?.evolve(folded, event as DomainEvent), state);
}
