import type { DomainEvent } from '../events/event.types.js';

/** A kind of document that can be read. */
export interface Documents<State> {
  readonly kind: string;
  /** What the document is listed under. */
  readonly parentOf: (state: State) => string | null;
}

/** A kind of document that can be changed: how its events make its state, and how that state is stored and listed. */
export interface Aggregate<State, Event extends DomainEvent> extends Documents<State> {
  /** The state after an event; undefined before the first and after a deletion. */
  readonly evolve: (state: State | undefined, event: Event) => State | undefined;
  /** The project that its events belong to. */
  readonly projectOf: (state: State) => string | null;
  /** What lists need of it. */
  readonly summarize: (state: State) => unknown;
}

/** What a document has become. */
export interface DocumentUpdate {
  readonly revision: number;
  /** Undefined when it was deleted. */
  readonly state: unknown;
  /** As it was when it was read, where the state was made of it. */
  readonly before?: Versioned<unknown> | undefined;
}

/** A document's state, with the revision at which it is, or was read. */
export interface Versioned<State> {
  readonly state: State;
  readonly revision: number;
}
