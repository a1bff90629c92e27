import { inOrder, type Row, type Step } from '../row.js';
import { archived, CHECKOUT, checkout, DEFAULT, enabled, NOW, PRODUCTION, shop, withVariants } from '../states.js';

const FEATURES = '/api/admin/features';
const SHOP = { project: 'shop', flag: 'basket' };

const OFF = { enabled: false, strategyCount: 0, rollout: 0, hasVariants: false, audience: [], offBecauseOf: null };
const CHECKOUT_SHOWN = {
  name: 'checkout',
  project: 'default',
  description: 'The new one',
  type: 'release',
  stale: false,
  archived: false,
  labels: [],
  owner: null,
  revision: 3,
  createdAt: NOW,
  lastSeenAt: null,
  environments: [
    { name: 'development', ...OFF },
    { name: 'production', ...OFF, enabled: true, strategyCount: 1, rollout: 25, audience: [{ rollout: 25 }] },
  ],
};
const BASKET_SHOWN = {
  ...CHECKOUT_SHOWN,
  name: 'basket',
  project: 'shop',
  description: '',
  labels: ['TeamGreen', 'beta'],
  owner: 'Ada',
  revision: 2,
  environments: [
    { name: 'development', ...OFF },
    { name: 'production', ...OFF },
  ],
};

const both: Step = inOrder(enabled, shop, (flags) =>
  flags.updateFlag(SHOP, { labels: ['TeamGreen', 'beta'], owner: 'Ada' }),
);
const three: Step = inOrder(both, (flags) =>
  flags.createFlag(DEFAULT, { name: 'test.z', type: 'kill-switch', labels: ['TeamRed'] }),
);

function selects(query: string, names: readonly string[], total = names.length): Row {
  return {
    endpoint: 'searchFlags',
    name: `selects ${names.join(', ') || 'nothing'} by ${query}`,
    given: three,
    request: { method: 'GET', path: `${FEATURES}?${query}` },
    expect: {
      status: 200,
      unchanged: true,
      body: { version: 1, features: names.map((name) => expect.objectContaining({ name })), total },
    },
  };
}

function refuses(query: string): Row {
  return {
    endpoint: 'searchFlags',
    name: `refuses ${query.slice(0, 60)}`,
    request: { method: 'GET', path: `${FEATURES}?${query}` },
    expect: { status: 400, code: 'invalid_input' },
  };
}

