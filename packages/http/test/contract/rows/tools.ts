import { inOrder, type Row, type Step } from '../row.js';
import { archived, CHECKOUT, checkout, PROJECT, strategyId, withStrategy } from '../states.js';

const SEGMENTS = '/api/admin/segments';
const CONSTRAINT = { contextName: 'userId', operator: 'IN', values: ['7'] } as const;

const beta: Step = (flags) => flags.segments.create({ name: 'beta', constraints: [CONSTRAINT] });

const TYPE = {
  id: 'operational',
  name: 'operational',
  description: 'Potentially stale after 7 days.',
  lifetimeDays: 7,
};
const EVERYONE = {
  name: 'default',
  displayName: 'Everyone',
  description: 'On for everybody.',
  editable: false,
  deprecated: false,
  parameters: [],
};
const USER_ID = {
  name: 'userId',
  description: 'The user.',
  stickiness: true,
  sortOrder: 0,
  legalValues: [],
  createdAt: null,
};

const readRows: readonly Row[] = [
  {
    endpoint: 'listFlagTypes',
    name: 'lists the configured types',
    request: { method: 'GET', path: '/api/admin/feature-types' },
    expect: {
      status: 200,
      unchanged: true,
      body: { version: 1, types: expect.arrayContaining([TYPE, expect.objectContaining({ lifetimeDays: null })]) },
    },
  },
  {
    endpoint: 'listStrategyTypes',
    name: 'lists the built-in strategies',
    request: { method: 'GET', path: '/api/admin/strategies' },
    expect: {
      status: 200,
      unchanged: true,
      body: { version: 1, strategies: expect.arrayContaining([EVERYONE]) },
    },
  },
  {
    endpoint: 'getStrategyType',
    name: 'shows a built-in strategy with its parameters',
    request: { method: 'GET', path: '/api/admin/strategies/userWithId' },
    expect: {
      status: 200,
      unchanged: true,
      body: expect.objectContaining({
        name: 'userWithId',
        parameters: [{ name: 'userIds', type: 'list', description: 'Ids of users.', required: false }],
      }),
    },
  },
  ...['own', '__proto__'].map(
    (name): Row => ({
      endpoint: 'getStrategyType',
      name: `does not find ${name}`,
      request: { method: 'GET', path: `/api/admin/strategies/${name}` },
      expect: { status: 404, code: 'strategy_not_found' },
    }),
  ),
  {
    endpoint: 'listContextFields',
    name: 'lists the fields of every context',
    request: { method: 'GET', path: '/api/admin/context' },
    expect: { status: 200, unchanged: true, body: expect.arrayContaining([USER_ID]) },
  },
  ...['', '?project=default'].map(
    (query): Row => ({
      endpoint: 'listPermissions',
      name: `lists what the caller may do${query}`,
      request: { method: 'GET', path: `/api/admin/permissions${query}` },
      expect: {
        status: 200,
        unchanged: true,
        body: {
          version: 1,
          permissions: {
            root: expect.arrayContaining([
              { id: 1, name: 'CREATE_PROJECT', displayName: 'Create projects', type: 'root' },
            ]),
            project: expect.arrayContaining([expect.objectContaining({ name: 'CREATE_FEATURE', type: 'project' })]),
            environments: ['development', 'production'].map((name) => ({
              name,
              permissions: expect.arrayContaining([
                expect.objectContaining({ name: 'UPDATE_FEATURE_ENVIRONMENT', environment: name }),
              ]),
            })),
          },
        },
      },
    }),
  ),
  {
    endpoint: 'listPermissions',
    name: 'refuses a project without a name',
    request: { method: 'GET', path: '/api/admin/permissions?project=' },
    expect: { status: 400, code: 'invalid_input' },
  },
];

const validating: readonly Row[] = [
  {
    endpoint: 'validateSegmentName',
    name: 'accepts a name that is valid and free',
    given: beta,
    request: { method: 'POST', path: `${SEGMENTS}/validate`, body: { name: 'gamma' } },
    expect: { status: 200, body: null, unchanged: true },
  },
  {
    endpoint: 'validateSegmentName',
    name: 'refuses the name of a segment',
    given: beta,
    request: { method: 'POST', path: `${SEGMENTS}/validate`, body: { name: 'beta' } },
    expect: { status: 409, code: 'segment_exists' },
  },
  ...[{}, { name: '' }, { name: 7 }, { name: 'x'.repeat(101) }, []].map(
    (body): Row => ({
      endpoint: 'validateSegmentName',
      name: `refuses ${JSON.stringify(body).slice(0, 40)}`,
      request: { method: 'POST', path: `${SEGMENTS}/validate`, body },
      expect: { status: 400, code: 'invalid_input' },
    }),
  ),
  {
    endpoint: 'validateConstraint',
    name: 'accepts a valid constraint',
    request: { method: 'POST', path: '/api/admin/constraints/validate', body: CONSTRAINT },
    expect: { status: 200, body: null, unchanged: true },
  },
  ...[
    { ...CONSTRAINT, values: [] },
    { ...CONSTRAINT, operator: 'LIKE' },
    { contextName: 'version', operator: 'SEMVER_GT', value: 'two' },
    { contextName: 'age', operator: 'NUM_GT', value: 'old' },
    {},
    [],
  ].map(
    (body): Row => ({
      endpoint: 'validateConstraint',
      name: `refuses ${JSON.stringify(body)}`,
      request: { method: 'POST', path: '/api/admin/constraints/validate', body },
      expect: { status: 400, code: 'invalid_input' },
    }),
  ),
];

const USE = {
  projectId: 'default',
  environmentId: 'production',
  strategyId: strategyId(1),
  segmentIds: [1],
};
const used = inOrder(beta, withStrategy);

