import type { Awaitable, Person, TokenKind } from '../base/common.types.js';
import type { DomainEvent } from '../base/domain-event.js';
import type { Aggregate, DocumentReader, Documents, Read, RecordedDocuments } from '../storage/document-reader.js';
import type { DocumentKey, Vacancy } from '../storage/port.js';

/*
 * A change as operations prepare and decide it. They do not know who commits it.
 */

/** The author of a change. */
export interface Actor {
  readonly actor: string;
  /** The API token that the actor uses. */
  readonly actorToken?: { readonly id: string; readonly kind: string };
  /** The person who acts, or who created the token. Absent for the instance itself, and if the person is unknown. */
  readonly person?: Person;
}

/** The stored author of changes that happen later, or of a decision about them. */
export interface ChangeAuthor extends Person {
  /** The API token with which they were requested. */
  readonly token?: { readonly id: string; readonly kind: TokenKind };
  /** The person who created the token. Absent without a token, and if the person is unknown. */
  readonly person?: Person;
}

export function authorOf({ actor, actorToken, person }: Actor): ChangeAuthor {
  if (actorToken) {
    const token = actorToken as NonNullable<ChangeAuthor['token']>;
    return { name: actor, token, ...(person && { person }) };
  }
  return person?.id === undefined ? { name: actor } : { name: actor, id: person.id };
}

/** Returns an author as the actor of a set. */
export function actorOf({ name, id, token, person }: ChangeAuthor): Actor {
  if (token) return { actor: name, actorToken: token, ...(person && { person }) };
  return { actor: name, person: { name, ...(id !== undefined && { id }) } };
}

/** The author of a change set, and its time. */
export interface SetAuthor extends Actor {
  /** ISO 8601: that of its events. */
  readonly at: string;
}

/** A change with a valid input, ready to be decided any number of times. */
export interface PreparedChange<Result = unknown> {
  /** The document that the change affects. Other changes of it wait. */
  readonly subject: DocumentKey;
  /** The document that `ifRevision` refers to. Default: the subject. */
  readonly revisionOf?: DocumentKey;
  readonly ifRevision?: number | readonly number[] | undefined;
  /** A JSON Pointer to the change in the caller's input, which refusals name. Absent for a single operation. */
  readonly path?: string;
  /** The operation, which the planned events name. Absent for an undo and an import. */
  readonly op?: string | undefined;
  /**
   * Decides the change, and writes to the unit. Runs again after a conflict, so the preparation must create times and
   * ids.
   */
  readonly decide: (unit: UnitOfWork, by: SetAuthor) => Awaitable<void>;
  /**
   * Returns the result of the operation from the documents after the commit. A repeated call gets its first result from
   * the documents as they were then, without a decision: the result must not depend on what `decide` has found.
   */
  readonly result: (committed: CommittedDocuments) => Awaitable<Result>;
}

/** The new state of a document, and the event that tells of it. */
export interface RecordedChange<State, Event extends DomainEvent> {
  readonly next: State;
  readonly event: Event;
  /** The operation whose permission the event needs. Default: that of the change. */
  readonly op?: string | undefined;
}

/** The documents after a set. */
export interface CommittedDocuments extends Pick<DocumentReader, 'read'> {
  /** Returns the documents of a kind that the set has written, by id. A deleted document is undefined. */
  written<State>(documents: Documents<State>): ReadonlyMap<string, State | undefined>;
}

/**
 * The documents after the earlier changes of a set. Repeated reads return the same document, with its stored revision.
 * The commit conflicts if a document that the unit has read changes in the meantime.
 */
export interface UnitOfWork extends DocumentReader, CommittedDocuments {
  readonly read: Read;
  /**
   * Lists without a check in the commit. The decision must have read a document that concurrent changes of the list
   * write.
   */
  readonly list: DocumentReader['list'];
  /** Reads without checks in the commit, for documents that a change may ignore later. */
  readonly unchecked: DocumentReader;
  /** Applies events to a document. Does nothing without events. */
  apply<State, Event extends DomainEvent>(
    aggregate: Aggregate<State, Event>,
    id: string,
    events: readonly Event[],
  ): Awaitable<void>;
  /** Writes an index document: it has no events, and indexes or guards other documents. */
  put<State>(documents: Documents<State>, id: string, state: State): Promise<void>;
  /** Writes a document that holds more than its events tell, and the event of the change. */
  record<State, Event extends DomainEvent>(
    documents: RecordedDocuments<State>,
    id: string,
    change: RecordedChange<State, Event>,
  ): Promise<void>;
  /** Deletes a document without an event, if it exists. */
  remove<State>(documents: Documents<State>, id: string): Promise<void>;
  /**
   * Gives a document a new revision, if it exists. Concurrent changes that have read the document then conflict, so
   * that they decide again.
   */
  touch<State>(documents: Documents<State>, id: string): Promise<void>;
  /** Requires that a parent has no document of a kind after the commit. */
  requireVacant(vacancy: Vacancy): void;
}
