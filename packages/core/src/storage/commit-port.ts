/**
 * Identifies a document. The engine defines the kinds (`project`, `flag`, `token`, …); a storage treats them as text.
 */
export interface DocumentKey {
  readonly kind: string;
  readonly id: string;
}

/** Writes, their conditions and their events, which happen together or not at all. */
export interface Commit {
  /** The documents to write. Each key occurs at most once in `writes` and `checks` together. */
  readonly writes: readonly DocumentWrite[];
  /** Documents that the decision has read, and that must be unchanged. */
  readonly checks?: readonly DocumentCheck[];
  /**
   * Parents that must have no document of a kind after the writes. The storage evaluates them after it has locked every
   * check, so that a concurrent commit that checks the parent's document cannot add a child in between.
   */
  readonly vacant?: readonly Vacancy[];
  /** Events in the order in which the feed returns them. */
  readonly events: readonly NewEvent[];
}

/** One write of a commit. */
export type DocumentWrite = DocumentPut | DocumentTouch | DocumentDeletion;

/** Creates or replaces a document. */
export interface DocumentPut {
  readonly key: DocumentKey;
  /** The revision that the caller read. 0 means that the document must not exist: never created, or deleted. */
  readonly expected: number;
  readonly parent: string | null;
  /** A JSON value. Members that are `undefined` are dropped. */
  readonly body: unknown;
  /** `JSON.stringify(body)`, if the caller already has it: saves the storage a second serialization. */
  readonly text?: string;
  /** A small JSON value for lists. */
  readonly summary: unknown;
}

/**
 * Gives an existing document a new revision, and keeps everything else. A concurrent commit that expects the earlier
 * revision then conflicts. The storage neither reads nor writes the body.
 */
export interface DocumentTouch {
  readonly key: DocumentKey;
  /** The revision that the caller read, at least 1. */
  readonly expected: number;
  readonly touch: true;
}

/** Deletes a document. The storage keeps its revision, and removes body and summary. */
export interface DocumentDeletion {
  readonly key: DocumentKey;
  /**
   * The revision that the caller read. 0 means that the document must not exist: a change set created and deleted it.
   * The storage then counts a revision for its events.
   */
  readonly expected: number;
  readonly deleted: true;
}

/** Requires that a document is unchanged. */
export interface DocumentCheck {
  readonly key: DocumentKey;
  /** The revision that the caller read, at least 1. To require that a document does not exist, write it instead. */
  readonly expected: number;
}

/** Requires that a parent has no document of a kind. */
export interface Vacancy {
  readonly kind: string;
  readonly parent: string;
}

/** The new revisions, or the key of a document that another commit has changed. */
export type CommitResult =
  /** The new revisions, in the order of `writes`. */
  | { readonly ok: true; readonly revisions: readonly number[] }
  /** The first document that is not as expected, or that has a parent that must be vacant. Nothing has changed. */
  | { readonly ok: false; readonly conflict: DocumentKey };

/** An event to append with a {@link Commit}. */
export interface NewEvent {
  readonly type: string;
  /** ISO 8601, UTC, milliseconds. */
  readonly at: string;
  readonly actor: string;
  /** Id of the API token that the actor used, if any. */
  readonly actorTokenId?: string;
  /** Kind of that token. */
  readonly actorTokenKind?: string;
  /** Id of the change set that the event belongs to. All events of a change set are in one commit. */
  readonly changeSet: string;
  /** The reason of the change set. Default null. */
  readonly reason?: string | null;
  /** What has caused the change set, such as `change-request/…`, if it was not its actor's call. */
  readonly origin?: string;
  /** The document that the event describes; the commit writes it. */
  readonly subject: DocumentKey;
  readonly project: string | null;
  readonly environment: string | null;
  /** JSON value: the change. */
  readonly data: unknown;
  /** JSON value: the state before the change. */
  readonly before: unknown;
}