function refusesUse(changes: object, code: 'strategy_not_found' | 'environment_not_found' | 'invalid_input'): Row {
  return {
    endpoint: 'setStrategySegments',
    name: `refuses ${JSON.stringify(changes)}`,
    given: used,
    request: { method: 'POST', path: `${SEGMENTS}/strategies`, body: { ...USE, ...changes } },
    expect: { status: code === 'invalid_input' ? 400 : 404, code },
  };
}

const usingRows: readonly Row[] = [
  {
    endpoint: 'setStrategySegments',
    name: 'replaces the segments of a strategy, and keeps the rest of it',
    given: used,
    request: { method: 'POST', path: `${SEGMENTS}/strategies`, body: { ...USE, additional: true } },
    expect: {
      status: 201,
      body: USE,
      headers: { etag: '"3-' },
      afterwards: async (flags) => {
        const { environments } = await flags.getFlag(CHECKOUT);
        expect(environments.find(({ name }) => name === 'production')?.strategies).toEqual([
          expect.objectContaining({ name: 'flexibleRollout', segments: [1], parameters: expect.anything() }),
        ]);
      },
    },
  },
  refusesUse({ strategyId: strategyId(9) }, 'strategy_not_found'),
  refusesUse({ projectId: 'shop' }, 'strategy_not_found'),
  refusesUse({ environmentId: 'moon' }, 'environment_not_found'),
  refusesUse({ segmentIds: [9] }, 'invalid_input'),
  refusesUse({ segmentIds: [1, 1] }, 'invalid_input'),
  refusesUse({ segmentIds: '1' }, 'invalid_input'),
  refusesUse({ strategyId: 1 }, 'invalid_input'),
];

const STALE = `${PROJECT}/stale`;

const staleRows: readonly Row[] = [
  ...[true, false].map(
    (stale): Row => ({
      endpoint: 'setStaleFlags',
      name: `sets stale to ${stale} for several flags in one commit`,
      given: inOrder(
        checkout,
        (flags) => flags.createFlag(CHECKOUT, { name: 'other' }),
        ...['checkout', 'other'].map(
          (flag): Step =>
            (flags) =>
              flags.updateFlag({ ...CHECKOUT, flag }, { stale: !stale }),
        ),
      ),
      request: { method: 'POST', path: STALE, body: { features: ['checkout', 'other'], stale } },
      expect: {
        status: 202,
        body: null,
        afterwards: async (flags) => {
          const { items } = await flags.listFlags(CHECKOUT);
          expect(items.map((flag) => flag.stale)).toEqual([stale, stale]);
          const [newest] = (await flags.history.list(CHECKOUT)).items;
          expect(newest?.events.map(({ type }) => type)).toContain(stale ? 'flag-stale-on' : 'flag-stale-off');
        },
      },
    }),
  ),
  {
    endpoint: 'setStaleFlags',
    name: 'changes nothing if one of the flags is unknown',
    given: checkout,
    request: { method: 'POST', path: STALE, body: { features: ['checkout', 'unknown'], stale: true } },
    expect: { status: 404, code: 'flag_not_found' },
  },
  {
    endpoint: 'setStaleFlags',
    name: 'does not find an unknown project',
    given: checkout,
    request: {
      method: 'POST',
      path: '/api/admin/projects/unknown/stale',
      body: { features: ['checkout'], stale: true },
    },
    expect: { status: 404, code: 'project_not_found' },
  },
  {
    endpoint: 'setStaleFlags',
    name: 'refuses an archived flag',
    given: archived,
    request: { method: 'POST', path: STALE, body: { features: ['checkout'], stale: true } },
    expect: { status: 409, code: 'flag_archived' },
  },
  ...[
    { features: ['checkout'] },
    { features: [], stale: true },
    { features: [7], stale: true },
    { stale: true },
    [],
  ].map(
    (body): Row => ({
      endpoint: 'setStaleFlags',
      name: `refuses ${JSON.stringify(body)}`,
      given: checkout,
      request: { method: 'POST', path: STALE, body },
      expect: { status: 400, code: 'invalid_input' },
    }),
  ),
];

const SEARCH = '/api/admin/events/search';

function finds(body: object, types: readonly string[], total = types.length): Row {
  return {
    endpoint: 'searchEvents',
    name: `finds events by ${JSON.stringify(body)}`,
    given: used,
    request: { method: 'POST', path: SEARCH, body },
    expect: {
      status: 200,
      unchanged: true,
      body: { version: 1, events: types.map((type) => expect.objectContaining({ type })), totalEvents: total },
    },
  };
}

const searchRows: readonly Row[] = [
  finds({ feature: 'checkout' }, ['feature-strategy-add', 'feature-created']),
  finds({ project: 'default', type: 'feature-created' }, ['feature-created']),
  finds({ feature: 'checkout', limit: 1, offset: 1 }, ['feature-created'], 2),
  finds({ query: 'FLEXIBLErollout' }, ['feature-strategy-add']),
  finds({ query: 'checkout', project: 'default', limit: 1 }, ['feature-strategy-add'], 2),
  finds({ query: 'checkout', offset: 1 }, ['feature-created'], 2),
  finds({ query: 'nowhere' }, []),
  ...[{ type: 'unknown' }, { limit: 5000 }, { query: 'x'.repeat(101) }, { feature: 7 }, []].map(
    (body): Row => ({
      endpoint: 'searchEvents',
      name: `refuses ${JSON.stringify(body).slice(0, 40)}`,
      request: { method: 'POST', path: SEARCH, body },
      expect: { status: 400, code: 'invalid_input' },
    }),
  ),
];

export const toolRows: readonly Row[] = [...readRows, ...validating, ...usingRows, ...staleRows, ...searchRows];
