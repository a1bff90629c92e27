import fc from 'fast-check';
import type {
  ConstraintDefinition,
  DependencyDefinition,
  FlagDefinition,
  SegmentDefinition,
  StrategyDefinition,
  VariantDefinition,
} from '../../src/evaluation/definitions.types.js';
import type { EvaluationContext } from '../../src/evaluation/evaluation.types.js';
import { CONSTRAINT_OPERATORS, type OperandKind, operandOf } from '../../src/evaluation/operators.js';

/**
 * Documents and contexts as a service would have them, including odd values. They draw nothing at random in an
 * evaluation: two engines, or two evaluations, can be compared.
 */
export const FLAG_NAMES = ['checkout', 'search', 'banner', 'export', 'beta.pricing'] as const;
export const SEGMENT_IDS = [1, 2, 3] as const;

const ids = fc.oneof(fc.constantFrom('1', '42', 'ada', 'grace@example.com', 'user-7919'), fc.string({ maxLength: 24 }));
/** The SDK takes blanks in definitions for values: see the differences from it. */
const isNotBlank = (text: string) => text.trim() !== '';
const listedIds = ids.filter(isNotBlank);
const addresses = fc.constantFrom('10.1.2.3', '192.168.0.7', '127.0.0.1', '2001:db8::1', '::1', 'not-an-address', '');
const versions = fc.constantFrom(
  '1.2.3',
  '1.2.10',
  '2.0.0-alpha.1',
  '2.0.0-alpha',
  '2.0.0',
  '1.2',
  'v1.2.3',
  '1.0.0+a',
);
const numbers = fc.constantFrom('0', '12', '12.0', '-1', '1e3', '0x10', '', ' ', 'abc', 'Infinity', 'NaN');
const words = fc.constantFrom('no', 'se', 'NO', 'premium', 'example.com', ' no ', '  ', '', 'user');
const listedWords = words.filter(isNotBlank);
const dates = fc.constantFrom('2001-01-01T00:00:00.000Z', '2199-01-01', '2020-06-01T12:00:00+02:00', 'never', '');
const patterns = fc.constantFrom('^user', '[0-9]+', '(?i)NO$', '(a+)+$', '(broken', '\\d{2,}', '', '^(?=a)b$');
const ranges = fc.constantFrom(
  '10.0.0.0/12',
  '10.1.2.0/29',
  '2001:db8::/45',
  '192.168.0.7',
  '192.168.0.0/16',
  '0.0.0.0/0',
  '2001:db8::/32',
  '::1',
  '10.0.0.0/33',
);
const fields = fc.constantFrom(
  'userId',
  'sessionId',
  'environment',
  'appName',
  'remoteAddress',
  'plan',
  'age',
  'version',
  'nothing',
);

const OPERANDS: Record<OperandKind, fc.Arbitrary<Partial<ConstraintDefinition>>> = {
  texts: fc.record({ values: fc.array(fc.oneof(listedWords, listedIds, versions), { maxLength: 4 }) }),
  networks: fc.record({ values: fc.array(fc.oneof(ranges, addresses), { maxLength: 3 }) }),
  number: fc.record({ value: numbers }),
  moment: fc.record({ value: dates }),
  version: fc.record({ value: versions.filter((version) => !version.startsWith('v')) }),
  pattern: fc.record({ value: patterns }),
};
const operands: readonly (readonly [string, fc.Arbitrary<Partial<ConstraintDefinition>>])[] = [
  ...CONSTRAINT_OPERATORS.map((operator) => [operator, OPERANDS[operandOf(operator) ?? 'texts']] as const),
  ['NOT_AN_OPERATOR', fc.record({ values: fc.array(words, { maxLength: 2 }), value: words })],
];

const constraint: fc.Arbitrary<ConstraintDefinition> = fc
  .constantFrom(...operands)
  .chain(([operator, operand]) =>
    fc
      .record({ contextName: fields, inverted: fc.boolean(), caseInsensitive: fc.boolean(), operand })
      .map(({ operand: own, ...rest }) => ({ operator, ...rest, ...own })),
  );

const percentages = fc.oneof(fc.constantFrom('0', '100', 'abc', '', '-5', '33.5'), fc.integer({ min: 0, max: 100 }));
const surePercentages = fc.constantFrom('0', '100', 0, 100);
const groupIds = fc.constantFrom('checkout', 'a', 'ab', 'abc', 'abcd', '');

