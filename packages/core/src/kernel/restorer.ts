import type { DomainEvent } from '../base/domain-event.js';
import type { FlagsSettings } from '../base/settings.types.js';
import type { UnitOfWork } from './change.js';
import type { Kind, MergedVersions, RecordedKind, Versions } from './kind.js';

/** A document of a restoration, with its present and its target state. */
export interface RestoredDocument<State> {
  readonly id: string;
  /** Undefined: no document. */
  readonly before: State | undefined;
  readonly target: State | undefined;
  /** Its place in the input, for refusals. */
  readonly path: string | undefined;
}

/** The kinds whose documents may belong to a project, as the registry lists them. */
export interface KindsInProjects {
  readonly kindsInProjects: readonly string[];
}

/** Brings documents of a kind to given states, as an undo and an import do. */
export interface Restorer<State, Event extends DomainEvent = DomainEvent> {
  /**
   * Returns the events that bring a document to another state, including ids and creation time. An undefined state
   * means that there is no document. The caller checks the references.
   */
  readonly eventsBetween: (now: State | undefined, target: State | undefined) => readonly Event[];
  /** Takes a change set back: restores the parts that it has changed, and keeps all later changes of other parts. */
  readonly merge: (versions: Versions<State>) => MergedVersions<State>;
  /** Applies the events that lead to the target. Returns whether there are any. */
  readonly restore: (unit: UnitOfWork, document: RestoredDocument<State>, kinds: KindsInProjects) => Promise<boolean>;
  /** Updates the index documents of the kind, after all its documents. */
  readonly updateIndex?: (unit: UnitOfWork, documents: readonly RestoredDocument<State>[]) => Promise<void>;
  /** Checks the rules between documents on the final state. Not called for unchanged documents. */
  readonly check?: (unit: UnitOfWork, document: RestoredDocument<State>) => Promise<void>;
  /** Refuses the result of a merge that no single operation would allow. */
  readonly assertMergeable?: (
    engine: { readonly settings: FlagsSettings },
    versions: Versions<State>,
    target: State | undefined,
  ) => void;
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
