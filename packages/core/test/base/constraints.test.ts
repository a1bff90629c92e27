import { CONSTRAINT_OPERATORS } from '../../src/flags/strategy.types.js';
import { validate } from './default-validators.js';
import { faultsOf, pathsOf } from './facts.js';

function constrained(constraint: unknown): unknown {
  return { name: 'default', constraints: [{ contextName: 'x', operator: 'IN', values: ['a'] }, constraint] };
}

const LISTS = ['IN', 'NOT_IN', 'STR_CONTAINS', 'STR_STARTS_WITH', 'STR_ENDS_WITH'];
const NUMBERS = ['NUM_EQ', 'NUM_GT', 'NUM_GTE', 'NUM_LT', 'NUM_LTE'];
const DATES = ['DATE_AFTER', 'DATE_BEFORE'];
const VERSIONS = ['SEMVER_EQ', 'SEMVER_GT', 'SEMVER_GTE', 'SEMVER_LT', 'SEMVER_LTE'];
const SINGLE: readonly (readonly [string, string, string])[] = [
  ...NUMBERS.map((operator) => [operator, '-1.5e3', 'many'] as const),
  ...NUMBERS.map((operator) => [operator, '0', '1e400'] as const),
  ...DATES.map((operator) => [operator, '2026-03-01T12:00:00+01:00', '2026-02-30'] as const),
  ...VERSIONS.map((operator) => [operator, '1.2.3-rc.1', '1.2'] as const),
];

describe('a constraint', () => {
  it('has one of the known operators, each with rules of its own', () => {
    expect([...LISTS, ...NUMBERS, ...DATES, ...VERSIONS, 'REGEX', 'IN_CIDR'].toSorted()).toEqual(
      [...CONSTRAINT_OPERATORS].toSorted(),
    );
    expect(faultsOf(validate.strategy, constrained({ contextName: 'x', operator: 'in', values: [] }))).toEqual([
      { message: `must be one of ${CONSTRAINT_OPERATORS.join(', ')}`, path: '/constraints/1/operator' },
    ]);
  });

  it.each(LISTS)('takes a list for %s', (operator) => {
    const constraint = { contextName: 'x', operator };
    expect(faultsOf(validate.strategy, constrained({ ...constraint, values: ['a', ' '] }))).toEqual([]);
    expect(faultsOf(validate.strategy, constrained({ ...constraint, values: ['', 'a', ''] }))).toEqual([
      { message: 'must not be empty', path: '/constraints/1/values/0' },
      { message: 'must not be empty', path: '/constraints/1/values/2' },
    ]);
    expect(faultsOf(validate.strategy, constrained({ ...constraint, values: [] }))).toEqual([
      { message: 'must have at least one value', path: '/constraints/1/values' },
    ]);
    expect(faultsOf(validate.strategy, constrained({ ...constraint, value: 'a' }))).toEqual([
      { message: `is required for ${operator}`, path: '/constraints/1/values' },
    ]);
    expect(pathsOf(validate.strategy, constrained({ ...constraint, values: ['a', 7] }))).toEqual([
      '/constraints/1/values/1',
    ]);
  });

  it.each(SINGLE)('takes one fitting value for %s, such as %s, not %s', (operator, fitting, unfitting) => {
    const constraint = { contextName: 'x', operator };
    expect(faultsOf(validate.strategy, constrained({ ...constraint, value: fitting }))).toEqual([]);
    expect(pathsOf(validate.strategy, constrained({ ...constraint, value: unfitting }))).toEqual([
      '/constraints/1/value',
    ]);
    expect(pathsOf(validate.strategy, constrained({ ...constraint, value: '' }))).toEqual(['/constraints/1/value']);
    expect(pathsOf(validate.strategy, constrained({ ...constraint, value: 7 }))).toEqual(['/constraints/1/value']);
    expect(faultsOf(validate.strategy, constrained({ ...constraint, values: [fitting] }))).toEqual([
      { message: `is required for ${operator}`, path: '/constraints/1/value' },
    ]);
  });

  it('takes a pattern for REGEX', () => {
    const constraint = { contextName: 'x', operator: 'REGEX' };
    expect(faultsOf(validate.strategy, constrained({ ...constraint, value: '^a+$' }))).toEqual([]);
    expect(pathsOf(validate.strategy, constrained({ ...constraint, value: '(?=a)' }))).toEqual([
      '/constraints/1/value',
    ]);
    expect(faultsOf(validate.strategy, constrained({ ...constraint, values: ['a'] }))).toEqual([
      { message: 'is required for REGEX', path: '/constraints/1/value' },
    ]);
  });

  it('takes addresses and networks for IN_CIDR, and tells each that is none', () => {
    const constraint = { contextName: 'x', operator: 'IN_CIDR' };
    expect(faultsOf(validate.strategy, constrained({ ...constraint, values: ['10.0.0.0/8', '::1'] }))).toEqual([]);
    expect(pathsOf(validate.strategy, constrained({ ...constraint, values: ['here', '::1', '10.0.0.0/33'] }))).toEqual([
      '/constraints/1/values/0',
      '/constraints/1/values/2',
    ]);
    expect(faultsOf(validate.strategy, constrained({ ...constraint, values: [] }))).toEqual([
      { message: 'must have at least one value', path: '/constraints/1/values' },
    ]);
    expect(faultsOf(validate.strategy, constrained({ ...constraint, value: '::1' }))).toEqual([
      { message: 'is required for IN_CIDR', path: '/constraints/1/values' },
    ]);
  });

  it.each<[string, object, string]>([
    ['no context field', { operator: 'IN', values: ['a'] }, '/constraints/1/contextName'],
    ['an empty context field', { contextName: '', operator: 'IN', values: ['a'] }, '/constraints/1/contextName'],
    ['no operator', { contextName: 'x', values: ['a'] }, '/constraints/1/operator'],
    ['an unknown member', { contextName: 'x', operator: 'IN', values: ['a'], extra: 1 }, '/constraints/1/extra'],
    [
      'inverted as text',
      { contextName: 'x', operator: 'IN', values: ['a'], inverted: 'true' },
      '/constraints/1/inverted',
    ],
    ['null', { contextName: 'x', operator: 'IN', values: null }, '/constraints/1/values'],
  ])('is refused for %s', (_, constraint, path) => {
    expect(pathsOf(validate.strategy, constrained(constraint))).toEqual([path]);
  });
});
