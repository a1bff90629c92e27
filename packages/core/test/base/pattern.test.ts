import { isPattern } from '../../src/evaluation/constraints.js';

describe('a pattern', () => {
  it.each([
    '',
    '^a+$',
    '(?i)[[:alpha:]]{2,5}\\d',
    '(?P<year>[0-9]{4})-(?:0[1-9]|1[0-2])',
    '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}',
    '\\Qa(b{2000}\\E',
    '[(){1000}]{5}',
    '\\x{1F600}{3}',
    '\\p{Greek}{100}',
    'a{1000}',
    '((ab){10}c){40}',
    '\\(\\){2}',
    '(a)'.repeat(300),
  ])('%s is one', (text) => {
    expect(isPattern(text)).toBe(true);
  });

  it.each(['(', ')', '*', 'a**', '[a', '\\', '\\8', '(a)\\1', '(?=a)', '(?<!a)b', '(?>a)', 'a{2,1}', 'a{1001}'])(
    '%s is none',
    (text) => {
      expect(isPattern(text)).toBe(false);
    },
  );

  it.each([
    '((a{10}){10}){11}',
    '(.{1,900})(.{1,900})',
    `(${'x'.repeat(100)}){11}`,
    '(\\QABCDEFGHIJKLMNOPQRSTU\\E.){51}',
    '(\\Q[\\E.{500}){3}',
    '((ab){10}c){60}',
    'a{600}b{600,}',
    'x'.repeat(1001),
  ])('%s is too large', (text) => {
    expect(isPattern(text)).toBe(false);
  });
});
