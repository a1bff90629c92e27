import fc from 'fast-check';
import { extent } from '../../../../test/extent.js';
import type { FlagDefinition, SegmentDefinition, StrategyDefinition } from '../../src/evaluation/definitions.types.js';
import type { EvaluationContext } from '../../src/evaluation/evaluation.types.js';
import type { Snapshot } from '../../src/evaluation/snapshot.js';
import {
  arbitraryContext,
  arbitraryFlag,
  arbitraryFlags,
  arbitrarySegments,
  FLAG_NAMES,
} from './arbitrary-documents.js';
import { flag, rollout, snapshotOf, weighted, withConstraint, withStrategy } from './one-flag.js';

describe('an explanation', () => {
  const inDev = { contextName: 'environment', operator: 'IN', values: ['dev'] };
  const forAda = { name: 'userWithId', parameters: { userIds: 'ada' } };

  it('has the same result as the evaluation', () => {
    fc.assert(
      fc.property(arbitraryFlags, arbitrarySegments, arbitraryContext, (flags, segments, context) => {
        const snapshot = snapshotOf(flags, { segments });
        for (const name of FLAG_NAMES) {
          const { enabled, variant, strategies, dependencies } = snapshot.explain(name, context);
          expect(snapshot.isEnabled(name, context)).toBe(enabled);
          expect(snapshot.getVariant(name, context)).toEqual(variant);
          for (const strategy of strategies.slice(0, -1)) expect(strategy.holds).toBe(false);
          for (const dependency of dependencies.slice(0, -1)) expect(dependency.holds).toBe(true);
        }
      }),
      { numRuns: extent({ short: 150, full: 2_500 }) },
    );
  });

  it.each<[string, StrategyDefinition]>([
    [
      'a constraint that never looks at it',
      { name: 'default', constraints: [{ contextName: 'userId', operator: 'DATE_BEFORE', value: '2100-01-01' }] },
    ],
    ['a rollout to everybody', rollout(100)],
    ['a rollout to nobody', rollout(0)],
  ])('has the same result if an unreadable field is not needed: %s', (_, strategy) => {
    const snapshot = withStrategy(strategy);
    const unreadable = {
      get userId(): string {
        throw new Error('unreadable');
      },
    };
    const { enabled, reason } = snapshot.explain('checkout', unreadable);
    expect(enabled).toBe(snapshot.isEnabled('checkout', unreadable));
    expect(reason).not.toBe('unreadable_context');
  });

  it('names a strategy and a parameter that are not known', () => {
    const unknownOf = (strategy: StrategyDefinition) =>
      withStrategy(strategy)
        .explain('checkout')
        .strategies.map(({ unknown }) => unknown);
    expect(unknownOf({ name: 'flexibleRolout' })).toEqual([['unknown here: never on']]);
    expect(unknownOf({ name: 'flexibleRollout', parameters: { rolout: 5 } })).toEqual([['unknown parameter rolout']]);
    expect(unknownOf({ name: 'default' })).toEqual([undefined]);
  });

  it('names what has no effect, or another one than it seems to have', () => {
    const unknownOf = (strategy: StrategyDefinition, problems: string[] = []) =>
      withStrategy(strategy, { onProblem: ({ code, message }) => problems.push(`${code} ${message}`) })
        .explain('checkout')
        .strategies.map(({ unknown }) => unknown);
    const on = (operator: string, contextName: string) => [
      { contextName, operator, value: '2026-01-01', values: ['a'], caseInsensitive: true },
    ];
    const problems: string[] = [];
    expect(unknownOf({ name: 'default', constraints: on('DATE_AFTER', 'trialEnd') }, problems)).toEqual([
      ['DATE_AFTER compares currentTime, not trialEnd', 'DATE_AFTER always compares case'],
    ]);
    expect(problems).toEqual([
      'no_effect checkout: DATE_AFTER compares currentTime, not trialEnd.',
      'no_effect checkout: DATE_AFTER always compares case.',
    ]);
    for (const operator of ['IN', 'NOT_IN', 'NUM_EQ', 'SEMVER_EQ', 'IN_CIDR']) {
      expect(unknownOf({ name: 'default', constraints: on(operator, 'plan') })).toEqual([
        [`${operator} always compares case`],
      ]);
    }
    for (const operator of ['STR_CONTAINS', 'STR_STARTS_WITH', 'STR_ENDS_WITH', 'REGEX']) {
      expect(unknownOf({ name: 'default', constraints: on(operator, 'plan') })).toEqual([undefined]);
    }
    for (const [stickiness, meant] of [
      ['USERID', 'userId'],
      ['Default', 'default'],
      ['sessionID ', 'sessionId'],
    ]) {
      expect(unknownOf(rollout(100, { stickiness: `${stickiness}` }))).toEqual([
        [`stickiness ${stickiness} instead of ${meant}: never on`],
      ]);
      const variants = [{ name: 'a', weight: 1, stickiness: `${stickiness}` }];
      expect(unknownOf({ name: 'default', variants })).toEqual([
        [`variants with stickiness ${stickiness} instead of ${meant}: by chance`],
      ]);
    }
    for (const stickiness of ['default', 'random', 'userId', 'plan', '']) {
      expect(unknownOf(rollout(100, { stickiness }))).toEqual([undefined]);
    }
  });

  it('lists the decisions in their order, up to the last needed', () => {
    const strategies = [
      { ...forAda, constraints: [inDev, { contextName: 'appName', operator: 'IN', values: ['shop'] }] },
      { ...forAda, segments: [1, 2] },
      { name: 'default', disabled: true },
      forAda,
      { name: 'default' },
    ];
    const snapshot = snapshotOf([flag({ name: 'parent' }), flag({ strategies, dependencies: [{ flag: 'parent' }] })], {
      segments: [{ id: 1, constraints: [{ ...inDev, values: ['prod'] }] }],
    });
    const userId = 'ada';
    const environment = 'prod';
    expect(snapshot.explain('checkout', { userId, environment })).toEqual({
      flag: 'checkout',
      enabled: true,
      reason: 'strategy',
      variant: { name: 'disabled', enabled: false, flagEnabled: true },
      dependencies: [{ dependency: { flag: 'parent', enabled: true, variants: [] }, holds: true }],
      strategies: [
        {
          name: 'userWithId',
          holds: false,
          disabled: false,
          constraints: [{ constraint: inDev, value: environment, holds: false }],
          segments: [],
        },
        {
          name: 'userWithId',
          holds: false,
          disabled: false,
          constraints: [],
          segments: [
            {
              id: 1,
              found: true,
              holds: true,
              constraints: [{ constraint: { ...inDev, values: ['prod'] }, value: environment, holds: true }],
            },
            { id: 2, found: false, holds: false, constraints: [] },
          ],
        },
        { name: 'default', holds: false, disabled: true, constraints: [], segments: [] },
        { name: 'userWithId', holds: true, disabled: false, constraints: [], segments: [], test: true },
      ],
    });
  });

  it.each([
    ['unknown_flag', []],
    ['broken_flag', [flag({ strategies: 7 as never })]],
    ['dependency', [flag({ dependencies: [{ flag: 'missing' }] })]],
    ['disabled', [flag({ enabled: false })]],
    ['no_strategies', [flag({ strategies: [] })]],
    ['strategy', [flag()]],
    ['no_strategy_holds', [flag({ strategies: [forAda] })]],
  ])('names the deciding reason: %s', (reason, flags) => {
    expect(snapshotOf(flags).explain('checkout')).toMatchObject({ reason, flag: 'checkout' });
  });

  it('has no decisions where none was needed', () => {
    const variant = { name: 'disabled', enabled: false, flagEnabled: false };
    const undecided = { flag: 'checkout', enabled: false, variant, dependencies: [], strategies: [] };
    expect(snapshotOf([]).explain('checkout')).toEqual({ ...undecided, reason: 'unknown_flag' });
    expect(snapshotOf([flag({ enabled: false })]).explain('checkout')).toEqual({ ...undecided, reason: 'disabled' });
    const on = snapshotOf([flag({ strategies: [] })]).explain('checkout');
    expect(on).toMatchObject({ enabled: true, dependencies: [], strategies: [] });
  });

  it('shows the hash and the percentage of a rollout', () => {
    const strategy = rollout(50);
    const explained = (context: object) => withStrategy(strategy, { random: () => 0.7 }).explain('checkout', context);
    expect(explained({ userId: 'ada' }).strategies[0]?.rollout).toEqual({
      holds: expect.any(Boolean),
      groupId: 'checkout',
      id: 'ada',
      bucket: expect.any(Number),
      random: false,
      rollout: 50,
    });
    expect(explained({}).strategies[0]?.rollout).toMatchObject({ bucket: 71, random: true, holds: false });
    const { bucket = 0 } = explained({ userId: 'ada' }).strategies[0]?.rollout ?? {};
    expect(withStrategy(rollout(bucket)).isEnabled('checkout', { userId: 'ada' })).toBe(true);
    expect(withStrategy(rollout(bucket - 1)).isEnabled('checkout', { userId: 'ada' })).toBe(false);
  });

  it('has no bucket where a missing id means off', () => {
    const explained = withStrategy(rollout(100, { stickiness: 'team' })).explain('checkout', {});
    expect(explained.strategies[0]?.rollout).toEqual({
      holds: false,
      groupId: 'checkout',
      random: false,
      rollout: 100,
    });
  });

  it('shows how the variant was chosen', () => {
    const overridden = { contextName: 'userId', values: ['bob'] };
    const variants = [...weighted(1, 2), { name: 'special', weight: 0, overrides: [overridden] }];
    const snapshot = snapshotOf([flag({ variants })]);
    expect(snapshot.explain('checkout', { userId: 'ada' }).variantChoice).toMatchObject({
      overridden: false,
      groupId: 'checkout',
      stickiness: 'default',
      id: 'ada',
      random: false,
      totalWeight: 3,
    });
    const special = { name: 'special', enabled: true, flagEnabled: true };
    expect(snapshot.explain('checkout', { userId: 'bob' }).variantChoice).toEqual({
      variant: special,
      overridden: true,
    });
  });

  it('draws once if the result is random', () => {
    let draws = 0;
    const random = () => {
      draws++;
      return 0.3;
    };
    const snapshot = withStrategy(rollout(50, { stickiness: 'random' }), { random });
    expect(snapshot.explain('checkout').enabled).toBe(true);
    expect(draws).toBe(1);
  });
});

