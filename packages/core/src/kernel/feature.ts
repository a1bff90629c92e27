import type { DomainEvent } from '../base/domain-event.js';
import type { Kind, RecordedKind } from '../engine/kind.js';
import type { Restorer } from '../engine/restorer.js';

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
export interface FeatureKind<State, Event extends DomainEvent> {
  readonly documents: RecordedKind<State, Event> & Partial<Pick<Kind<State, Event>, 'evolve'>>;
  /** Undefined: the history leaves these documents out, and an undo never restores them. */
  readonly restorer: Restorer<State, Event> | undefined;
}

/** Lists a kind of a feature. */
export function describeKind<State, Event extends DomainEvent>(
  documents: FeatureKind<State, Event>['documents'],
  restorer?: Restorer<State, Event>,
): FeatureKind<State, Event> {
  return { documents, restorer };
}

type EventTypeOfKind<Listed> = Listed extends { readonly documents: { readonly events: infer Events } }
  ? keyof Events
  : never;

/** The types of the events of a feature. */
export type EventTypeOf<Given> = Given extends { readonly kinds: readonly (infer Listed)[] }
  ? EventTypeOfKind<Listed>
  : never;
