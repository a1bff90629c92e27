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

/** All error codes. The list is closed: rely on codes, not on messages. */
export const ERROR_CODES = [
  'invalid_input',
  'invalid_patch',
  'patch_test_failed',
  'project_not_found',
  'flag_not_found',
  'environment_not_found',
  'strategy_not_found',
  'role_not_found',
  'user_not_found',
  'member_not_found',
  'application_not_found',
  'consumer_not_found',
  'token_not_found',
  'segment_not_found',
  'parent_not_found',
  'dependency_not_found',
  'change_set_not_found',
  'rollout_not_found',
  'change_request_not_found',
  'project_exists',
  'flag_exists',
  'member_exists',
  'token_exists',
  'token_deleted',
  'segment_exists',
  'flag_archived',
  'flag_not_archived',
  'flag_has_children',
  'segment_in_use',
  'dependency_cycle',
  'dependency_too_deep',
  'project_protected',
  'project_not_empty',
  'environment_has_no_strategies',
  'environment_disabled',
  'last_owner',
  'revision_mismatch',
  'undo_conflict',
  'change_request_not_open',
  'own_change_request',
  'effect_changed',
  'due_disabled',
  'rollout_exists',
  'author_revoked',
  'approval_required',
  'id_taken',
  'document_too_large',
  'change_set_too_large',
  'too_much_contention',
  'storage_busy',
  'storage_unavailable',
  'outcome_unknown',
  'history_lost',
  'storage_unsupported',
  'user_lookup_failed',
  'upstream_unavailable',
  'upstream_loop',
  'unauthenticated',
  'forbidden',
  'closed',
] as const;

/** One of {@link ERROR_CODES}. */
export type ErrorCode = (typeof ERROR_CODES)[number];

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

/** Whether the storage refused a call: nothing has changed, and a later call may succeed. */
export function isStorageFailure(error: unknown): boolean {
  return isFlagsError(error) && (error.code === 'storage_busy' || error.code === 'storage_unavailable');
}
