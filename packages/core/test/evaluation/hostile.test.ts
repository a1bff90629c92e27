import fc from 'fast-check';
import { extent } from '../../../../test/extent.js';
import type { FlagDefinition, SegmentDefinition } from '../../src/evaluation/definitions.types.js';
import type { EvaluationContext } from '../../src/evaluation/evaluated.types.js';
import type { Snapshot } from '../../src/evaluation/snapshot.js';
import { arbitraryContext, arbitraryFlag, arbitraryFlags, FLAG_NAMES } from './arbitrary-documents.js';
import { flag, rollout, snapshotOf, weighted, withConstraint } from './one-flag.js';

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

/** Values are wrapped: fast-check looks at those it generates, which some of these do not take well. */
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

/** A value with some member, at any depth, put in the place of what belongs there. */
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
  expect([true, false]).toContain(enabled);
  expect(variant.feature_enabled).toBe(enabled);
  expect(explanation.enabled).toBe(enabled);
  expect(snapshot.evaluate(name, context)?.enabled ?? false).toBe(enabled);
}

describe('evaluation never throws', () => {
  const random = () => 0;

  it('whatever a flag holds', () => {
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

  it('whatever is given for flags and segments', () => {
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

  it('whatever a context holds', () => {
    const contexts = fc.oneof(spoilt(arbitraryContext), anything);
    fc.assert(
      fc.property(arbitraryFlags, contexts, (definitions, context) => {
        const snapshot = snapshotOf(definitions, { random });
        for (const name of FLAG_NAMES) expectAnswers(snapshot, name, context() as EvaluationContext);
      }),
      { numRuns: extent({ short: 150, full: 2_500 }) },
    );
  });

  it('for a context whose members throw: the flag is off', () => {
    const context = Object.defineProperty({}, 'userId', { get: throwing });
    const snapshot = snapshotOf([flag({ strategies: [rollout(50)], variants: weighted(1) })]);
    expectAnswers(snapshot, 'checkout', context);
    expect(snapshot.isEnabled('checkout', context)).toBe(false);
  });

  it('for names that are not text', () => {
    const snapshot = snapshotOf([flag()]);
    for (const name of [undefined, null, 7, Symbol('s'), {}]) {
      expect(snapshot.isEnabled(name as unknown as string)).toBe(false);
    }
  });
});

describe('a broken flag', () => {
  it.each([
    ['strategies that are no list', { strategies: {} as never }],
    ['enabled that is no boolean', { enabled: 'yes' as never }],
    ['a strategy that is null', { strategies: [null as never] }],
    ['a weight that is no number', { variants: [{ name: 'a', weight: '1' as never }] }],
    ['a weight that is no whole number', { variants: [{ name: 'a', weight: 0.5 }] }],
    ['weights beyond all bounds', { variants: weighted(...new Array(3_000).fill(1_000_000)) }],
    ['dependencies that are no list', { dependencies: 'parent' as never }],
  ])('is off: %s', (_, changes) => {
    const snapshot = snapshotOf([flag(changes), flag({ name: 'sound' })]);
    expect(snapshot.isEnabled('checkout', {}, true)).toBe(false);
    expect(snapshot.explain('checkout').reason).toBe('broken_flag');
    expect(snapshot.isEnabled('sound')).toBe(true);
  });
});

describe('long texts are walked over once', () => {
  // With an algorithm that is quadratic in the length these would take hours.
  const long = 2_000_000;

  it('in lists of ids', () => {
    const strategy = { name: 'userWithId', parameters: { userIds: `a${' '.repeat(long)}b, c` } };
    expect(snapshotOf([flag({ strategies: [strategy] })]).isEnabled('checkout', { userId: 'c' })).toBe(true);
  });

  it.each([
    ['SEMVER_GT', { value: '1.0.0' }, `1.0.0-${'0a.'.repeat(long / 4)}!`],
    ['IN_CIDR', { values: ['::/0'] }, ':0'.repeat(long)],
    ['NUM_EQ', { value: '1' }, '1'.repeat(long)],
    ['REGEX', { value: '(.*)(.*)(.*)x' }, 'y'.repeat(long / 20)],
  ])('in values for %s', (operator, operand, field) => {
    const snapshot = withConstraint({ contextName: 'field', operator, ...operand });
    expect(snapshot.isEnabled('checkout', { properties: { field } })).toBe(false);
  });
});