const throwing = () => {
  throw new Error('do not touch');
};

const dangerousKeys = ['__proto__', 'constructor', 'toString', 'valueOf', 'length', 'then', 'userId', 'name'];

const MONSTERS: readonly unknown[] = [
  Symbol('s'),
  10n,
  Number.NaN,
  () => 'x',
  Object.create(null),
  JSON.parse('{"__proto__":{"userId":"ada"}}'),
  { toString: throwing, valueOf: throwing },
  { [Symbol.toPrimitive]: throwing },
  Object.defineProperty({}, 'name', { get: throwing, enumerable: true }),
  new Proxy({}, { get: throwing, has: throwing, ownKeys: throwing, getOwnPropertyDescriptor: throwing }),
  deep(20_000),
  cyclic(),
  'x'.repeat(100_000),
  ','.repeat(20_000),
  new Date(Number.NaN),
];

function deep(depth: number): unknown {
  let value: unknown = [];
  for (let level = 0; level < depth; level++) value = [value];
  return value;
}

function cyclic(): unknown {
  const cycle: unknown[] = [];
  cycle.push(cycle, { cycle });
  return cycle;
}

/** Values are wrapped, because some of them throw when fast-check inspects them. */
type Wrapped<Value> = () => Value;
const wrapped =
  <Value>(value: Value): Wrapped<Value> =>
  () =>
    value;

