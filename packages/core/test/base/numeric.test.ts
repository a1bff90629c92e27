import fc from 'fast-check';
import { parseNumber } from '../../src/base/primitives.js';

describe('parseNumber', () => {
  it.each<[string, number]>([
    ['0', 0],
    ['007', 7],
    ['-1.5', -1.5],
    ['+2', 2],
    ['.5', 0.5],
    ['5.', 5],
    ['1e3', 1000],
    ['1E-3', 0.001],
    ['1e-400', 0],
  ])('reads %s', (text, number) => {
    expect(parseNumber(text)).toBe(number);
  });

  it.each([
    '',
    ' ',
    '.',
    '-',
    'e5',
    '1e',
    ' 1',
    '1 ',
    '1\n',
    '0x10',
    '0b1',
    '1_000',
    '1,5',
    'NaN',
    'Infinity',
    '1e400',
    '１',
  ])('reads nothing of %j', (text) => {
    expect(parseNumber(text)).toBeUndefined();
  });

  it('parses dates that JavaScript writes', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (number) => {
        expect(parseNumber(String(number))).toBe(number === 0 ? 0 : number);
      }),
    );
  });
});
