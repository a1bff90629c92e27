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