const anything: fc.Arbitrary<Wrapped<unknown>> = fc.oneof(
  { weight: 2, arbitrary: fc.jsonValue().map(wrapped) },
  { weight: 2, arbitrary: fc.constantFrom(...MONSTERS.map(wrapped)) },
  { weight: 1, arbitrary: fc.anything({ withBigInt: true, withMap: true, withNullPrototype: true }).map(wrapped) },
  { weight: 1, arbitrary: fc.dictionary(fc.constantFrom(...dangerousKeys), fc.jsonValue()).map(wrapped) },
);

/** A value in which one member, at any depth, is replaced. */
function spoilt<Value>(value: fc.Arbitrary<Value>): fc.Arbitrary<Wrapped<Value>> {
  const path = fc.array(fc.nat(7), { minLength: 12, maxLength: 12 });
  return fc.tuple(value, path, anything).map(([whole, turns, monster]) => wrapped(spoil(whole, turns, monster())));
}

function spoil<Value>(value: Value, [turn = 0, ...turns]: readonly number[], monster: unknown): Value {
  const keys = typeof value === 'object' && value !== null ? Object.keys(value) : [];
  const key = keys[turn % (keys.length + 1)];
  if (key === undefined) return monster as Value;
  const copy = (Array.isArray(value) ? [...value] : { ...value }) as Record<string, unknown>;
  copy[key] = spoil(copy[key], turns, monster);
  return copy as Value;
}

