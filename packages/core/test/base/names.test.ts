import fc from 'fast-check';
import { name as nameSchema, possiblyEmptyText, text } from '../../src/base/primitives.js';
import { createValidator } from '../../src/base/validator.js';
import { faultsOf } from './facts.js';

function isAccepted(schema: Parameters<typeof createValidator>[0], input: unknown): boolean {
  return faultsOf(createValidator(schema), input).length === 0;
}

/** The rule as the contract tells it. */
function isName(text: string): boolean {
  try {
    return text.length >= 1 && text.length <= 100 && encodeURIComponent(text) === text && text !== '.' && text !== '..';
  } catch {
    return false;
  }
}

const validate = createValidator(nameSchema);

describe('names', () => {
  it('are the characters that a URL does not escape, except for . and ..', () => {
    const mostlyName = fc.string({ unit: fc.constantFrom(..."aZ09-_.!~*'()", ' ', '%', '/', 'é'), maxLength: 5 });
    const longName = fc.nat({ max: 110 }).map((length) => 'n'.repeat(length));
    const anyText = fc.string({ unit: 'binary', maxLength: 4 });
    fc.assert(
      fc.property(fc.oneof(mostlyName, longName, anyText), (candidate) => {
        expect(faultsOf(validate, candidate).length === 0).toBe(isName(candidate));
      }),
      { numRuns: 1000 },
    );
  });

  it('may hold every character below U+0180 that a URL keeps, and no other', () => {
    const characters = Array.from({ length: 0x180 }, (_, code) => String.fromCharCode(code));
    const accepted = characters.filter((character) => faultsOf(validate, `a${character}`).length === 0);
    expect(accepted).toEqual(characters.filter((character) => isName(`a${character}`)));
  });

  it.each(['.', '..', '', 'n'.repeat(101), 'a\n', '\ud800', 7, null])('do not include %j', (input) => {
    expect(faultsOf(validate, input)).not.toEqual([]);
  });

  it.each(['...', '.a', '__proto__', 'constructor', 'n'.repeat(100)])('include %s', (input) => {
    expect(faultsOf(validate, input)).toEqual([]);
  });
});

describe('text', () => {
  it('is counted in characters, and has no unpaired surrogates', () => {
    expect(isAccepted(text(2), '😀😀')).toBe(true);
    expect(isAccepted(text(2), '😀😀😀')).toBe(false);
    expect(isAccepted(text(2), '\ud83d')).toBe(false);
    expect(isAccepted(text(2), '\ude00\ud83d')).toBe(false);
    expect(isAccepted(text(9), 'a\nb\u0000')).toBe(true);
  });

  it('may be empty only where the schema permits', () => {
    expect(isAccepted(text(2), '')).toBe(false);
    expect(isAccepted(possiblyEmptyText(2), '')).toBe(true);
  });
});
