import type { ChangeContext } from '../base/common.types.js';
import { LIMITS } from '../base/limits.js';
import { invalidInput } from '../base/validator.js';
import type { UnattributedContext } from './engine.js';
import { type ChangesHash, readChangeSetId } from './repetition.js';

/**
 * Returns the context of a set from the options of a call.
 *
 * @param hash has all changes of the set; undefined without an id
 * @throws FlagsError `invalid_input` for an id that is not a UUID, and for an invalid reason
 */
export function toContext(
  { id, actor, reason }: Pick<ChangeContext, 'id' | 'actor' | 'reason'>,
  hash: ChangesHash | undefined,
): UnattributedContext {
  return {
    ...(id !== undefined && hash && { repetition: { id: readChangeSetId(id), hash: hash.digest() } }),
    ...(actor !== undefined && { actor }),
    ...(reason !== undefined && { reason: readReason(reason) }),
  };
}

/** Throws `invalid_input` unless the reason is a text of the permitted length. */
function readReason(reason: unknown): string {
  if (typeof reason === 'string' && reason.length <= LIMITS.reason && !/\p{Cs}/u.test(reason)) return reason;
  throw invalidInput([{ message: `must be text of at most ${LIMITS.reason} characters`, path: '/reason' }]);
}
