import type { Row } from '../row.js';
import { inOrder } from '../row.js';
import {
  archived,
  CHECKOUT,
  checkout,
  DEFAULT,
  enabled,
  FEATURES,
  FLAG,
  PRODUCTION,
  PROJECTS,
  ROLLOUT,
  shop,
  strategyId,
  UNKNOWN_FLAG,
  withStrategy,
} from '../states.js';

const STRATEGIES = `${FLAG}/environments/production/strategies`;
const FIRST = `${STRATEGIES}/${strategyId(1)}`;
const CONSTRAINT = { contextName: 'userId', operator: 'IN', values: ['7'] };

function faulty(name: string, body: unknown, path: string): Row[] {
  const detail = expect.objectContaining({ path });
  const expected = {
    status: 400,
    code: 'invalid_input',
    body: expect.objectContaining({ details: expect.arrayContaining([detail]) }),
  } as const;
  return [
    {
      endpoint: 9,
      name: `refuses ${name}`,
      given: checkout,
      request: { method: 'POST', path: STRATEGIES, body },
      expect: expected,
    },
    {
      endpoint: 10,
      name: `refuses ${name}`,
      given: withStrategy,
      request: { method: 'PUT', path: FIRST, body },
      expect: expected,
    },
  ];
}

function constrained(constraint: unknown): unknown {
  return { name: 'default', constraints: [constraint] };
}

const inputRows: readonly Row[] = [
  {
    endpoint: 9,
    name: 'refuses a body without a name',
    given: checkout,
    request: { method: 'POST', path: STRATEGIES, body: {} },
    expect: { status: 400, code: 'invalid_input' },
  },
  {
    endpoint: 10,
    name: 'keeps the name when the body has none',
    given: withStrategy,
    request: { method: 'PUT', path: FIRST, body: { parameters: { rollout: 7 } } },
    expect: {
      status: 200,
      body: expect.objectContaining({ name: 'flexibleRollout', parameters: { rollout: 7 }, constraints: [] }),
    },
  },
  {
    endpoint: 10,
    name: 'validates parameters by the name that is kept',
    given: withStrategy,
    request: { method: 'PUT', path: FIRST, body: { parameters: { rollout: 101 } } },
    expect: { status: 400, code: 'invalid_input' },
  },
  {
    endpoint: 9,
    name: 'returns a constraint without values with an empty list',
    given: checkout,
    request: {
      method: 'POST',
      path: STRATEGIES,
      body: constrained({ contextName: 'version', operator: 'SEMVER_GTE', value: '1.2.3' }),
    },
    expect: {
      status: 200,
      body: expect.objectContaining({
        constraints: [{ contextName: 'version', operator: 'SEMVER_GTE', value: '1.2.3', values: [] }],
      }),
    },
  },
  ...faulty('a segment that does not exist', { name: 'default', segments: [999] }, '/segments/0'),
  ...faulty('segment 0', { name: 'default', segments: [0] }, '/segments/0'),
  ...faulty('an empty list of values', constrained({ ...CONSTRAINT, values: [] }), '/constraints/0/values'),
  ...faulty('a rollout beyond 100', { name: 'flexibleRollout', parameters: { rollout: 101 } }, '/parameters/rollout'),
  ...faulty('a parameter that is a list', { name: 'own', parameters: { a: [] } }, '/parameters/a'),
  ...faulty('an unknown operator', constrained({ ...CONSTRAINT, operator: 'LIKE' }), '/constraints/0/operator'),
  ...faulty(
    'an unusable number',
    constrained({ contextName: 'a', operator: 'NUM_GT', value: 'many' }),
    '/constraints/0/value',
  ),
  ...faulty(
    'an unusable date',
    constrained({ contextName: 'a', operator: 'DATE_AFTER', value: 'then' }),
    '/constraints/0/value',
  ),
  ...faulty(
    'an unusable version',
    constrained({ contextName: 'a', operator: 'SEMVER_EQ', value: '1' }),
    '/constraints/0/value',
  ),
];

const addRows: readonly Row[] = [
  {
    endpoint: 9,
    name: 'adds a strategy, with an id and the defaults',
    given: checkout,
    request: { method: 'POST', path: STRATEGIES, body: { name: 'default' } },
    expect: { status: 200, body: { id: strategyId(1), name: 'default', parameters: {}, constraints: [] } },
  },
  {
    endpoint: 9,
    name: 'returns parameters and optional members as they were sent',
    given: checkout,
    request: {
      method: 'POST',
      path: STRATEGIES,
      body: {
        name: 'own',
        parameters: { a: '1', b: 2, c: true, d: null },
        constraints: [CONSTRAINT],
        title: 'T',
        sortOrder: 1,
      },
    },
    expect: {
      status: 200,
      body: {
        id: strategyId(1),
        name: 'own',
        parameters: { a: '1', b: 2, c: true, d: null },
        constraints: [CONSTRAINT],
        title: 'T',
        sortOrder: 1,
      },
    },
  },
  {
    endpoint: 9,
    name: 'keeps null parameters',
    given: checkout,
    request: { method: 'POST', path: STRATEGIES, body: { name: 'own', parameters: null } },
    expect: { status: 200, body: expect.objectContaining({ parameters: null }) },
  },
];

