import type { DocumentKey, StoredEvent } from '../storage/port.js';

/** The events of one change set, in their order. */
export interface LoggedSet {
  /** The id of the change set. In sets of older releases, the id contains the subject and revision. */
  readonly id: string;
  readonly events: readonly [StoredEvent, ...StoredEvent[]];
}

/** Reads earlier change sets. The history implements it. */
export interface ChangeSetLog {
  /**
   * Reads a change set. Rejects with `change_set_not_found`, or with `invalid_input` for an id that is not a string.
   */
  readonly readSet: (id: string) => Promise<LoggedSet>;
  /** Reads the state of an event's document before the event; undefined if there was none. */
  readonly stateBefore: (event: StoredEvent) => Promise<unknown>;
  /** Lists the sets after a set that changed one of the parts of a document, newest first, with that part. */
  readonly listLaterSets: (set: LoggedSet, document: DocumentParts) => Promise<readonly LaterSet[]>;
}

/** Parts of a document, as JSON Pointers. */
export interface DocumentParts {
  readonly key: DocumentKey;
  readonly paths: readonly string[];
}

interface LaterSet {
  readonly set: LoggedSet;
  readonly path: string;
}