function expectAnswers(snapshot: Snapshot, name: string, context: EvaluationContext): void {
  const enabled = snapshot.isEnabled(name, context);
  const variant = snapshot.getVariant(name, context);
  const explanation = snapshot.explain(name, context);
  expect(typeof enabled).toBe('boolean');
  expect(variant.flagEnabled).toBe(enabled);
  expect(explanation.enabled).toBe(enabled);
  expect(snapshot.evaluate(name, context)?.enabled ?? false).toBe(enabled);
}

describe('evaluation', () => {
  const random = () => 0;

  it('does not throw for any content of a flag', () => {
    const flags = fc.array(spoilt(arbitraryFlag(fc.constantFrom(...FLAG_NAMES))), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(flags, arbitraryContext, (definitions, context) => {
        const snapshot = snapshotOf(
          definitions.map((definition) => definition()),
          { random },
        );
        for (const name of FLAG_NAMES) expectAnswers(snapshot, name, context);
      }),
      { numRuns: extent({ short: 150, full: 2_500 }) },
    );
  });

  it('does not throw for any flags and segments', () => {
    fc.assert(
      fc.property(fc.array(anything), fc.array(anything), (flags, segments) => {
        const snapshot = snapshotOf(
          flags.map((one) => one() as FlagDefinition),
          { segments: segments.map((one) => one() as SegmentDefinition) },
        );
        for (const name of snapshot.names()) expectAnswers(snapshot, name, {});
      }),
    );
  });

  it('does not throw for any context', () => {
    const contexts = fc.oneof(spoilt(arbitraryContext), anything);
    fc.assert(
      fc.property(arbitraryFlags, contexts, (definitions, context) => {
        const snapshot = snapshotOf(definitions, { random });
        for (const name of FLAG_NAMES) expectAnswers(snapshot, name, context() as EvaluationContext);
      }),
      { numRuns: extent({ short: 150, full: 2_500 }) },
    );
  });

  it('does not throw for a context whose members throw: the flag is off', () => {
    const context = Object.defineProperty({}, 'userId', { get: throwing });
    const snapshot = snapshotOf([flag({ strategies: [rollout(50)], variants: weighted(1) })]);
    expectAnswers(snapshot, 'checkout', context);
    expect(snapshot.isEnabled('checkout', context)).toBe(false);
  });

  it('does not throw for names that are not strings', () => {
    const snapshot = snapshotOf([flag()]);
    for (const name of [undefined, null, 7, Symbol('s'), {}]) {
      expect(snapshot.isEnabled(name as unknown as string)).toBe(false);
    }
  });
});

describe('a broken flag', () => {
  it.each([
    ['strategies that are not a list', { strategies: {} as never }],
    ['enabled that is not a boolean', { enabled: 'yes' as never }],
    ['a strategy that is null', { strategies: [null as never] }],
    ['a weight that is not a number', { variants: [{ name: 'a', weight: '1' as never }] }],
    ['a weight that is not a whole number', { variants: [{ name: 'a', weight: 0.5 }] }],
    ['weights beyond all bounds', { variants: weighted(...new Array(3_000).fill(1_000_000)) }],
    ['dependencies that are not a list', { dependencies: 'parent' as never }],
  ])('is off: %s', (_, changes) => {
    const snapshot = snapshotOf([flag(changes), flag({ name: 'sound' })]);
    expect(snapshot.isEnabled('checkout', {}, true)).toBe(false);
    expect(snapshot.explain('checkout').reason).toBe('broken_flag');
    expect(snapshot.isEnabled('sound')).toBe(true);
  });
});

describe('a long text', () => {
  // A quadratic algorithm would take hours.
  const long = 2_000_000;

  it('is read once in lists of ids', () => {
    const strategy = { name: 'userWithId', parameters: { userIds: `a${' '.repeat(long)}b, c` } };
    expect(snapshotOf([flag({ strategies: [strategy] })]).isEnabled('checkout', { userId: 'c' })).toBe(true);
  });

  it.each([
    ['SEMVER_GT', { value: '1.0.0' }, `1.0.0-${'0a.'.repeat(long / 4)}!`],
    ['IN_CIDR', { values: ['::/0'] }, ':0'.repeat(long)],
    ['NUM_EQ', { value: '1' }, '1'.repeat(long)],
    ['REGEX', { value: '(.*)(.*)(.*)x' }, 'y'.repeat(long / 20)],
  ])('is read once in values for %s', (operator, operand, field) => {
    const snapshot = withConstraint({ contextName: 'field', operator, ...operand });
    expect(snapshot.isEnabled('checkout', { properties: { field } })).toBe(false);
  });
});
