import { FlagsError, isFlagsError } from '../errors.js';
import { invalidInput } from '../validation/validator.js';

/**
 * Returns a refusal that names a place in a change set. Details with a path of their own are about the input of the
 * change. Returns other errors, and refusals of single operations, unchanged.
 *
 * @param path a JSON Pointer to the change; absent for a single operation
 */
export function locateRefusal(error: unknown, path: string | undefined): unknown {
  if (path === undefined || !isFlagsError(error)) return error;
  const details = error.details.map((detail) => {
    return { ...detail, path: detail.path === undefined ? path : `${path}/input${detail.path}` };
  });
  const isAboutInput = error.details.some((detail) => detail.path !== undefined);
  if (error.code === 'invalid_input' && isAboutInput) return invalidInput(details);
  return new FlagsError(error.code, error.message, details, { cause: error });
}
