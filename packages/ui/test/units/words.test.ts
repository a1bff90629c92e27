import type { Explained } from '../../app/api/types.js';
import { describeConstraint, describeStrategy } from '../../app/model/describe.js';
import { sumByHour } from '../../app/model/usage.js';
import { why } from '../../app/words.js';

it.each([
  [{ contextName: 'c', operator: 'IN', values: ['DE', 'AT'] }, 'is one of DE, AT'],
  [{ contextName: 'c', operator: 'IN', values: ['DE'], inverted: true }, 'is not one of DE'],
  [{ contextName: 'c', operator: 'NUM_GTE', value: '3', values: [] }, '≥ 3'],
  [
    { contextName: 'c', operator: 'STR_CONTAINS', values: ['a', 'b', 'c', 'd', 'e'], caseInsensitive: true },
    'contains a, b, c and 2 more (any case)',
  ],
  [{ contextName: 'c', operator: 'FUTURE', values: ['x'] }, 'FUTURE x'],
])('says %j as "%s"', (constraint, words) => {
  expect(describeConstraint(constraint)).toBe(words);
});

it('says a strategy in one line', () => {
  const constraints = [{ contextName: 'country', operator: 'IN', values: ['DE'] }];
  expect(
    describeStrategy({
      name: 'flexibleRollout',
      parameters: { rollout: '25', groupId: 'g' },
      constraints,
      segments: [3],
    }),
  ).toBe('Gradual rollout 25 %, segment 3, country is one of DE');
  expect(describeStrategy({ name: 'userWithId', parameters: { userIds: '1,2' }, constraints: [] })).toBe(
    'User IDs, userIds 1, 2',
  );
});

const flag: Explained = {
  name: 'checkout',
  project: 'default',
  enabled: false,
  reason: 'no_strategy_holds',
  variant: { name: 'disabled', enabled: false, feature_enabled: false },
  dependencies: [],
  strategies: [],
};
const rollout = { groupId: 'checkout', random: false };
const strategy = { name: 'flexibleRollout', holds: false, disabled: false, constraints: [], segments: [] };

it.each<[Partial<Explained>, string]>([
  [{ reason: 'disabled' }, 'disabled'],
  [
    { reason: 'dependency', dependencies: [{ dependency: { feature: 'payments' }, holds: false }] },
    'depends on payments',
  ],
  [{ strategies: [{ ...strategy, rollout: { ...rollout, holds: false, rollout: 25, bucket: 61 } }] }, 'bucket 61 > 25'],
  [
    { strategies: [{ ...strategy, segments: [{ id: 3, holds: false, found: true, constraints: [] }] }] },
    'not in segment 3',
  ],
  [
    {
      strategies: [
        {
          ...strategy,
          constraints: [{ constraint: { contextName: 'country', operator: 'IN', values: ['DE'] }, holds: false }],
        },
      ],
    },
    'no country',
  ],
  [
    {
      enabled: true,
      reason: 'strategy',
      strategies: [{ ...strategy, holds: true, rollout: { ...rollout, holds: true, rollout: 100, bucket: 12 } }],
    },
    'rollout, bucket 12 ≤ 100',
  ],
])('explains %j as "%s"', (change, words) => {
  expect(why({ ...flag, ...change })).toBe(words);
});

it('sums usage by hour, the oldest first, with zeros where nothing was reported', () => {
  const now = Date.parse('2026-01-01T05:30:00.000Z');
  const row = { feature: 'a', environment: 'production', appName: 'shop', no: 1 };
  const rows = [
    { ...row, hour: '2026-01-01T05:00:00.000Z', yes: 1 },
    { ...row, hour: '2026-01-01T05:00:00.000Z', yes: 2, appName: 'other' },
    { ...row, hour: '2026-01-01T03:00:00.000Z', yes: 4 },
    { ...row, hour: '2025-12-31T03:00:00.000Z', yes: 8 },
  ];
  expect(sumByHour(rows, 3, now)).toEqual([
    { yes: 4, no: 1 },
    { yes: 0, no: 0 },
    { yes: 3, no: 2 },
  ]);
});

it.each(['__proto__', 'constructor', 'toString'])('says the name of a strategy called %s', (name) => {
  expect(describeStrategy({ name, parameters: {}, constraints: [] })).toBe(name);
});
