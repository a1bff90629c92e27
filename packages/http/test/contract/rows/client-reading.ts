import { FRONTEND_SECRET } from '../contract-host.js';
import type { Row } from '../row.js';
import { inOrder } from '../row.js';
import { CHECKOUT, enabled } from '../states.js';

const CLIENT_CHECKOUT = {
  name: 'checkout',
  type: 'release',
  description: 'The new one',
  project: 'default',
  enabled: true,
  stale: false,
  impressionData: false,
  strategies: [
    {
      name: 'flexibleRollout',
      parameters: { rollout: '25', groupId: 'checkout', stickiness: 'default' },
      constraints: [],
    },
  ],
  variants: [],
};

const LONG = 'x'.repeat(101);

export const clientReadingRows: readonly Row[] = [
  {
    endpoint: 'listClientFlags',
    name: "lists the flags of the token's environment, parameters as text",
    given: enabled,
    request: { method: 'GET', path: '/api/client/features', headers: { 'unleash-client-spec': '5.1.0' } },
    expect: {
      status: 200,
      unchanged: true,
      body: { version: 2, features: [CLIENT_CHECKOUT], segments: [], query: { environment: 'production' } },
    },
  },
  {
    endpoint: 'listClientFlags',
    name: 'refuses a prefix that no name can have',
    request: { method: 'GET', path: `/api/client/features?namePrefix=${LONG}` },
    expect: { status: 400, code: 'invalid_input' },
  },
  ...(
    [
      ['tag=simple:blue', [['simple', 'blue']], [{ ...CLIENT_CHECKOUT }]],
      [
        'tag=simple:red&tag=simple:blue',
        [
          ['simple', 'blue'],
          ['simple', 'red'],
        ],
        [{ ...CLIENT_CHECKOUT }],
      ],
      ['tag=simple:red', [['simple', 'red']], []],
      ['tag=team:blue', [['simple', 'team:blue']], []],
    ] as const
  ).map(
    ([query, tag, features]): Row => ({
      isForEngines: true,
      endpoint: 'listClientFlags',
      name: `filters by ${query}`,
      given: inOrder(enabled, (flags) => flags.changeLabels(CHECKOUT, { add: ['blue'] })),
      request: {
        method: 'GET',
        path: `/api/client/features?${query}`,
        headers: { 'unleash-client-spec': '5.1.0' },
      },
      expect: {
        status: 200,
        unchanged: true,
        body: { version: 2, features, segments: [], query: { environment: 'production', tag } },
      },
    }),
  ),
  {
    endpoint: 'listClientFlags',
    name: 'refuses a tag without a type',
    request: { method: 'GET', path: '/api/client/features?tag=blue' },
    expect: { status: 400, code: 'invalid_input' },
  },
  {
    endpoint: 'getClientFlag',
    name: 'shows one flag',
    given: enabled,
    request: { method: 'GET', path: '/api/client/features/checkout' },
    expect: { status: 200, unchanged: true, body: CLIENT_CHECKOUT },
  },
  {
    endpoint: 'getClientFlag',
    name: 'does not find a flag that does not exist',
    request: { method: 'GET', path: '/api/client/features/unknown' },
    expect: { status: 404, code: 'flag_not_found' },
  },
  {
    endpoint: 'streamClientFlags',
    name: 'refuses a prefix that no name can have',
    request: { method: 'GET', path: `/api/client/streaming?namePrefix=${LONG}` },
    expect: { status: 400, code: 'invalid_input' },
  },
  {
    endpoint: 'streamClientFlags',
    name: 'refuses callers without a token',
    request: { method: 'GET', path: '/api/client/streaming', headers: { authorization: undefined } },
    expect: { status: 401, code: 'unauthenticated' },
  },
  {
    endpoint: 'streamClientFlags',
    name: 'refuses a token of another kind',
    request: { method: 'GET', path: '/api/client/streaming', headers: { authorization: FRONTEND_SECRET } },
    expect: { status: 403, code: 'forbidden' },
  },
];
