import { type ErrorDetail, isFlagsError } from '../../src/base/errors.js';

/** Returns the issues for which an input is refused; none if it is accepted. */
export function faultsOf(validate: (input: unknown) => unknown, input: unknown): readonly ErrorDetail[] {
  try {
    expect(validate(input)).toBe(input);
    return [];
  } catch (error) {
    if (isFlagsError(error) && error.code === 'invalid_input') return error.details;
    throw error;
  }
}

/** Returns the paths of the issues. */
export function pathsOf(validate: (input: unknown) => unknown, input: unknown): readonly (string | undefined)[] {
  return faultsOf(validate, input).map(({ path }) => path);
}
