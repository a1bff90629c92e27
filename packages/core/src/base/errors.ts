/** The limits of errors. They are members of `LIMITS`. */
export const ERROR_LIMITS = {
  /** Issues in one error. Validation stops at this number. */
  issues: 100,
  /** The message of an error or an issue, which may quote input. */
  issueMessage: 1000,
  /** One word of such a message, because names and paths may have any length. */
  messageWord: 200,
  /** The JSON Pointer of an issue, which may contain names from the input. */
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

/** Each code, and whether the call was refused, or failed in this node or its storage: then it may succeed later. */
const CODES = {
  invalid_input: 'refusal',
  invalid_patch: 'refusal',
  patch_test_failed: 'refusal',
  project_not_found: 'refusal',
  flag_not_found: 'refusal',
  environment_not_found: 'refusal',
  strategy_not_found: 'refusal',
  role_not_found: 'refusal',
  user_not_found: 'refusal',
  member_not_found: 'refusal',
  application_not_found: 'refusal',
  consumer_not_found: 'refusal',
  token_not_found: 'refusal',
  segment_not_found: 'refusal',
  parent_not_found: 'refusal',
  dependency_not_found: 'refusal',
  change_set_not_found: 'refusal',
  rollout_not_found: 'refusal',
  change_request_not_found: 'refusal',
  project_exists: 'refusal',
  flag_exists: 'refusal',
  member_exists: 'refusal',
  token_exists: 'refusal',
  token_deleted: 'refusal',
  segment_exists: 'refusal',
  flag_archived: 'refusal',
  flag_not_archived: 'refusal',
  flag_has_children: 'refusal',
  segment_in_use: 'refusal',
  dependency_cycle: 'refusal',
  dependency_too_deep: 'refusal',
  project_protected: 'refusal',
  project_not_empty: 'refusal',
  environment_has_no_strategies: 'refusal',
  environment_disabled: 'refusal',
  last_owner: 'refusal',
  revision_mismatch: 'refusal',
  undo_conflict: 'refusal',
  change_request_not_open: 'refusal',
  own_change_request: 'refusal',
  effect_changed: 'refusal',
  due_disabled: 'refusal',
  rollout_exists: 'refusal',
  author_revoked: 'refusal',
  approval_required: 'refusal',
  id_taken: 'refusal',
  document_too_large: 'refusal',
  change_set_too_large: 'refusal',
  too_much_contention: 'transient',
  storage_busy: 'transient',
  storage_unavailable: 'transient',
  outcome_unknown: 'transient',
  history_lost: 'refusal',
  storage_unsupported: 'transient',
  user_lookup_failed: 'refusal',
  upstream_unavailable: 'refusal',
  upstream_loop: 'refusal',
  unauthenticated: 'refusal',
  forbidden: 'refusal',
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