const changeRows: readonly Row[] = [
  {
    endpoint: 10,
    name: 'replaces a strategy, whose id stays',
    given: withStrategy,
    request: { method: 'PUT', path: FIRST, body: { name: 'own' } },
    expect: { status: 200, body: { id: strategyId(1), name: 'own', parameters: {}, constraints: [] } },
  },
  {
    endpoint: 11,
    name: 'replaces a parameter',
    given: withStrategy,
    request: { method: 'PATCH', path: FIRST, body: [{ op: 'replace', path: '/parameters/rollout', value: 50 }] },
    expect: {
      status: 200,
      body: { id: strategyId(1), ...ROLLOUT, parameters: { ...ROLLOUT.parameters, rollout: 50 }, constraints: [] },
    },
  },
  {
    endpoint: 11,
    name: 'keeps the id',
    given: withStrategy,
    request: { method: 'PATCH', path: FIRST, body: [{ op: 'replace', path: '/id', value: 'other' }] },
    expect: { status: 200, unchanged: true, body: expect.objectContaining({ id: strategyId(1) }) },
  },
  {
    endpoint: 11,
    name: 'refuses a result that is not valid',
    given: withStrategy,
    request: { method: 'PATCH', path: FIRST, body: [{ op: 'replace', path: '/parameters/rollout', value: 101 }] },
    expect: { status: 400, code: 'invalid_input' },
  },
  {
    endpoint: 11,
    name: 'refuses a missing target',
    given: withStrategy,
    request: { method: 'PATCH', path: FIRST, body: [{ op: 'remove', path: '/parameters/none' }] },
    expect: { status: 400, code: 'invalid_patch' },
  },
  {
    endpoint: 11,
    name: 'applies nothing when a test fails',
    given: withStrategy,
    request: {
      method: 'PATCH',
      path: FIRST,
      body: [
        { op: 'replace', path: '/name', value: 'own' },
        { op: 'test', path: '/parameters/rollout', value: 26 },
      ],
    },
    expect: { status: 409, code: 'patch_test_failed' },
  },
  {
    endpoint: 12,
    name: 'removes a strategy',
    given: withStrategy,
    request: { method: 'DELETE', path: FIRST },
    expect: { status: 200, body: null },
  },
  {
    endpoint: 12,
    name: 'switches off with the last one',
    given: enabled,
    request: { method: 'DELETE', path: FIRST },
    expect: {
      status: 200,
      body: null,
      afterwards: async (flags) => {
        expect((await flags.getFlag(CHECKOUT)).environments[1]).toMatchObject({ enabled: false, strategies: [] });
        const { items: events } = await flags.events.list({ limit: 2 });
        expect(events.map(({ type }) => type)).toEqual(['environment-disabled', 'strategy-removed']);
      },
    },
  },
];

const OPERATIONS = [
  { endpoint: 9, method: 'POST', id: undefined, body: { name: 'default' } },
  { endpoint: 10, method: 'PUT', id: strategyId(1), body: { name: 'own' } },
  { endpoint: 11, method: 'PATCH', id: strategyId(1), body: [{ op: 'replace', path: '/name', value: 'own' }] },
  { endpoint: 12, method: 'DELETE', id: strategyId(1), body: undefined },
] as const;

const placeRows: readonly Row[] = OPERATIONS.flatMap(({ endpoint, method, id, body }): Row[] => {
  const at = (place: string) => ({ method, path: `${place}/strategies${id === undefined ? '' : `/${id}`}`, body });
  return [
    {
      endpoint,
      name: 'refuses an archived flag',
      given: archived,
      request: at(`${FLAG}/environments/production`),
      expect: { status: 409, code: 'flag_archived' },
    },
    {
      endpoint,
      name: 'does not find an unknown environment',
      given: withStrategy,
      request: at(`${FLAG}/environments/unknown`),
      expect: { status: 404, code: 'environment_not_found' },
    },
    {
      endpoint,
      name: 'does not find an unknown flag',
      given: withStrategy,
      request: at(`${UNKNOWN_FLAG}/environments/production`),
      expect: { status: 404, code: 'flag_not_found' },
    },
    {
      endpoint,
      name: 'does not find a flag of another project',
      given: shop,
      request: at(`${FEATURES}/basket/environments/production`),
      expect: { status: 404, code: 'flag_not_found' },
    },
    {
      endpoint,
      name: 'does not find an unknown project',
      given: withStrategy,
      request: at(`${PROJECTS}/unknown/features/checkout/environments/production`),
      expect: { status: 404, code: 'project_not_found' },
    },
  ];
});

const idRows: readonly Row[] = OPERATIONS.slice(1).flatMap(({ endpoint, method, body }): Row[] => [
  {
    endpoint,
    name: 'does not find an unknown strategy',
    given: withStrategy,
    request: { method, path: `${STRATEGIES}/${strategyId(9)}`, body },
    expect: { status: 404, code: 'strategy_not_found' },
  },
  {
    endpoint,
    name: 'does not find a strategy of another environment',
    given: withStrategy,
    request: { method, path: `${FLAG}/environments/development/strategies/${strategyId(1)}`, body },
    expect: { status: 404, code: 'strategy_not_found' },
  },
  {
    endpoint,
    name: 'does not find a strategy of another flag',
    given: inOrder(withStrategy, (flags) => flags.createFlag(DEFAULT, { name: 'other' })),
    request: { method, path: `${FEATURES}/other/environments/production/strategies/${strategyId(1)}`, body },
    expect: { status: 404, code: 'strategy_not_found' },
  },
  {
    endpoint,
    name: 'does not find a removed strategy',
    given: inOrder(withStrategy, (flags) => flags.removeStrategy({ ...PRODUCTION, strategy: strategyId(1) })),
    request: { method, path: FIRST, body },
    expect: { status: 404, code: 'strategy_not_found' },
  },
]);

export const strategyRows: readonly Row[] = [...inputRows, ...addRows, ...changeRows, ...placeRows, ...idRows];
