import fc from 'fast-check';
import { RE2JS } from 're2js';
import { parseNumber } from '../../src/base/primitives.js';
import { isPattern } from '../../src/evaluation/constraints.js';
import { createFlags, memoryStorage } from '../../src/index.js';
import { SILENT } from '../replica/silent.js';
import { DEFAULT, PRODUCTION } from '../rules/references.js';
import { refusalOf } from '../rules/refusal.js';

// None of these ends where something takes exponential time: there is nothing to measure.

/** Each takes the engine of JavaScript more steps than there are atoms, on the text beside it. */
const CATASTROPHES: readonly (readonly [string, string])[] = [
  ['^(a+)+$', `${'a'.repeat(499)}b`],
  ['^(a|a)*$', `${'a'.repeat(499)}b`],
  ['^(a|aa)+$', `${'a'.repeat(499)}b`],
  ['^([a-zA-Z]+)*$', `${'a'.repeat(499)}1`],
  ['^(.*a){20}$', `${'a'.repeat(499)}b`],
  ['^(a?){100}a{100}$', 'a'.repeat(99)],
  ['^(([a-z])+.)+[A-Z]([a-z])+$', 'a'.repeat(500)],
  ['(x+x+)+y', 'x'.repeat(500)],
];

const TOO_LARGE = [
  '(a{1000}){1000}',
  '((a{100}){100}){100}',
  '(((a{10}){10}){10}){10}',
  '(?:(?:\\pL{500}){500})',
  `${'(?:'.repeat(20)}a${'{9}){9}'.repeat(20)}`,
  '\\pL{1000}\\pL{1000}',
];

/** Patterns that are read for their size before they are compiled. */
const HARD_TO_READ = [
  `[${'\\a'.repeat(499)}`,
  `[${'\\'.repeat(999)}`,
  `[${'[:a:'.repeat(249)}`,
  '[[:a:]'.repeat(160),
  '\\p{'.repeat(333),
  '\\Q'.repeat(500),
  `a{${'1'.repeat(990)}`,
  '{1,'.repeat(333),
  '('.repeat(1000),
  `${'('.repeat(500)}${')'.repeat(500)}`,
  '['.repeat(1000),
];

describe('a regular expression of a user', () => {
  it.each(CATASTROPHES)('is matched in linear time: %s', async (value, userId) => {
    const flags = await createFlags({ storage: memoryStorage(), ...SILENT });
    await flags.createFlag(DEFAULT, { name: 'checkout' });
    await flags.addStrategy(PRODUCTION, {
      name: 'default',
      constraints: [{ contextName: 'userId', operator: 'REGEX', value }],
    });
    await flags.enable(PRODUCTION);
    expect(flags.isEnabled('checkout', { userId })).toBe(false);
    await flags.close();
  });

  it('matches no text of more than 500 characters', async () => {
    const flags = await createFlags({ storage: memoryStorage(), ...SILENT });
    await flags.createFlag(DEFAULT, { name: 'checkout' });
    const constraint = { contextName: 'userId', operator: 'REGEX', value: 'a' } as const;
    await flags.addStrategy(PRODUCTION, { name: 'default', constraints: [constraint] });
    await flags.enable(PRODUCTION);
    expect(flags.isEnabled('checkout', { userId: 'a'.repeat(500) })).toBe(true);
    expect(flags.isEnabled('checkout', { userId: 'a'.repeat(501) })).toBe(false);
    await flags.close();
  });

  it.each(TOO_LARGE)('is refused before it is compiled when it is too large: %s', async (value) => {
    const flags = await createFlags({ storage: memoryStorage(), ...SILENT });
    const constraints = [{ contextName: 'userId', operator: 'REGEX', value }] as const;
    const refusal = await refusalOf(flags.createSegment({ name: 'large', constraints }));
    expect([refusal.code, refusal.details[0]?.path]).toEqual(['invalid_input', '/constraints/0/value']);
    await flags.close();
  });

  it.each(HARD_TO_READ.map((text) => [`${text.slice(0, 12)}…`, text]))('is read in linear time: %s', (_, text) => {
    expect(typeof isPattern(text)).toBe('boolean');
  });

  it('compiles to a bounded program, whatever it is', () => {
    const piece = fc.constantFrom(
      ...['a', '.', '\\pL', '[a-z]', '[^\\x{0}-\\x{ff}]', '(?i)', '(', ')', '(?:', '|', '*', '+', '?', '^', '\\b'],
      ...['{2}', '{9,}', '{0,30}', '{1000}', '{1,100}', '\\Qab\\E', '[[:alpha:]]'],
    );
    const pattern = fc.array(piece, { maxLength: 60 }).map((pieces) => pieces.join(''));
    const property = fc.property(pattern, (text) => {
      fc.pre(isPattern(text));
      expect(RE2JS.compile(text, RE2JS.CASE_INSENSITIVE).programSize()).toBeLessThan(6000);
    });
    fc.assert(property, { numRuns: 300, examples: [['(x{0,}){500}'], ['((((a?)?)?)?){200}'], ['(?:(?:a?){30}){30}']] });
  });
});

describe('a text that should be a number', () => {
  it('is read in linear time', () => {
    expect(parseNumber(`${'1'.repeat(1_000_000)}x`)).toBeUndefined();
    expect(parseNumber(`1.${'1'.repeat(1_000_000)}x`)).toBeUndefined();
  });
});
