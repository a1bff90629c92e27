import type { Explained } from '../../app/api/types.js';
import { describeConstraint, describeStrategy, nameSegmentsBy } from '../../app/model/describe.js';
import { cutToDifference } from '../../app/model/differences.js';
import { partsOf, plannedDifferences, strategyNames, wordsOf } from '../../app/model/history.js';
import { refusalText } from '../../app/model/refusal.js';
import { DAY, sumByPeriod, sumByVariant } from '../../app/model/usage.js';
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

it('names segments, strategies and weights in the history, never their ids', () => {
  nameSegmentsBy((segment) => (segment === 3 ? 'EU customers' : undefined));
  const id = '792d0000-0000-4000-8000-000000000000';
  const titled = {
    id: '892d0000-0000-4000-8000-000000000000',
    name: 'default',
    title: 'Staff',
    constraints: [],
    parameters: {},
  };
  const rollout = { id, name: 'flexibleRollout', constraints: [], parameters: {} };
  const environments = [{ name: 'production', enabled: true, strategies: [titled, rollout] }];
  const place = `/environments/production/strategies/${id}`;
  expect(
    partsOf(
      {
        kind: 'flag',
        id: 'checkout',
        parts: [
          { path: `${place}/segments`, before: [], after: [3, 4] },
          { path: `${place.replace(id, titled.id)}/parameters/userIds`, before: '1', after: null },
          { path: '/variants/blue/weight', before: 500, after: 333 },
        ],
      },
      strategyNames([], environments),
    ).map(({ what, before, after }) => [what, before, after]),
  ).toEqual([
    ['production · strategy 2, Gradual rollout · segments', 'empty', 'EU customers, segment 4'],
    ['production · Staff · userIds', '1', undefined],
    ['variants · blue · weight', '50 %', '33.3 %'],
  ]);
  // Of a strategy that is gone, the events still have the kind.
  expect(wordsOf(place, strategyNames([{ data: null, preData: rollout }], []))).toBe('production · Gradual rollout');
  expect(wordsOf(place)).toBe('production · a strategy');
});

afterEach(() => nameSegmentsBy(() => undefined));

it('cuts long texts to where they differ', () => {
  const same = 'Words that stay as they are. '.repeat(20);
  const { before, after } = cutToDifference(`${same}One end.`, `${same}Another end.`);
  expect(before).toMatch(/^….{30,50}One end\.$/);
  expect(after).toMatch(/^….{30,50}Another end\.$/);
  expect(cutToDifference('short', 'shorter')).toEqual({ before: 'short', after: 'shorter' });
  expect(cutToDifference(`${same}one${same}`, `${same}two${same}`)).toEqual({
    before: expect.stringMatching(/^….{40}one.{40}…$/),
    after: expect.stringMatching(/^….{40}two.{40}…$/),
  });
  expect(cutToDifference(undefined, 'x'.repeat(500)).after).toBe(`${'x'.repeat(400)}…`);
});

it.each([
  [[], 'The flag name a is taken.', 'The flag name a is taken.'],
  [
    [{ path: '/changes/0/input/name', message: 'must be short' }],
    'The input is not valid: /changes/0/input/name must be short',
    'The input is not valid: name must be short',
  ],
  [
    [{ path: '/changes/0/input/1/name', message: 'must be short' }],
    'The input is not valid: /changes/0/input/1/name must be short',
    'The input is not valid: variant 2, name must be short',
  ],
  [
    [
      { path: '/changes/0/input/strategies/1/constraints/0/value', message: 'must not be empty' },
      { path: '/changes/0/input/labels', message: 'must be unique' },
    ],
    'The input is not valid: /changes/0/input/strategies/1/constraints/0/value must not be empty; and 1 more',
    'The input is not valid: strategy 2, constraint 1, value must not be empty; and 1 more · labels must be unique',
  ],
])('says the refusal %j without a pointer', (details, message, words) => {
  expect(refusalText({ details, message })).toBe(words);
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
  expect(sumByPeriod(rows, 3, now)).toEqual([
    { yes: 4, no: 1 },
    { yes: 0, no: 0 },
    { yes: 3, no: 2 },
  ]);
});

it.each(['__proto__', 'constructor', 'toString'])('says the name of a strategy called %s', (name) => {
  expect(describeStrategy({ name, parameters: {}, constraints: [] })).toBe(name);
});

describe('the differences of a plan', () => {
  const strategy = { id: 's1', name: 'default', constraints: [], parameters: {} };
  const off = { environments: [] };
  const on = { environments: [{ name: 'live', enabled: true, strategies: [strategy] }] };
  const flag = (id: string, before: unknown, after: unknown) => ({ kind: 'flag', id, before, after });
  const said = (documents: Parameters<typeof plannedDifferences>[0]) =>
    plannedDifferences(documents).map(({ place, what, before, after }) => [place, what, before, after]);

  it('are said part by part, also where nothing was stored before', () => {
    const dependent = { ...off, dependencies: [{ flag: 'parent', enabled: true, variants: [] }] };
    expect(said([flag('a', off, on)])).toEqual([
      ['', 'live · enabled', 'off', 'on'],
      ['', 'live · strategy 1, Everyone', undefined, 'Everyone'],
    ]);
    expect(said([flag('a', dependent, off)])).toEqual([['', 'dependencies · parent', 'on', undefined]]);
  });

  it('name several flags, and leave out what the title says', () => {
    const archived = { ...on, archived: true, archivedAt: '2026-01-01T00:00:00.000Z' };
    expect(said([flag('a', on, archived), flag('b', null, on), flag('c', archived, on)])).toEqual([
      ['a', 'archived', undefined, 'yes'],
      ['c', 'archived', 'yes', undefined],
    ]);
  });
});

it('sums usage by day and by variant', () => {
  const now = Date.parse('2026-01-03T05:30:00.000Z');
  const row = { feature: 'a', environment: 'production', appName: 'shop', no: 1 };
  const rows = [
    { ...row, day: '2026-01-03T00:00:00.000Z', yes: 3, variants: { blue: 2, disabled: 1 } },
    { ...row, day: '2026-01-01T00:00:00.000Z', yes: 9, variants: { green: 6, blue: 3 } },
  ];
  expect(sumByPeriod(rows, 3, now, DAY).map(({ yes }) => yes)).toEqual([9, 0, 3]);
  expect(sumByVariant(rows)).toEqual([
    ['green', 6],
    ['blue', 5],
  ]);
});
