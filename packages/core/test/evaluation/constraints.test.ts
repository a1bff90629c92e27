import { compareSemver, isSemver } from '../../src/evaluation/semver.js';
import { withConstraint } from './one-flag.js';

const holds = (constraint: object, value: unknown) =>
  withConstraint({ contextName: 'field', operator: 'IN', ...constraint }).isEnabled('checkout', {
    properties: { field: value },
  });

describe('an inverted constraint', () => {
  it.each([
    ['NUM_EQ', 'no number'],
    ['DATE_AFTER', 'no date'],
    ['SEMVER_EQ', '1.2'],
    ['REGEX', '(broken'],
  ])('holds when the operand of %s is unusable', (operator, value) => {
    expect(holds({ operator, value, inverted: true }, 'x')).toBe(true);
    expect(holds({ operator, value }, 'x')).toBe(false);
  });

  it('holds when the context has no usable value', () => {
    expect(holds({ operator: 'NUM_EQ', value: '1', inverted: true }, 'x')).toBe(true);
    expect(holds({ operator: 'STR_CONTAINS', values: ['x'], inverted: true }, undefined)).toBe(true);
  });

  it.each([
    { operator: 'STR_CONTAINS', values: ['x'], caseInsensitive: true },
    { operator: 'IN_CIDR', values: ['10.0.0.0/8'] },
    { operator: 'REGEX', value: 'undefined' },
    { operator: 'SEMVER_EQ', value: '1.0.0' },
    { operator: 'SEMVER_GT', value: '1.0.0' },
    { operator: 'NUM_LT', value: '1' },
  ])('holds for a missing value, which holds for nothing: %j', (constraint) => {
    expect(holds({ ...constraint, inverted: true }, undefined)).toBe(true);
    expect(holds(constraint, undefined)).toBe(false);
  });

  it('never holds with an unknown operator', () => {
    expect(holds({ operator: 'SOUNDS_LIKE', values: ['x'], inverted: true }, 'x')).toBe(false);
    expect(holds({ operator: 'constructor', values: ['x'], inverted: true }, 'x')).toBe(false);
  });
});

describe('a value of the context', () => {
  it('counts as its string', () => {
    expect(holds({ operator: 'IN', values: ['7'] }, 7)).toBe(true);
    expect(holds({ operator: 'IN', values: ['true'] }, true)).toBe(true);
    expect(holds({ operator: 'IN', values: ['a,b'] }, ['a', 'b'])).toBe(true);
    expect(holds({ operator: 'NOT_IN', values: ['undefined', 'null'] }, null)).toBe(true);
  });

  it('is none when it cannot become text', () => {
    expect(holds({ operator: 'NOT_IN', values: ['x'] }, Object.create(null))).toBe(true);
  });
});

describe('the values of a constraint', () => {
  it('count without the white space around them', () => {
    expect(holds({ operator: 'IN', values: [' a ', '\tb\n'] }, 'a')).toBe(true);
    expect(holds({ operator: 'IN', values: [' a ', '\tb\n'] }, 'b')).toBe(true);
    expect(holds({ operator: 'STR_STARTS_WITH', values: [' a '] }, 'abc')).toBe(true);
  });

  it('are looked for with their case, or without it', () => {
    const constraint = { operator: 'STR_ENDS_WITH', values: ['.Org', '.COM'] };
    expect(holds(constraint, 'a.Org')).toBe(true);
    expect(holds(constraint, 'a.org')).toBe(false);
    expect(holds({ ...constraint, caseInsensitive: true }, 'a.oRG')).toBe(true);
    expect(holds({ ...constraint, caseInsensitive: true }, 'a.com')).toBe(true);
    expect(holds({ ...constraint, caseInsensitive: true }, 'a.net')).toBe(false);
  });
});

describe('the time of a context', () => {
  const noon = '2024-05-06T12:00:00.500Z';
  const isAfterNoon = (currentTime: unknown) =>
    withConstraint({ contextName: 'currentTime', operator: 'DATE_AFTER', value: noon }).isEnabled('checkout', {
      currentTime: currentTime as Date,
    });

  it.each([
    ['a date', (at: number) => new Date(at)],
    ['milliseconds', (at: number) => at],
    ['a text', (at: number) => new Date(at).toISOString()],
  ])('may be %s, to the millisecond', (_, given) => {
    const at = Date.parse(noon);
    expect([at - 1, at, at + 1].map((time) => isAfterNoon(given(time)))).toEqual([false, false, true]);
  });
});

