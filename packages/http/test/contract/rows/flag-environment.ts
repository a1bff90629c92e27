import type { Row, Step } from '../row.js';
import { inOrder } from '../row.js';
import {
  archived,
  CHECKOUT,
  checkout,
  FEATURES,
  FLAG,
  PRODUCTION,
  PROJECTS,
  ROLLOUT,
  shop,
  strategyId,
  UNKNOWN_FLAG,
  withStrategy,
  withVariants,
} from '../states.js';

const ENVIRONMENT = `${FLAG}/environments/production`;
const ORDER = `${ENVIRONMENT}/strategies/set-sort-order`;
const FIRST = { id: strategyId(1), ...ROLLOUT, constraints: [] };
const SECOND = { id: strategyId(2), name: 'default', constraints: [], parameters: {} };

const withTwo: Step = inOrder(withStrategy, (flags) => flags.addStrategy(PRODUCTION, { name: 'default' }));

const reads = [
  [
    'getFlagEnvironment',
    '',
    withTwo,
    { name: 'checkout', environment: 'production', enabled: false, strategies: [FIRST, SECOND] },
  ],
  ['listStrategies', '/strategies', withTwo, [FIRST, SECOND]],
  ['getStrategy', `/strategies/${strategyId(2)}`, withTwo, SECOND],
  [
    'listVariants',
    '/variants',
    withVariants,
    {
      version: '1',
      variants: [
        { name: 'blue', weightType: 'fix', weight: 100, stickiness: 'default', overrides: [] },
        { name: 'green', weightType: 'variable', weight: 900, stickiness: 'default', overrides: [] },
      ],
    },
  ],
] as const;

const readRows: readonly Row[] = reads.flatMap(([endpoint, place, given, body]): Row[] => {
  const at = (flag: string, environment = 'production') => ({
    method: 'GET' as const,
    path: `${flag}/environments/${environment}${place}`,
  });
  return [
    {
      endpoint,
      name: 'shows the configuration of the flag in the environment',
      given,
      request: at(FLAG),
      expect: { status: 200, unchanged: true, body, headers: { etag: '-' } },
    },
    {
      endpoint,
      name: 'answers for an archived flag',
      given: inOrder(given, (flags) => flags.archiveFlag(CHECKOUT)),
      request: at(FLAG),
      expect: { status: 200, unchanged: true, body },
    },
    {
      endpoint,
      name: 'does not find an unknown environment',
      given,
      request: at(FLAG, 'unknown'),
      expect: { status: 404, code: 'environment_not_found' },
    },
    {
      endpoint,
      name: 'does not find an unknown flag',
      given,
      request: at(UNKNOWN_FLAG),
      expect: { status: 404, code: 'flag_not_found' },
    },
    {
      endpoint,
      name: 'does not find a flag of another project',
      given: inOrder(given, shop),
      request: at(`${FEATURES}/basket`),
      expect: { status: 404, code: 'flag_not_found' },
    },
    {
      endpoint,
      name: 'does not find an unknown project',
      given,
      request: at(`${PROJECTS}/unknown/features/checkout`),
      expect: { status: 404, code: 'project_not_found' },
    },
  ];
});

function order(name: string, body: unknown, expected: Row['expect'], changes: Partial<Row> = {}): Row {
  return {
    endpoint: 'orderStrategies',
    name,
    given: withTwo,
    request: { method: 'POST', path: ORDER, body },
    expect: expected,
    ...changes,
  };
}

const REVERSED = [
  { id: strategyId(1), sortOrder: 1 },
  { id: strategyId(2), sortOrder: 0 },
];
const INVALID = { status: 400, code: 'invalid_input' } as const;

const orderRows: readonly Row[] = [
  order('orders the strategies, with one event for each that moves', REVERSED, {
    status: 200,
    body: null,
    afterwards: async (flags) => {
      const { strategies = [] } = (await flags.getFlag(CHECKOUT)).environments[1] ?? {};
      expect(strategies.map(({ id }) => id)).toEqual([strategyId(2), strategyId(1)]);
      const { items: events } = await flags.events.list({ type: 'strategy-updated' });
      expect(events).toHaveLength(2);
      expect(new Set(events.map(({ changeSet }) => changeSet)).size).toBe(1);
    },
  }),
  order(
    'changes nothing when the order is the same',
    REVERSED,
    { status: 200, body: null, unchanged: true },
    {
      given: inOrder(withTwo, (flags) => flags.orderStrategies(PRODUCTION, REVERSED)),
    },
  ),
  order('refuses all when one strategy is unknown', [...REVERSED, { id: strategyId(9), sortOrder: 2 }], {
    status: 404,
    code: 'strategy_not_found',
  }),
  order('refuses a strategy that is named twice', [...REVERSED, ...REVERSED], INVALID),
  order('refuses a sortOrder that is not an integer', [{ id: strategyId(1), sortOrder: '1' }], INVALID),
  order('refuses a strategy without a sortOrder', [{ id: strategyId(1) }], INVALID),
  order('refuses a body that is not a list', { id: strategyId(1), sortOrder: 1 }, INVALID),
  order('refuses an archived flag', REVERSED, { status: 409, code: 'flag_archived' }, { given: archived }),
  ...(
    [
      ['environment', `${FLAG}/environments/unknown`, 'environment_not_found'],
      ['flag', `${UNKNOWN_FLAG}/environments/production`, 'flag_not_found'],
      ['project', `${PROJECTS}/unknown/features/checkout/environments/production`, 'project_not_found'],
    ] as const
  ).map(([what, place, code]) =>
    order(
      `does not find an unknown ${what}`,
      REVERSED,
      { status: 404, code },
      {
        request: { method: 'POST', path: `${place}/strategies/set-sort-order`, body: REVERSED },
      },
    ),
  ),
];

export const flagEnvironmentRows: readonly Row[] = [
  ...readRows,
  {
    endpoint: 'getStrategy',
    name: 'does not find an unknown strategy',
    given: checkout,
    request: { method: 'GET', path: `${ENVIRONMENT}/strategies/${strategyId(1)}` },
    expect: { status: 404, code: 'strategy_not_found' },
  },
  ...orderRows,
];
