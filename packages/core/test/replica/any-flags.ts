import fc from 'fast-check';
import type { Constraint, EvaluationContext, StrategyInput, VariantInput } from '../../src/index.js';

const FIELDS = ['userId', 'sessionId', 'region', '__proto__', 'age', 'currentTime'] as const;
const TEXTS = ['', 'ada', 'bob', '7', '10', '1.2.3', '2026-01-01', '10.0.0.1', 'é😀', 'constructor'] as const;
const USERS = ['ada', 'bob', '7', 'é😀'] as const;

const someText = fc.constantFrom(...TEXTS);
const switches = { inverted: fc.boolean(), caseInsensitive: fc.boolean() };

/** Constraints that the administration accepts. */
const someConstraint: fc.Arbitrary<Constraint> = fc.oneof(
  fc.record({
    ...switches,
    contextName: fc.constantFrom(...FIELDS),
    operator: fc.constantFrom('IN', 'NOT_IN', 'STR_CONTAINS', 'STR_STARTS_WITH', 'STR_ENDS_WITH'),
    values: fc.array(fc.constantFrom(...TEXTS.slice(1)), { minLength: 1, maxLength: 3 }),
  }),
  operand(['NUM_EQ', 'NUM_GT', 'NUM_GTE', 'NUM_LT', 'NUM_LTE'], ['7', '8.5']),
  operand(['DATE_AFTER', 'DATE_BEFORE'], ['2026-01-01', '2020-02-29T10:00:00Z']),
  operand(['SEMVER_EQ', 'SEMVER_GT', 'SEMVER_GTE', 'SEMVER_LT', 'SEMVER_LTE'], ['1.2.3', '2.0.0-beta.1']),
  operand(['REGEX'], ['^a', '[0-9]+$']),
);

function operand(operators: readonly Constraint['operator'][], values: readonly string[]): fc.Arbitrary<Constraint> {
  return fc.record({
    ...switches,
    contextName: fc.constantFrom(...FIELDS),
    operator: fc.constantFrom(...operators),
    value: fc.constantFrom(...values),
  });
}

/** There is always a user, so that no variant is drawn at random, and two evaluations must agree. */
const stickiness = fc.constantFrom('default', 'userId');

const someOwnTest = fc.oneof(
  fc.constant({ name: 'default' }),
  fc.constant({ name: 'unheard-of' }),
  fc.record({
    name: fc.constant('userWithId'),
    parameters: fc.record({ userIds: fc.constantFrom('ada', 'ada, bob', '') }),
  }),
  fc.record({ name: fc.constant('remoteAddress'), parameters: fc.constant({ IPs: '10.0.0.0/8' }) }),
  fc.record({
    name: fc.constant('flexibleRollout'),
    parameters: fc.record({
      rollout: fc.constantFrom<string | number>(0, 30, '70', 100),
      groupId: fc.constantFrom('one', 'two'),
      stickiness: fc.constantFrom('userId', 'region'),
    }),
  }),
);

const someStrategyVariants = fc.array(
  fc.record({
    name: fc.constantFrom('red', 'amber'),
    weightType: fc.constant('variable' as const),
    weight: fc.constantFrom(0, 500, 1000),
    stickiness,
  }),
  { maxLength: 2 },
);

export const someStrategies: fc.Arbitrary<readonly StrategyInput<string>[]> = fc.array(
  fc
    .record({
      own: someOwnTest,
      constraints: fc.array(someConstraint, { maxLength: 2 }),
      segments: fc.constantFrom<readonly number[]>([], [1], [2], [1, 2]),
      disabled: fc.boolean(),
      variants: someStrategyVariants,
    })
    .map(({ own, ...rest }) => ({ ...own, ...rest })),
  { minLength: 1, maxLength: 3 },
);

export const someVariants: fc.Arbitrary<readonly VariantInput[]> = fc.uniqueArray(
  fc.record({
    name: fc.constantFrom('blue', 'green', 'yellow'),
    stickiness,
    overrides: fc.array(
      fc.record({
        contextName: fc.constantFrom(...FIELDS),
        values: fc.array(fc.constantFrom(...TEXTS.slice(1)), { maxLength: 2 }),
      }),
      { maxLength: 1 },
    ),
  }),
  { selector: ({ name }) => name, maxLength: 3 },
);

export const someConstraints = fc.array(someConstraint, { maxLength: 2 });

/** The ids for stickiness `default`. There is always a user, so that nothing is drawn at random. */
export const someContext: fc.Arbitrary<EvaluationContext> = fc.record(
  {
    userId: fc.constantFrom(...USERS),
    sessionId: someText,
    remoteAddress: fc.constantFrom('10.0.0.1', '192.168.0.1', 'nowhere'),
    currentTime: fc.constantFrom('2026-03-01T12:00:00.000Z', '2010-01-01', 'no date'),
    properties: fc.dictionary(
      fc.constantFrom(...FIELDS),
      fc.oneof(someText, fc.integer(), fc.boolean(), fc.constant(null)),
    ),
  },
  { requiredKeys: ['userId', 'currentTime'] },
);
