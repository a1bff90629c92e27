/** The limits of errors. They are members of `LIMITS`. */
export const ERROR_LIMITS = {
  /** Issues of one error. Beyond it: validation stops. */
  issues: 100,
  /** Characters of the message of an error or an issue, which may quote input. Beyond it: the message is shortened. */
  issueMessage: 1000,
  /**
   * Characters of one word of such a message, because names and paths may have any length. Beyond it: the word is
   * shortened.
   */
  messageWord: 200,
  /**
   * Characters of the JSON Pointer of an issue, which may contain names from the input. Beyond it: the path is
   * shortened.
   */
  issuePath: 200,
} as const;

/**
 * Shortens a text, keeping its start and end. The end of a message says what to do. Error messages that echo input use
 * this, so that an answer does not repeat a name of 1 MiB.
 */
export function shorten(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const end = Math.floor((limit - 1) / 3);
  const start = limit - 1 - end;
  // Drops a surrogate whose other half was cut off.
  const head = text.slice(0, start).replace(/[\uD800-\uDBFF]$/, '');
  const tail = text.slice(text.length - end).replace(/^[\uDC00-\uDFFF]/, '');
  return `${head}…${tail}`;
}

/** Matches a word that is too long for a message. */
const LONG_WORD = new RegExp(`\\S{${ERROR_LIMITS.messageWord + 1},}`, 'g');

/** Shortens a message that may quote input, and each long word in it. */
export function shortenMessage(message: string): string {
  return shorten(message, ERROR_LIMITS.issueMessage).replace(LONG_WORD, (word) =>
    shorten(word, ERROR_LIMITS.messageWord),
  );
}

/**
 * Each code, and whether the call was refused, or failed in this node or its storage: then it may succeed later. The
 * docstrings are the meanings in docs/reference/error-codes.md: `npm run reference:write`.
 */
const CODES = {
  /** The input violates the schema or a rule. */
  invalid_input: 'refusal',
  /** The JSON Patch cannot be applied, or changes a read-only path. */
  invalid_patch: 'refusal',
  /** A `test` operation of the JSON Patch failed. */
  patch_test_failed: 'refusal',
  /** No project has this id. */
  project_not_found: 'refusal',
  /** The project has no such flag. */
  flag_not_found: 'refusal',
  /** No such environment is configured. */
  environment_not_found: 'refusal',
  /** The environment of the flag has no such strategy. */
  strategy_not_found: 'refusal',
  /** No such role is configured. */
  role_not_found: 'refusal',
  /** `isUser` does not know the user. */
  user_not_found: 'refusal',
  /** The user is not a member, or has another role. */
  member_not_found: 'refusal',
  /** No such application has been seen. */
  application_not_found: 'refusal',
  /** No such consumer of events exists, or it was deleted while it ran. */
  consumer_not_found: 'refusal',
  /** No such token exists. */
  token_not_found: 'refusal',
  /** No segment has this id. */
  segment_not_found: 'refusal',
  /** The project has no such parent flag, or it is archived. */
  parent_not_found: 'refusal',
  /** The flag does not depend on the named flag. */
  dependency_not_found: 'refusal',
  /** No change set has this id. */
  change_set_not_found: 'refusal',
  /** The strategy has no rollout. */
  rollout_not_found: 'refusal',
  /** No change request has this id. */
  change_request_not_found: 'refusal',
  /** The id is taken. */
  project_exists: 'refusal',
  /** The name is taken, in any project or in the archive. */
  flag_exists: 'refusal',
  /** The user is already a member. */
  member_exists: 'refusal',
  /** The name, or the given secret, is in use. */
  token_exists: 'refusal',
  /** A token with the given secret was deleted, and stays deleted. */
  token_deleted: 'refusal',
  /** Another segment has this name. */
  segment_exists: 'refusal',
  /** An archived flag cannot be changed. Revive it first. */
  flag_archived: 'refusal',
  /** Only an archived flag can be deleted. */
  flag_not_archived: 'refusal',
  /** Flags depend on it. */
  flag_has_children: 'refusal',
  /** Strategies use the segment, or a moving flag uses one of its project. */
  segment_in_use: 'refusal',
  /** A flag cannot depend on itself. */
  dependency_cycle: 'refusal',
  /** The parent has a parent, or the child has children. */
  dependency_too_deep: 'refusal',
  /** The project `default` cannot be deleted. */
  project_protected: 'refusal',
  /** The project has flags that are not archived. */
  project_not_empty: 'refusal',
  /** A flag without strategies cannot be enabled. */
  environment_has_no_strategies: 'refusal',
  /** A rollout needs a flag that is on, and a strategy that is not disabled. */
  environment_disabled: 'refusal',
  /** A project must keep an owner. */
  last_owner: 'refusal',
  /** The document has changed since (`ifRevision`, `If-Match`). */
  revision_mismatch: 'refusal',
  /** Later change sets changed the same parts. `details` names them. */
  undo_conflict: 'refusal',
  /** The request was applied, rejected or withdrawn, has failed or expired. */
  change_request_not_open: 'refusal',
  /** The author of a change request cannot approve or reject it. */
  own_change_request: 'refusal',
  /** The request would now do something else than the caller has seen. Read it again. */
  effect_changed: 'refusal',
  /** No process applies due changes: `due.run` is false. */
  due_disabled: 'refusal',
  /** The strategy has a rollout. */
  rollout_exists: 'refusal',
  /** The token of the author is gone. Only in `failure` of a change request or rollout. */
  author_revoked: 'refusal',
  /** The approval policy protects an environment whose clients would see the change. */
  approval_required: 'refusal',
  /** Another change has this id: by another actor, or with other content. */
  id_taken: 'refusal',
  /** A flag, segment or project would exceed `documentBytes`. */
  document_too_large: 'refusal',
  /** A change set or import would exceed `changesPerSet`, `documentsPerImport` or `changeSetBytes`. */
  change_set_too_large: 'refusal',
  /**
   * Other callers changed the same document 20 times meanwhile. While the approval policy names an environment, changes
   * of flags and segments follow each other over all nodes, as if they changed one document. Try again.
   */
  too_much_contention: 'transient',
  /** The database stayed locked. Try again. */
  storage_busy: 'transient',
  /** The storage cannot be reached or written. Try again. */
  storage_unavailable: 'transient',
  /** The commit failed midway: repeat the change with its `id`, or read the state. */
  outcome_unknown: 'transient',
  /** The storage no longer has this event: read the state, and start from now. */
  history_lost: 'refusal',
  /** The storage cannot be used here, such as better-sqlite3 13 on an old Node. */
  storage_unsupported: 'transient',
  /** `describeUsers` has failed. Only `onError` gets it. */
  user_lookup_failed: 'refusal',
  /** A follower has no flags yet, or its upstream refuses it or is away. */
  upstream_unavailable: 'refusal',
  /** Followers follow each other in a circle, or more than three deep. */
  upstream_loop: 'refusal',
  /** The token is missing, unknown or expired, or nobody is logged in. */
  unauthenticated: 'refusal',
  /** The token is of another kind, or `authorize` refused. */
  forbidden: 'refusal',
  /** The flags have been closed. */
  closed: 'transient',
} as const satisfies Record<string, 'refusal' | 'transient'>;

