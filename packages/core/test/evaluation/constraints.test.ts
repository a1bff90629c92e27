import { BlockList, isIP } from 'node:net';
import fc from 'fast-check';
import { extent } from '../../../../test/extent.js';
import type { EvaluationContext } from '../../src/evaluation/evaluation.types.js';
import { inAnyRange, parseAddress, parseRange, withoutMapping } from '../../src/evaluation/ip-address.js';
import type { EvaluationProblem } from '../../src/evaluation/problem.js';
import { isSemver, SemverBound } from '../../src/evaluation/semver.js';
import { createTextSearch } from '../../src/evaluation/text-search.js';
import { flag, rollout, snapshotOf, weighted, withConstraint } from './one-flag.js';

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
  ])('holds for a missing value, for which the other never holds: %j', (constraint) => {
    expect(holds({ ...constraint, inverted: true }, undefined)).toBe(true);
    expect(holds(constraint, undefined)).toBe(false);
  });

  it('never holds with an unknown operator', () => {
    expect(holds({ operator: 'SOUNDS_LIKE', values: ['x'], inverted: true }, 'x')).toBe(false);
    expect(holds({ operator: 'constructor', values: ['x'], inverted: true }, 'x')).toBe(false);
  });
});

describe('a value of the context', () => {
  it('is compared as its string', () => {
    expect(holds({ operator: 'IN', values: ['7'] }, 7)).toBe(true);
    expect(holds({ operator: 'IN', values: ['true'] }, true)).toBe(true);
    expect(holds({ operator: 'IN', values: ['a,b'] }, ['a', 'b'])).toBe(true);
    expect(holds({ operator: 'NOT_IN', values: ['undefined', 'null'] }, null)).toBe(true);
  });

  it('is absent if it cannot be converted to a string', () => {
    expect(holds({ operator: 'NOT_IN', values: ['x'] }, Object.create(null))).toBe(true);
  });
});

