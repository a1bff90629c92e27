import { type ErrorCode, type Flags, type FlagsError, isFlagsError } from '../src/index.js';
import { everythingIn } from './everything.js';

/** Returns the error of a refused attempt. Fails the test if the attempt succeeds. */
export async function refusalOf(attempt: Promise<unknown>): Promise<FlagsError> {
  const outcome = await attempt.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (isFlagsError(outcome)) return outcome;
  throw outcome ?? new Error('The attempt was not refused.');
}

/** Expects a refusal with this code that leaves everything as it was. */
export async function expectRefusal(
  flags: Flags,
  code: ErrorCode,
  attempt: () => Promise<unknown>,
): Promise<FlagsError> {
  const before = await everythingIn(flags);
  const error = await refusalOf(attempt());
  expect(error.code).toBe(code);
  expect(error.message).not.toBe('');
  expect(error.details.length).toBeGreaterThan(0);
  expect(await everythingIn(flags)).toEqual(before);
  return error;
}
