import { FlagsError } from '../errors.js';

/** Refuses an operation because of one of its members. */
export function patchRefusal(index: number, member: 'path' | 'from' | 'value', message: string): FlagsError {
  const path = `/${index}/${member}`;
  return new FlagsError('invalid_patch', `The patch cannot be applied: ${path} ${message}.`, [{ message, path }]);
}

export function testFailure(index: number): FlagsError {
  const message = `The test in operation ${index} of the patch does not hold; read the current state and try again.`;
  return new FlagsError('patch_test_failed', message, [{ message: 'does not hold', path: `/${index}` }]);
}

/** Runs what recurses through a value; one that has no end, or none within the stack, is no JSON and no patch. */
export function unlessTooDeep<T>(work: () => T): T {
  try {
    return work();
  } catch {
    throw new FlagsError('invalid_patch', 'The patch cannot be applied: it is nested too deeply, or in itself.');
  }
}