describe('the values of a constraint', () => {
  it('are trimmed', () => {
    expect(holds({ operator: 'IN', values: [' a ', '\tb\n'] }, 'a')).toBe(true);
    expect(holds({ operator: 'IN', values: [' a ', '\tb\n'] }, 'b')).toBe(true);
    expect(holds({ operator: 'STR_STARTS_WITH', values: [' a '] }, 'abc')).toBe(true);
  });

  it('are compared with or without their case', () => {
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
  it('follow semver 2.0 to the letter', () => {
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

  it('sort by the precedence of semver 2.0', () => {
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
      for (const [b, other] of ascending.entries())
        expect(Math.sign(new SemverBound(other).compare(one))).toBe(Math.sign(a - b));
    }
    expect(new SemverBound('1.0.0+c').compare('1.0.0+a-b')).toBe(0);
    expect(new SemverBound('1.0.0-x').compare('1.0.0-x+a')).toBe(0);
    expect(new SemverBound('1.0.0-a-b').compare('1.0.0-a.b')).toBeLessThan(0);
  });

  it('are compared correctly after any other comparison', () => {
    expect(new SemverBound('1.0.0').compare('1.0.0')).toBe(0);
    expect(new SemverBound('1.0.10').compare('1.0.10+b')).toBe(0);
    expect(new SemverBound('1.0.1+b').compare('1.0.0+b')).toBeLessThan(0);
  });

  it.each([
    ['SEMVER_EQ', [false, true, false]],
    ['SEMVER_GT', [false, false, true]],
    ['SEMVER_GTE', [false, true, true]],
    ['SEMVER_LT', [true, false, false]],
    ['SEMVER_LTE', [true, true, false]],
  ])('are compared by %s', (operator, answers) => {
    const asked = ['1.1.9', '1.2.0', '1.2.1'].map((version) => holds({ operator, value: '1.2.0' }, version));
    expect(asked).toEqual(answers);
    expect(holds({ operator, value: '1.2.0' }, '2')).toBe(false);
    expect(holds({ operator, value: '1.2.0', inverted: true }, '2')).toBe(true);
  });
});

describe('patterns', () => {
  it('match anywhere in the value, and ignore the case if asked to', () => {
    expect(holds({ operator: 'REGEX', value: 'a.c' }, 'xxabcxx')).toBe(true);
    expect(holds({ operator: 'REGEX', value: 'A.C' }, 'abc')).toBe(false);
    expect(holds({ operator: 'REGEX', value: 'A.C', caseInsensitive: true }, 'abc')).toBe(true);
  });

  it('match texts of up to 500 characters, but not longer ones', () => {
    expect(holds({ operator: 'REGEX', value: 'a$' }, 'a'.repeat(500))).toBe(true);
    expect(holds({ operator: 'REGEX', value: 'a$' }, 'a'.repeat(501))).toBe(false);
  });

  // The built-in engine would never finish any of them.
  it.each(['^(a+)+$', '^(a|a)*$', '^(a|aa)+$', '(a*)*b'])('take linear time: %s', (value) => {
    expect(holds({ operator: 'REGEX', value }, `${'a'.repeat(50_000)}!`)).toBe(false);
  });
});

const groupsOf = (text: string) => parseAddress(text, new Uint16Array(8));
const expectedGroups = (text: string) => ({ 0: 0, 4: 2, 6: 8 })[isIP(text)];

const group = fc.oneof(
  fc.integer({ min: 0, max: 0xffff }).map((value) => value.toString(16)),
  fc.constantFrom('0', '', '00ab', 'FFFF'),
);
const ipv6Like = fc
  .tuple(fc.array(group, { maxLength: 9 }), fc.constantFrom('', '::', ':', '10.0.0.1'))
  .map(([groups, end]) => groups.join(':') + end);
const octet = fc.oneof(fc.nat(260).map(String), fc.constantFrom('00', '01', ''));
const ipv4Like = fc.array(octet, { minLength: 3, maxLength: 5 }).map((octets) => octets.join('.'));

describe('addresses', () => {
  it('are the addresses that Node accepts, without zones', () => {
    fc.assert(
      fc.property(fc.oneof(ipv6Like, ipv4Like, fc.ipV4(), fc.ipV6(), fc.string()), (text) => {
        if (!text.includes('%')) expect([text, groupsOf(text)]).toEqual([text, expectedGroups(text)]);
      }),
      { numRuns: extent({ short: 1_000, full: 10_000 }) },
    );
  });
});

describe('an address', () => {
  it.each([
    ['0.0.0.0', 2],
    ['255.255.255.255', 2],
    ['1:2:3:4:5:6:7:8', 8],
    ['1:2:3:4:5:6:7::', 8],
    ['::2:3:4:5:6:7:8', 8],
    ['1:2:3:4:5:6:1.2.3.4', 8],
    ['::ffff:1.2.3.4', 2],
    ['::FFFF:102:304', 2],
    ['::fffe:102:304', 8],
    ['::1.2.3.4', 8],
    ['::ABCD', 8],
    ['::', 8],
  ])('is read from %s', (text, groups) => {
    expect(groupsOf(text)).toBe(groups);
  });

  it.each([
    ['a number has a leading zero', ['01.2.3.4', '1.02.3.4', '1.2.3.00']],
    ['a number is too large, or too long', ['256.1.1.1', '1.1.1.256', '1.1.1.1000', '1.1.1.0001']],
    ['a number is missing', ['1.2.3', '1.2.3.', '1..3.4', '.1.2.3']],
    ['something follows', ['1.2.3.4.', '1.2.3.4.5', '1.2.3.4x', '1.2.3.4 ']],
    ['another character replaces a digit', ['1.2.3./', '1.2.3.:', '::/', '::@', '::`', '::g', '::G', '1:g::']],
    ['a group is missing', ['1:2:3:4:5:6:7', '1:2:3:4:5:6:7:', ':2:3:4:5:6:7:8', ':1:2:3:4:5:6:7:8', ':', ':1']],
    ['a group is too many', ['1:2:3:4:5:6:7:8:9', '1:2:3:4:5:6:7:1.2.3.4', '1:2:3:4:5:6:7:8:1.2.3.4']],
    ['a gap replaces no group', ['1:2:3:4::5:6:7:8', '::1:2:3:4:5:6:7:8', '1:2:3:4:5:6:7:8::']],
    ['there are two gaps', ['1::2::3', '::1::', '::1::2', ':::', '1:::2']],
    ['a group has five digits', ['12345::', '::12345', '1:2:3:4:5:6:7:00008']],
    [
      'an IPv4 part is not at the end, or broken',
      ['1.2.3.4::', '::1.2.3.4:5', '::1.2.3', '::1.2.3.256', '::12345.1.1.1'],
    ],
  ])('is absent where %s', (_, texts) => {
    for (const text of texts) expect([text, groupsOf(text)]).toEqual([text, 0]);
  });
});

describe('an IPv4-mapped address', () => {
  it('is its IPv4 address, in both notations, in a range and in a context', () => {
    fc.assert(
      fc.property(fc.ipV4(), fc.nat(32), fc.ipV4(), (base, prefix, other) => {
        const [plain, mapped] = [parseRange(`${base}/${prefix}`), parseRange(`::ffff:${base}/${prefix + 96}`)];
        expect(mapped).toEqual(plain);
        const hex = new URL(`http://[::ffff:${other}]`).hostname.slice(1, -1);
        const answers = [other, `::ffff:${other}`, `::FFFF:${other}`, hex].map((one) =>
          inAnyRange(mapped ? [mapped] : [], one),
        );
        expect(new Set(answers).size).toBe(1);
        expect([hex, `::ffff:${other}`, other].map(withoutMapping)).toEqual([other, other, other]);
      }),
    );
  });

  it.each(['', 'ada', '::1', '2001:db8::1', '::ffff:1.2.3', '::ffff:1.2.3.4%eth0'])('is no other text: %j', (text) => {
    expect(withoutMapping(text)).toBe(text);
  });

  it('is in a network that contains all mapped addresses', () => {
    const range = parseRange('::ffff:0:0/64');
    expect(range && inAnyRange([range], '192.0.2.1')).toBe(true);
  });
});

describe('ranges', () => {
  const families = [
    { family: 'ipv4' as const, address: fc.ipV4(), bits: 32 },
    { family: 'ipv6' as const, address: fc.ipV6(), bits: 128 },
  ];

  it.each(families)('contain for $family the addresses that a BlockList finds in them', ({ family, address, bits }) => {
    fc.assert(
      fc.property(address, fc.nat(bits), address, fc.nat(bits), (base, prefix, other, flip) => {
        const blocked = new BlockList();
        blocked.addSubnet(base, prefix, family);
        const range = parseRange(`${base}/${prefix}`);
        if (range === undefined) throw new Error(`${base}/${prefix} was not read`);
        for (const one of [base, other, flipped(base, flip)]) {
          expect([one, inAnyRange([range], one)]).toEqual([one, blocked.check(one, family)]);
        }
      }),
      { numRuns: extent({ short: 500, full: 5_000 }) },
    );
  });

  it('never contain addresses of the other family', () => {
    const any = ['0.0.0.0/0', '::/0'].map(parseRange).filter((range) => range !== undefined);
    expect(any).toHaveLength(2);
    expect(inAnyRange(any.slice(0, 1), '::1')).toBe(false);
    expect(inAnyRange(any.slice(1), '10.0.0.1')).toBe(false);
  });

  it('match one address with all bits, and every address with none', () => {
    const holds = (range: string, address: string) => {
      const read = parseRange(range);
      return read && inAnyRange([read], address);
    };
    expect(holds('10.0.0.1/32', '10.0.0.1')).toBe(true);
    expect(holds('10.0.0.1/32', '10.0.0.2')).toBe(false);
    expect(holds('::1/128', '::1')).toBe(true);
    expect(holds('::1/128', '::2')).toBe(false);
    expect(holds('10.0.0.1', '10.0.0.1')).toBe(true);
    expect(holds('10.0.0.0/0', '255.255.255.255')).toBe(true);
    expect(holds('10.0.0.0/8', 'no address')).toBe(false);
  });

  it('match nothing with an invalid prefix', () => {
    for (const text of [
      '10.0.0.0/33',
      '10.0.0.0/',
      '10.0.0.0/-1',
      '10.0.0.0/8.5',
      '10.0.0.0/1e1',
      '10.0.0.0/8x',
      '10.0.0.0/8/8',
      '::/129',
      '10.0.0/8',
      '/8',
      '',
    ]) {
      expect(parseRange(text)).toBeUndefined();
    }
  });
});

/** The address with one bit inverted, because mistakes concern neighbours. */
function flipped(address: string, bit: number): string {
  const groups = new Uint16Array(8);
  const count = parseAddress(address, groups);
  const at = Math.min(bit, count * 16 - 1);
  groups[at >> 4] = (groups[at >> 4] ?? 0) ^ (1 << (15 - (at & 15)));
  const used = [...groups.subarray(0, count)];
  return count === 2
    ? used.flatMap((pair) => [pair >> 8, pair & 0xff]).join('.')
    : used.map((one) => one.toString(16)).join(':');
}

describe('a search for any of many texts', () => {
  const short = fc.string({ unit: fc.constantFrom('a', 'b', 'é', '\u{1f600}'), minLength: 1, maxLength: 6 });
  const long = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 65, maxLength: 70 });

  it('finds the same items as a linear search', () => {
    const parts = fc.array(fc.oneof({ weight: 20, arbitrary: short }, long), { minLength: 100, maxLength: 150 });
    const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'é', '\u{1f600}'), maxLength: 80 });
    const property = fc.property(parts, text, (all, within) => {
      // Few of them, so that not every text has one.
      const rare = all.map((part, at) => (at < 3 ? part : `${part}#${at}`));
      expect(createTextSearch(rare)(within)).toBe(rare.some((part) => within.includes(part)));
    });
    fc.assert(property, { numRuns: 500 });
  });

  it('finds an empty text in every text', () => {
    const parts = ['', ...Array.from({ length: 200 }, (_, at) => `x${at}`)];
    expect([createTextSearch(parts)(''), createTextSearch(parts)('y'), createTextSearch([])('y')]).toEqual([
      true,
      true,
      false,
    ]);
  });
});

