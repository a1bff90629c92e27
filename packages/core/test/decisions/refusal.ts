import { type FlagsError, isFlagsError } from '../../src/errors.js';

/** The error that a decision is refused with; fails the test when it is not refused. */
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
