import { listOf, numberOf, text, textOrNone, textsOf } from '../../src/evaluation/problem.js';

describe('what a definition holds', () => {
  it('is an empty list where a list is absent', () => {
    expect(listOf(undefined, 'a')).toEqual([]);
    expect(listOf(null, 'a')).toEqual([]);
    expect(() => listOf('' as never, 'a')).toThrow('a must be an array');
  });

  it('is the texts of a list without empty entries, numbers and booleans as text', () => {
    const entries = ['a', '', null, undefined, 7, 0, true, false, ' '] as string[];
    expect(textsOf(entries, 'a')).toEqual(['a', '7', '0', 'true', 'false', ' ']);
    expect(() => textsOf([{}] as never, 'values')).toThrow('values must be text');
  });

  it('is text, or nothing', () => {
    expect([text('', 'a'), text(0, 'a'), text(false, 'a')]).toEqual(['', '0', 'false']);
    expect([textOrNone(undefined, 'a'), textOrNone(null, 'a'), textOrNone('', 'a')]).toEqual([
      undefined,
      undefined,
      '',
    ]);
    for (const value of [null, undefined, [], {}, () => 1])
      expect(() => text(value, 'name')).toThrow('name must be text');
  });

  it('is a number, or none', () => {
    expect([numberOf(7), numberOf('7.5'), numberOf('')]).toEqual([7, 7.5, 0]);
    expect([numberOf(true), numberOf(null), numberOf([7]), numberOf('x')]).toEqual(Array(4).fill(Number.NaN));
  });
});