describe('a context value of more than 4,096 characters', () => {
  const LONGEST = 'a'.repeat(4096);
  const TOO_LONG = `${LONGEST}a`;

  function onFor(contextName: string) {
    const problems: EvaluationProblem[] = [];
    const constraints = [{ contextName, operator: 'STR_STARTS_WITH', values: ['a'] }];
    const flags = [flag({ strategies: [{ name: 'default', constraints }] })];
    const snapshot = snapshotOf(flags, { onProblem: (problem) => problems.push(problem) });
    return { snapshot, problems };
  }

  it.each<[string, (value: string) => EvaluationContext]>([
    ['userId', (userId) => ({ userId })],
    ['sessionId', (sessionId) => ({ sessionId })],
    ['remoteAddress', (remoteAddress) => ({ remoteAddress })],
    ['environment', (environment) => ({ environment, properties: {} })],
    ['appName', (appName) => ({ appName })],
    ['currentTime', (currentTime) => ({ currentTime })],
    ['plan', (plan) => ({ properties: { plan } })],
    ['list', (text) => ({ properties: { list: [text] } })],
    ['userId', (userId) => ({ properties: { userId } })],
  ])('is treated as absent, and reported once: %s', (field, contextOf) => {
    const { snapshot, problems } = onFor(field);
    expect(snapshot.isEnabled('checkout', contextOf(LONGEST))).toBe(true);
    expect(problems).toEqual([]);
    for (let calls = 0; calls < 3; calls++) {
      const context = contextOf(TOO_LONG);
      expect(snapshot.isEnabled('checkout', context)).toBe(false);
      expect(snapshot.getVariant('checkout', context).flagEnabled).toBe(false);
      expect(snapshot.evaluate('checkout', context)?.enabled).toBe(false);
      expect(snapshot.explain('checkout', context).strategies[0]?.constraints[0]).not.toHaveProperty('value');
    }
    const message = `The context field ${field} has more than 4096 characters and counts as absent.`;
    expect(problems).toEqual([{ code: 'context_value_too_long', message }]);
  });

  it('does not identify a user for rollouts and variants', () => {
    const sticky = flag({ strategies: [rollout(100, { stickiness: 'userId' })] });
    expect(snapshotOf([sticky]).isEnabled('checkout', { userId: TOO_LONG })).toBe(false);
    const drawn = flag({ strategies: [{ name: 'default' }], variants: weighted(1, 1) });
    const explained = snapshotOf([drawn]).explain('checkout', { userId: TOO_LONG, sessionId: 'ada' });
    expect(explained.variantChoice).toMatchObject({ id: 'ada', random: false });
  });

  it('is not used as the current time', () => {
    const constraints = [{ contextName: 'currentTime', operator: 'DATE_AFTER', value: '2026-01-01T00:00:00Z' }];
    const flags = [flag({ strategies: [{ name: 'default', constraints }] })];
    const snapshot = snapshotOf(flags, { now: () => Date.parse('2026-06-01T00:00:00Z') });
    expect(snapshot.isEnabled('checkout', { currentTime: TOO_LONG })).toBe(true);
    expect(snapshot.isEnabled('checkout', { currentTime: 'a'.repeat(1000) })).toBe(false);
  });

  it.each([
    ['NUM_GT', '0', '1'.repeat(300)],
    ['SEMVER_GT', '0.0.1', `1.0.0-${'1'.repeat(300)}`],
  ])('is not an operand, with a lower limit: %s', (operator, value, text) => {
    const constraints = [{ contextName: 'userId', operator, value }];
    const snapshot = snapshotOf([flag({ strategies: [{ name: 'default', constraints }] })]);
    expect(snapshot.isEnabled('checkout', { userId: text })).toBe(false);
    expect(snapshot.isEnabled('checkout', { userId: text.slice(0, 200) })).toBe(true);
  });

  it('is never converted from an array with more items', () => {
    let conversions = 0;
    const item = { toString: () => `${conversions++}` };
    const { snapshot } = onFor('list');
    expect(snapshot.isEnabled('checkout', { properties: { list: new Array(5000).fill(item) } })).toBe(false);
    expect(conversions).toBe(0);
  });
});
