import type { DomainEvent } from '../events/event.types.js';
import type { DocumentKey } from '../storage/port.js';

/** A kind of document, as reads need it. */
export interface Documents<State> {
  readonly kind: string;
  /** Returns the parent that the storage lists the document under. */
  readonly parentOf: (state: State) => string | null;
}

/** A kind of document that events change. Defines how events produce the state, and how lists show it. */
export interface Aggregate<State, Event extends DomainEvent> extends Documents<State> {
  /** Returns the state after an event. The state is undefined before the first event and after a deletion. */
  readonly evolve: (state: State | undefined, event: Event) => State | undefined;
  /** Returns the project of the document's events. */
  readonly projectOf: (state: State) => string | null;
  /** Returns the stored summary, which lists read instead of the document. */
  readonly summarize: (state: State) => unknown;
}

/** A new revision of a document. */
export interface DocumentUpdate {
  readonly revision: number;
  /** Undefined after a deletion. */
  readonly state: unknown;
  /** The earlier document that the new state shares parts with. */
  readonly before?: Versioned<unknown> | undefined;
}

/** An update and the document that it belongs to. */
export interface KeyedUpdate {
  readonly key: DocumentKey;
  readonly update: DocumentUpdate;
}

/** A document's state and revision. */
export interface Versioned<State> {
  readonly state: State;
  readonly revision: number;
}
