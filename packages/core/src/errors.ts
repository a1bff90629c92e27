import { LIMITS } from './validation/limits.js';

/**
 * A text of at most so many characters: of a longer one the beginning and the end are kept, as the end of a message says what
 * to do. Error messages echo input through this, so that a name of 1 MiB is not sent back whole.
 */
export function shorten(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const end = Math.floor((limit - 1) / 3);
  const start = limit - 1 - end;
  // A surrogate that a cut has parted from its other half is left out.
  const head = text.slice(0, start).replace(/[\uD800-\uDBFF]$/, '');
  const tail = text.slice(text.length - end).replace(/^[\uDC00-\uDFFF]/, '');
  return `${head}…${tail}`;
}

/** Every reason for which an operation is refused. The list is closed: code against it, not against messages. */
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
  'token_not_found',
  'segment_not_found',
  'parent_not_found',
  'dependency_not_found',
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
  'last_owner',
  'revision_mismatch',
  'document_too_large',
  'state_too_large',
  'too_much_contention',
  'storage_busy',
  'storage_unavailable',
  'outcome_unknown',
  'storage_unsupported',
  'closed',
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

/** One fault. `path` is a JSON Pointer (RFC 6901) into the input, where the fault has a place in it. */
export interface ErrorDetail {
  readonly message: string;
  readonly path?: string;
}

/**
 * A request that cannot be granted; it has changed nothing. Anything else that is thrown is a fault of the storage
 * or of the library, and passes through as it is.
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
  override readonly name = 'FlagsError';
  /** One entry per fault, at most 100; the message alone when there is only one. */
  readonly details: readonly ErrorDetail[];

  /** Long texts are shortened in the middle: they may echo input of any length. */
  constructor(
    readonly code: ErrorCode,
    message: string,
    details: readonly ErrorDetail[] = [{ message }],
    options?: ErrorOptions,
  ) {
    super(shorten(message, LIMITS.issueMessage), options);
    this.details = details.slice(0, LIMITS.issues).map(shortenDetail);
  }
}

function shortenDetail({ message, path }: ErrorDetail): ErrorDetail {
  const short = shorten(message, LIMITS.issueMessage);
  return path === undefined ? { message: short } : { message: short, path: shorten(path, LIMITS.issuePath) };
}

/** Tells a {@link FlagsError} by its name and code: two copies of this package may be loaded in one process. */
export function isFlagsError(error: unknown): error is FlagsError {
  if (typeof error !== 'object' || error === null) return false;
  const { name, code } = error as Partial<FlagsError>;
  return name === 'FlagsError' && (ERROR_CODES as readonly unknown[]).includes(code);
}
