import { locateRefusals } from '../../src/errors.js';
import { FlagsError, isFlagsError } from '../../src/index.js';

function errorWith(members: object): Error {
  return Object.assign(new Error('refused'), members);
}

describe('isFlagsError', () => {
  it('accepts errors of this copy of the package', () => {
    const error = new FlagsError('flag_not_found', 'No flag.');
    expect(isFlagsError(error)).toBe(true);
    expect(Object.keys(error).sort()).toEqual(['code', 'details', 'name']);
  });

  it('accepts codes of another version, whose errors have the brand', () => {
    const branded = { name: 'FlagsError', code: 'code_of_a_later_version', [Symbol.for('@flags/error')]: true };
    expect(isFlagsError(errorWith(branded))).toBe(true);
  });

  it('accepts errors of 0.1, which have no brand, by name and code', () => {
    expect(isFlagsError(errorWith({ name: 'FlagsError', code: 'flag_not_found' }))).toBe(true);
  });

  it.each([
    errorWith({ name: 'FlagsError', code: 'EACCES' }),
    errorWith({ code: 'flag_not_found' }),
    errorWith({ [Symbol.for('@flags/error')]: true }),
    null,
    undefined,
    'FlagsError',
  ])('does not accept %p', (error) => {
    expect(isFlagsError(error)).toBe(false);
  });
});

describe('locateRefusals', () => {
  const refused = (error: unknown) =>
    locateRefusals('/flags/0', () => Promise.reject(error)).catch((caught: unknown) => caught);

  it('prefixes the paths of a refusal, and gives one to issues without', async () => {
    const details = [{ message: 'is wrong', path: '/name' }, { message: 'is late' }];
    const located = (await refused(new FlagsError('invalid_input', 'No.', details))) as FlagsError;
    expect([located.code, located.message]).toEqual(['invalid_input', 'No.']);
    expect(located.details.map(({ path }) => path)).toEqual(['/flags/0/name', '/flags/0']);
  });

  it('passes storage failures and other errors on', async () => {
    for (const error of [new FlagsError('storage_busy', 'Busy.'), new Error('a defect')]) {
      expect(await refused(error)).toBe(error);
    }
  });

  it('passes refusals without a place on', async () => {
    const refusal = new FlagsError('last_owner', 'No.');
    await expect(locateRefusals(undefined, () => Promise.reject(refusal))).rejects.toBe(refusal);
  });
});
