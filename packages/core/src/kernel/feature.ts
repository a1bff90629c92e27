import type { DomainEvent } from '../base/domain-event.js';
import type { ActionOf, Kind, RecordedKind } from './kind.js';
import type { Restorer } from './restorer.js';

/*
 * What a feature gives to the kernel: one value in its folder, `feature.ts`. The kernel imports none of them. It gets their
 * list once, from `features.ts`.
 */

/** A part of the product. */
export interface Feature {
  readonly name: string;
  /** Its documents that events change. */
  readonly kinds?: readonly unknown[];
}

/** A kind of document, and how an undo and an import restore it. */
export interface FeatureKind<State, Event extends DomainEvent, Action extends string = string> {
  readonly documents: RecordedKind<State, Event, Action> & Partial<Pick<Kind<State, Event>, 'evolve'>>;
  /** Undefined: the history leaves these documents out, and an undo never restores them. */
  readonly restorer: Restorer<State, Event> | undefined;
}

/** Lists a kind of a feature. */
export function describeKind<State, Event extends DomainEvent, Action extends string>(
  documents: FeatureKind<State, Event, Action>['documents'],
  restorer?: Restorer<State, Event>,
): FeatureKind<State, Event, Action> {
  return { documents, restorer };
}

/** The descriptions of the events of a feature. */
type EventsOf<Given> = Given extends { readonly kinds: readonly (infer Listed)[] } ? EventsOfKind<Listed> : never;

type EventsOfKind<Listed> = Listed extends { readonly documents: { readonly events: infer Events } } ? Events : never;

type KeyOf<Events> = Events extends unknown ? keyof Events : never;

/** The types of the events of a feature. */
export type EventTypeOf<Given> = KeyOf<EventsOf<Given>>;

/** The operations whose permission the events of a feature need. */
export type EventActionOf<Given> = ActionOf<EventsOf<Given>>;
