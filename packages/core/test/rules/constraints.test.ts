import type { Constraint } from '../../src/index.js';
import { onEveryStorage } from './on-every-storage.js';
import { CHECKOUT, DEFAULT, PRODUCTION } from './references.js';
import { expectRefusal } from './refusal.js';

const LIST_OPERATORS = ['IN', 'NOT_IN', 'STR_CONTAINS', 'STR_STARTS_WITH', 'STR_ENDS_WITH'] as const;
const NUMBER_OPERATORS = ['NUM_EQ', 'NUM_GT', 'NUM_GTE', 'NUM_LT', 'NUM_LTE'] as const;
const DATE_OPERATORS = ['DATE_AFTER', 'DATE_BEFORE'] as const;
const VERSION_OPERATORS = ['SEMVER_EQ', 'SEMVER_GT', 'SEMVER_GTE', 'SEMVER_LT', 'SEMVER_LTE'] as const;

const USABLE: readonly Constraint[] = [
  ...LIST_OPERATORS.map((operator) => ({ contextName: 'userId', operator, values: ['7', ' '] })),
  ...NUMBER_OPERATORS.flatMap((operator) =>
    ['0', '-1', '1.5', '1e3'].map((value) => ({ contextName: 'age', operator, value })),
  ),
  ...DATE_OPERATORS.flatMap((operator) =>
    ['2026-01-01T00:00:00Z', '2026-01-01T00:00:00.123+02:00'].map((value) => ({ contextName: 'now', operator, value })),
  ),
  ...VERSION_OPERATORS.flatMap((operator) =>
    ['1.2.3', '1.0.0-alpha.1+build.5'].map((value) => ({ contextName: 'version', operator, value })),
  ),
  ...[
    '',
    '^a+$',
    '(?i)[[:alpha:]]{2,5}\\d',
    '(?P<year>[0-9]{4})',
    '\\Qa(\\E',
    '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}',
  ].map((value) => ({ contextName: 'email', operator: 'REGEX' as const, value })),
  {
    contextName: 'remoteAddress',
    operator: 'IN_CIDR',
    values: ['10.0.0.0/8', '192.0.2.7', '0.0.0.0/0', '2001:db8::/32', '::1', '::ffff:192.0.2.7/128'],
  },
  { contextName: 'userId', operator: 'IN', values: ['7'], inverted: true, caseInsensitive: true },
];

const UNUSABLE: readonly [unknown, string][] = [
  ...LIST_OPERATORS.map((operator): [unknown, string] => [{ contextName: 'a', operator }, '/constraints/0']),
  ...LIST_OPERATORS.flatMap((operator): [unknown, string][] => [
    [{ contextName: 'a', operator, values: [] }, '/constraints/0/values'],
    [{ contextName: 'a', operator, values: ['a', ''] }, '/constraints/0/values/1'],
  ]),
  ...NUMBER_OPERATORS.map((operator): [unknown, string] => [{ contextName: 'a', operator }, '/constraints/0']),
  ...['', 'many', 'NaN', 'Infinity', '1,5'].map((value): [unknown, string] => [
    { contextName: 'a', operator: 'NUM_GT', value },
    '/constraints/0/value',
  ]),
  ...['', 'today', '2026-13-01T00:00:00Z', '2026-02-30T00:00:00Z'].map((value): [unknown, string] => [
    { contextName: 'a', operator: 'DATE_AFTER', value },
    '/constraints/0/value',
  ]),
  ...['', '1', '1.2', 'v1.2.3', '01.2.3', '1.2.3-'].map((value): [unknown, string] => [
    { contextName: 'a', operator: 'SEMVER_GT', value },
    '/constraints/0/value',
  ]),
  ...['(', 'a{1001}', '(?=a)', '(a)\\1', '*', '((a{30}){30}){30}', '(a{1,999})?'.repeat(2), 'a'.repeat(1001)].map(
    (value): [unknown, string] => [{ contextName: 'a', operator: 'REGEX', value }, '/constraints/0/value'],
  ),
  [{ contextName: 'a', operator: 'REGEX', values: ['a'] }, '/constraints/0/value'],
  ...[
    '',
    '10.0.0',
    '10.0.0.0/33',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    '10.0.0.0/-1',
    '::/129',
    'fe80::1%eth0',
    'localhost',
  ].map((value): [unknown, string] => [
    { contextName: 'a', operator: 'IN_CIDR', values: ['::1', value] },
    '/constraints/0/values/1',
  ]),
  [{ contextName: 'a', operator: 'IN_CIDR', value: '::1' }, '/constraints/0/values'],
  [{ contextName: 'a', operator: 'IN', values: '7' }, '/constraints/0/values'],
  [{ contextName: 'a', operator: 'IN', values: [7] }, '/constraints/0/values/0'],
  [{ contextName: 'a', operator: 'IN', values: ['7'], other: 1 }, '/constraints/0'],
  [{ contextName: 'a', operator: 'IN', values: ['7'], inverted: 'no' }, '/constraints/0/inverted'],
  [{ contextName: 'a', operator: 'LIKE', values: ['7'] }, '/constraints/0/operator'],
  [{ contextName: 'a', operator: 'constructor', values: ['7'] }, '/constraints/0/operator'],
  [{ contextName: 5, operator: 'IN', values: ['7'] }, '/constraints/0/contextName'],
  [{ operator: 'IN', values: ['7'] }, '/constraints/0'],
  [{}, '/constraints/0'],
  [null, '/constraints/0'],
];

onEveryStorage((start) => {
  describe('a constraint', () => {
    it.each(USABLE)('is kept and given back: $operator $value', async (constraint) => {
      const flags = await start();
      await flags.createFlag(DEFAULT, { name: 'checkout' });
      const added = await flags.addStrategy(PRODUCTION, { name: 'default', constraints: [constraint] });
      expect(added.constraints).toMatchObject([constraint]);
      expect((await flags.getFlag(CHECKOUT)).environments[1]?.strategies).toEqual([added]);
    });

    it.each(UNUSABLE)('is refused, with its place: %j', async (constraint, place) => {
      const flags = await start();
      await flags.createFlag(DEFAULT, { name: 'checkout' });
      const input = { name: 'default', constraints: [constraint] as Constraint[] };
      const error = await expectRefusal(flags, 'invalid_input', () => flags.addStrategy(PRODUCTION, input));
      expect(error.details.some(({ path }) => path?.startsWith(place))).toBe(true);
    });
  });
});