const searchRows: readonly Row[] = [
  {
    endpoint: 'searchFlags',
    name: 'lists the flags of all projects by name',
    given: both,
    request: { method: 'GET', path: FEATURES },
    expect: {
      status: 200,
      unchanged: true,
      body: { version: 1, features: [BASKET_SHOWN, CHECKOUT_SHOWN], total: 2 },
      headers: { etag: '"' },
    },
  },
  {
    endpoint: 'searchFlags',
    name: 'lists nothing in a new instance',
    request: { method: 'GET', path: FEATURES },
    expect: { status: 200, unchanged: true, body: { version: 1, features: [], total: 0 } },
  },
  {
    endpoint: 'searchFlags',
    name: 'shows strategies without a percentage as rolled out, and variants of the flag in every environment',
    given: inOrder(withVariants, (flags) => flags.addStrategy(PRODUCTION, { name: 'default' })),
    request: { method: 'GET', path: FEATURES },
    expect: {
      status: 200,
      unchanged: true,
      body: expect.objectContaining({
        features: [
          expect.objectContaining({
            environments: [
              { name: 'development', ...OFF, hasVariants: true },
              {
                name: 'production',
                ...OFF,
                strategyCount: 1,
                rollout: 100,
                hasVariants: true,
                audience: [{ rollout: 100 }],
              },
            ],
          }),
        ],
      }),
    },
  },
  {
    endpoint: 'searchFlags',
    name: 'lists archived flags only on demand',
    given: archived,
    request: { method: 'GET', path: `${FEATURES}?archived=true` },
    expect: {
      status: 200,
      unchanged: true,
      body: { version: 1, features: [{ ...CHECKOUT_SHOWN, archived: true, revision: 4 }], total: 1 },
    },
  },
  {
    endpoint: 'searchFlags',
    name: 'links from a page to the next one',
    given: three,
    request: { method: 'GET', path: `${FEATURES}?limit=1&sort=-createdAt` },
    expect: {
      status: 200,
      unchanged: true,
      body: { version: 1, features: [expect.objectContaining({ name: 'basket' })], total: 3 },
      headers: { link: '?limit=1&sort=-createdAt&after=2026-03-01T12%3A00%3A00.000Z+basket>; rel="next"' },
    },
  },
  selects('after=checkout', ['test.z'], 3),
  selects('sort=-createdAt&after=2026-03-01T12:00:00.000Z+checkout&limit=5', ['test.z'], 3),
  selects('query=GREEN', ['basket']),
  selects('query=new', ['checkout']),
  selects('query=ada', ['basket']),
  selects('query=nothing', []),
  selects('project=shop', ['basket']),
  selects('project=shop&project=default', ['basket', 'checkout', 'test.z']),
  selects('type=kill-switch', ['test.z']),
  selects('label=beta', ['basket']),
  selects('label=beta&label=TeamRed', ['basket', 'test.z']),
  selects('owner=Ada', ['basket']),
  selects('stale=true', []),
  selects('stale=false', ['basket', 'checkout', 'test.z']),
  selects('enabledIn=production', ['checkout']),
  selects('enabledIn=development', []),
  selects('sort=-name', ['test.z', 'checkout', 'basket']),
  // Clients of Unleash 4.x search by tags and by the beginning of the name.
  selects('tag=simple:TeamGreen', ['basket']),
  selects('tag[]=simple:TeamGreen&tag[]=simple:TeamRed', ['basket', 'test.z']),
  selects('tag=jira:TeamGreen', []),
  selects('namePrefix=test&tag=simple:TeamRed', ['test.z']),
  selects('namePrefix=test&tag=simple:TeamGreen', []),
  refuses('sort=owner'),
  refuses('limit=0'),
  refuses('limit=1001'),
  refuses('stale=maybe'),
  refuses('query=a&query=b'),
  refuses(`query=${'x'.repeat(501)}`),
  refuses('sort=type&after=nothing'),
  {
    endpoint: 'searchFlags',
    name: 'does not find an unknown environment',
    request: { method: 'GET', path: `${FEATURES}?enabledIn=moon` },
    expect: { status: 404, code: 'environment_not_found' },
  },
];

const validateRows: readonly Row[] = [
  {
    endpoint: 'validateFlagName',
    name: 'accepts a name that is valid and free',
    given: checkout,
    request: { method: 'POST', path: `${FEATURES}/validate`, body: { name: 'validateThis' } },
    expect: { status: 200, body: null, unchanged: true },
  },
  {
    endpoint: 'validateFlagName',
    name: 'accepts the name of a deleted flag',
    given: inOrder(archived, (flags) => flags.deleteFlag(CHECKOUT)),
    request: { method: 'POST', path: `${FEATURES}/validate`, body: { name: 'checkout' } },
    expect: { status: 200, body: null, unchanged: true },
  },
  ...([checkout, archived] as const).map(
    (given, index): Row => ({
      endpoint: 'validateFlagName',
      name: `refuses the name of ${index === 0 ? 'a flag' : 'an archived flag'}`,
      given,
      request: { method: 'POST', path: `${FEATURES}/validate`, body: { name: 'checkout' } },
      expect: { status: 409, code: 'flag_exists' },
    }),
  ),
  ...[{}, { name: '' }, { name: 'a b' }, { name: '..' }, { name: 7 }, { name: 'x'.repeat(101) }, []].map(
    (body): Row => ({
      endpoint: 'validateFlagName',
      name: `refuses ${JSON.stringify(body).slice(0, 40)}`,
      request: { method: 'POST', path: `${FEATURES}/validate`, body },
      expect: { status: 400, code: 'invalid_input' },
    }),
  ),
];

export const featureRows: readonly Row[] = [...searchRows, ...validateRows];
