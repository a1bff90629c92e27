import { type ErrorDetail, FlagsError } from '@flags/core';

/** Refuses input for these faults, as the engine does. */
export function invalidInput(details: readonly ErrorDetail[]): FlagsError {
  const [first] = details;
  return new FlagsError(
    'invalid_input',
    `The input is not valid: ${[first?.path, first?.message].filter(Boolean).join(' ')}.`,
    details,
  );
}