/** All error codes. The list is closed: rely on codes, not on messages. */
export const ERROR_CODES = Object.keys(CODES) as readonly ErrorCode[];

/** One of {@link ERROR_CODES}. */
export type ErrorCode = keyof typeof CODES;

/** One issue. `path` is a JSON Pointer (RFC 6901) into the input, if the issue has a place there. */
export interface ErrorDetail {
  readonly message: string;
  readonly path?: string;
}

/** A refusal as it is stored: why something that was due was not done. */
export interface Refusal {
  readonly code: ErrorCode;
  readonly message: string;
  /** At most 10. */
  readonly details: readonly ErrorDetail[];
}

/** The same symbol in every copy of this package. */
const BRAND = Symbol.for('@flags/error');

/**
 * A refusal: the request has not changed anything. Other errors are driver errors or defects, and pass through
 * unchanged.
 *
 * @example
 * try {
 *   await flags.enable({ project: 'default', flag: 'checkout', environment: 'production' });
 * } catch (error) {
 *   if (isFlagsError(error) && error.code === 'environment_has_no_strategies') await addDefaultStrategy();
 *   else throw error;
 * }
 */
export class FlagsError extends Error {
  static {
    // On the prototype, not in the type, so that the types of several copies stay compatible.
    Object.defineProperty(FlagsError.prototype, BRAND, { value: true });
  }

  override readonly name = 'FlagsError';
  /** One entry per issue, at most 100; the error's message if there is only one. */
  readonly details: readonly ErrorDetail[];

  /** Shortens long texts in the middle, because they may echo input of any length. */
  constructor(
    readonly code: ErrorCode,
    message: string,
    details: readonly ErrorDetail[] = [{ message }],
    options?: { readonly cause?: unknown },
  ) {
    super(shortenMessage(message), options);
    this.details = details.slice(0, ERROR_LIMITS.issues).map(shortenDetail);
  }
}

function shortenDetail({ message, path }: ErrorDetail): ErrorDetail {
  const short = shortenMessage(message);
  return path === undefined ? { message: short } : { message: short, path: shorten(path, ERROR_LIMITS.issuePath) };
}

/**
 * Whether an error is a {@link FlagsError}, of any copy or version of this package in the process. Another version may
 * have codes that this one does not know: handle the codes that you know, and pass the others on.
 *
 * @example
 * const isBusy = isFlagsError(error) && error.code === 'storage_busy';
 */
export function isFlagsError(error: unknown): error is FlagsError {
  if (typeof error !== 'object' || error === null) return false;
  const { code, [BRAND]: isBranded } = error as Readonly<Record<PropertyKey, unknown>>;
  return typeof code === 'string' && isBranded === true;
}

/** Whether a code names an error of this node or its storage. */
export function isTransientCode(code: ErrorCode): boolean {
  return CODES[code] === 'transient';
}

/** Whether the storage refused a call: nothing has changed, and a later call may succeed. */
export function isStorageFailure(error: unknown): boolean {
  return isFlagsError(error) && (error.code === 'storage_busy' || error.code === 'storage_unavailable');
}
