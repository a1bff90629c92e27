import { toList, toNumber, toOptionalText, toText, toTexts } from '../../src/evaluation/problem.js';

describe('the content of a definition', () => {
  it('is an empty list where a list is absent', () => {
    expect(toList(undefined, 'a')).toEqual([]);
    expect(toList(null, 'a')).toEqual([]);
    expect(() => toList('' as never, 'a')).toThrow('a must be an array');
  });

  it('is the texts of a list without empty entries, numbers and booleans as text', () => {
    const entries = ['a', '', null, undefined, 7, 0, true, false, ' '] as string[];
    expect(toTexts(entries, 'a')).toEqual(['a', '7', '0', 'true', 'false', ' ']);
    expect(() => toTexts([{}] as never, 'values')).toThrow('values must be text');
  });

  it('is text, or nothing', () => {
    expect([toText('', 'a'), toText(0, 'a'), toText(false, 'a')]).toEqual(['', '0', 'false']);
    expect([toOptionalText(undefined, 'a'), toOptionalText(null, 'a'), toOptionalText('', 'a')]).toEqual([
      undefined,
      undefined,
      '',
    ]);
    for (const value of [null, undefined, [], {}, () => 1])
      expect(() => toText(value, 'name')).toThrow('name must be text');
  });

  it('is a number, or none', () => {
    expect([toNumber(7), toNumber('7.5'), toNumber('')]).toEqual([7, 7.5, 0]);
    expect([toNumber(true), toNumber(null), toNumber([7]), toNumber('x')]).toEqual(Array(4).fill(Number.NaN));
  });
});