describe('versions', () => {
  it('are semver 2.0 to the letter', () => {
    for (const text of ['0.0.0', '1.2.3-0a.-.x', '1.2.3+001', '99999999999999999999.0.0'])
      expect(isSemver(text)).toBe(true);
    for (const text of [
      'v1.2.3',
      '1.2',
      '01.2.3',
      '1.2.3-01',
      ' 1.2.3',
      '1.2.3 ',
      '1.2.3-',
      '1.2.3+',
      '1.2.3-a..b',
      '=1.2.3',
    ]) {
      expect(isSemver(text)).toBe(false);
    }
  });

  it('are ordered as semver 2.0 orders them', () => {
    const ascending = [
      '1.0.0-1',
      '1.0.0-2',
      '1.0.0-9',
      '1.0.0-10',
      '1.0.0-1000',
      '1.0.0-1-1',
      '1.0.0-alpha',
      '1.0.0-alpha.1',
      '1.0.0-alpha.beta',
      '1.0.0-alpha-x',
      '1.0.0-beta',
      '1.0.0-rc.1',
      '1.0.0',
      '1.0.1-a',
      '1.2.0',
      '1.10.0',
      '9007199254740993.0.0',
      '9007199254740994.0.0',
    ];
    for (const [a, one] of ascending.entries()) {
      for (const [b, other] of ascending.entries()) expect(Math.sign(compareSemver(one, other))).toBe(Math.sign(a - b));
    }
    expect(compareSemver('1.0.0+a-b', '1.0.0+c')).toBe(0);
    expect(compareSemver('1.0.0-x+a', '1.0.0-x')).toBe(0);
    expect(compareSemver('1.0.0-a.b', '1.0.0-a-b')).toBeLessThan(0);
  });

  it('are compared whatever was compared before', () => {
    expect(compareSemver('1.0.0', '1.0.0')).toBe(0);
    expect(compareSemver('1.0.10+b', '1.0.10')).toBe(0);
    expect(compareSemver('1.0.0+b', '1.0.1+b')).toBeLessThan(0);
  });

  it.each([
    ['SEMVER_EQ', [false, true, false]],
    ['SEMVER_GT', [false, false, true]],
    ['SEMVER_GTE', [false, true, true]],
    ['SEMVER_LT', [true, false, false]],
    ['SEMVER_LTE', [true, true, false]],
  ])('are asked by %s', (operator, answers) => {
    const asked = ['1.1.9', '1.2.0', '1.2.1'].map((version) => holds({ operator, value: '1.2.0' }, version));
    expect(asked).toEqual(answers);
    expect(holds({ operator, value: '1.2.0' }, '2')).toBe(false);
    expect(holds({ operator, value: '1.2.0', inverted: true }, '2')).toBe(true);
  });
});

describe('patterns', () => {
  it('are matched anywhere in the value, with the case ignored on demand', () => {
    expect(holds({ operator: 'REGEX', value: 'a.c' }, 'xxabcxx')).toBe(true);
    expect(holds({ operator: 'REGEX', value: 'A.C' }, 'abc')).toBe(false);
    expect(holds({ operator: 'REGEX', value: 'A.C', caseInsensitive: true }, 'abc')).toBe(true);
  });

  it('match texts of 500 characters, and none that are longer', () => {
    expect(holds({ operator: 'REGEX', value: 'a$' }, 'a'.repeat(500))).toBe(true);
    expect(holds({ operator: 'REGEX', value: 'a$' }, 'a'.repeat(501))).toBe(false);
  });

  // The built-in engine would take longer than the universe for each of them: that they come back is the proof.
  it.each(['^(a+)+$', '^(a|a)*$', '^(a|aa)+$', '(a*)*b'])('take linear time: %s', (value) => {
    expect(holds({ operator: 'REGEX', value }, `${'a'.repeat(50_000)}!`)).toBe(false);
  });
});