const parametrized = fc.oneof(
  fc.record({ name: fc.constant('default'), parameters: fc.constant({}) }),
  fc.record({
    name: fc.constant('flexibleRollout'),
    parameters: fc.record({
      rollout: percentages,
      groupId: groupIds,
      stickiness: fc.constantFrom('default', '', 'userId', 'sessionId', 'plan', 'age', 'nothing'),
    }),
  }),
  fc.record({
    name: fc.constant('flexibleRollout'),
    parameters: fc.record({ rollout: surePercentages, groupId: groupIds, stickiness: fc.constant('random') }),
  }),
  fc.record({
    name: fc.constantFrom('gradualRolloutUserId', 'gradualRolloutSessionId'),
    parameters: fc.record({ percentage: percentages, groupId: groupIds }),
  }),
  fc.record({ name: fc.constant('gradualRolloutRandom'), parameters: fc.record({ percentage: surePercentages }) }),
  fc.record({
    name: fc.constant('userWithId'),
    parameters: fc.record({ userIds: fc.array(listedIds, { maxLength: 4 }).map((list) => list.join(' , ')) }),
  }),
  fc.record({
    name: fc.constant('remoteAddress'),
    parameters: fc.record({
      IPs: fc.array(fc.oneof(ranges, addresses).filter(isNotBlank), { maxLength: 3 }).map((list) => list.join(', ')),
    }),
  }),
  fc.record({
    name: fc.constant('applicationHostname'),
    parameters: fc.record({ hostNames: fc.constantFrom('host-A', 'other, HOST-a', 'other', '') }),
  }),
  fc.record({ name: fc.constant('notAStrategy'), parameters: fc.constant({}) }),
);

const payload = fc.record({
  type: fc.constantFrom('string' as const, 'json' as const),
  value: fc.string({ maxLength: 8 }),
});
const overrides = fc.array(
  fc.record({ contextName: fields, values: fc.array(fc.oneof(listedWords, listedIds), { maxLength: 2 }) }),
  {
    maxLength: 2,
  },
);
const variants: fc.Arbitrary<VariantDefinition[]> = fc.constantFrom('default', 'clientId').chain((stickiness) =>
  fc.uniqueArray(
    fc.record(
      {
        name: fc.constantFrom('red', 'green', 'blue'),
        weight: fc.constantFrom(0, 1, 10, 333, 1000),
        stickiness: fc.constant(stickiness),
        payload,
        overrides,
      },
      { requiredKeys: ['name', 'weight', 'stickiness'] },
    ),
    { maxLength: 3, selector: ({ name }) => name },
  ),
);

const constraints = fc.array(constraint, { maxLength: 3 });

const strategy: fc.Arbitrary<StrategyDefinition> = fc
  .tuple(
    parametrized,
    fc.record(
      // The fourth segment never exists.
      { constraints, segments: fc.uniqueArray(fc.constantFrom(...SEGMENT_IDS, 4), { maxLength: 2 }), variants },
      { requiredKeys: [] },
    ),
  )
  .map(([one, rest]) => ({ ...one, ...rest }));

const dependency: fc.Arbitrary<DependencyDefinition> = fc.record(
  {
    flag: fc.constantFrom(...FLAG_NAMES, 'missing'),
    enabled: fc.boolean(),
    variants: fc.array(fc.constantFrom('red', 'green', 'disabled'), { maxLength: 2 }),
  },
  { requiredKeys: ['flag'] },
);

export function arbitraryFlag(name: fc.Arbitrary<string>): fc.Arbitrary<FlagDefinition> {
  return fc.record(
    {
      name,
      enabled: fc.oneof({ weight: 5, arbitrary: fc.constant(true) }, { weight: 1, arbitrary: fc.constant(false) }),
      strategies: fc.array(strategy, { maxLength: 3 }),
      variants,
      dependencies: fc.oneof(
        { weight: 3, arbitrary: fc.constant([]) },
        { weight: 1, arbitrary: fc.array(dependency, { maxLength: 2 }) },
      ),
    },
    { requiredKeys: ['name', 'enabled', 'strategies'] },
  );
}

export const arbitrarySegment: fc.Arbitrary<SegmentDefinition> = fc.record({
  id: fc.constantFrom(...SEGMENT_IDS),
  constraints,
});

export const arbitraryFlags: fc.Arbitrary<FlagDefinition[]> = fc
  .tuple(...FLAG_NAMES.map((name) => fc.option(arbitraryFlag(fc.constant(name)), { freq: 8, nil: undefined })))
  .map((flags) => flags.filter((flag) => flag !== undefined));

export const arbitrarySegments: fc.Arbitrary<SegmentDefinition[]> = fc.uniqueArray(arbitrarySegment, {
  maxLength: 3,
  selector: ({ id }) => id,
});

const propertyValue = fc.oneof(
  words,
  versions,
  numbers,
  ids,
  fc.integer(),
  fc.boolean(),
  fc.constantFrom(null, undefined),
);

/** There is always an id to hash: a user or a session, and a `clientId`. */
export const arbitraryContext: fc.Arbitrary<EvaluationContext> = fc
  .tuple(
    fc.oneof(
      fc.record({ userId: ids.filter(Boolean) }),
      fc.record({ sessionId: ids.filter(Boolean) }),
      fc.record({ userId: ids, sessionId: ids.filter(Boolean) }),
    ),
    fc.record(
      {
        remoteAddress: addresses,
        environment: words,
        appName: words,
        currentTime: fc.oneof(dates, fc.constant(new Date('2024-02-03T04:05:06Z'))),
      },
      { requiredKeys: [] },
    ),
    fc.record({ plan: propertyValue, age: propertyValue, version: propertyValue }, { requiredKeys: [] }),
  )
  .map(([somebody, rest, properties]) => ({
    ...somebody,
    ...rest,
    properties: { ...properties, clientId: 'client-7' },
  }));
