import { type FlagsError, isFlagsError } from '../src/base/errors.js';

/** Returns the error of a refused decision. Fails the test if it is not refused. */
export function refusalOf(decision: () => unknown): FlagsError {
  let outcome: unknown;
  try {
    outcome = decision();
  } catch (error) {
    if (isFlagsError(error)) return error;
    throw error;
  }
  throw new Error(`Not refused: ${JSON.stringify(outcome)}`);
}
