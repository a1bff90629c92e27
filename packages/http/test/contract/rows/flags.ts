import type { Row, Step } from '../row.js';
import { inOrder } from '../row.js';
import {
  archived,
  CHECKOUT,
  checkout,
  DEFAULT,
  FEATURES,
  FLAG,
  NOW,
  PROJECTS,
  shop,
  UNKNOWN_FLAG,
  withStrategy,
} from '../states.js';

const NEW_FLAG = {
  name: 'checkout',
  project: 'default',
  description: '',
  type: 'release',
  stale: false,
  impressionData: false,
  archived: false,
  createdAt: NOW,
  lastSeenAt: null,
  variants: null,
  labels: [],
  owner: null,
};

/** Flags with labels, one of them archived, and one of another project. */
const labelled: Step = inOrder(
  shop,
  (flags) => flags.createFlag({ project: 'shop' }, { name: 'b-shop', labels: ['blue'] }),
  (flags) => flags.createFlag(DEFAULT, { name: 'a-blue', labels: ['blue', 'other'] }),
  (flags) => flags.createFlag(DEFAULT, { name: 'b-blue', labels: ['blue'] }),
  (flags) => flags.createFlag(DEFAULT, { name: 'b-plain' }),
  (flags) => flags.createFlag(DEFAULT, { name: 'c-red', labels: ['red', 'team:red'] }),
  (flags) => flags.createFlag(DEFAULT, { name: 'd-red', labels: ['red'] }),
  (flags) => flags.archiveFlag({ ...DEFAULT, flag: 'd-red' }),
);

const SUMMARY = {
  name: 'checkout',
  type: 'release',
  stale: false,
  createdAt: NOW,
  lastSeenAt: null,
  environments: [
    { name: 'development', displayName: 'Development', enabled: false },
    { name: 'production', displayName: 'production', enabled: false },
  ],
};

function faulty(name: string, body: unknown, path: string): Row {
  return {
    endpoint: 3,
    name: `refuses ${name}`,
    request: { method: 'POST', path: FEATURES, body },
    expect: {
      status: 400,
      code: 'invalid_input',
      body: expect.objectContaining({
        name: 'ValidationError',
        details: expect.arrayContaining([expect.objectContaining({ path })]),
      }),
    },
  };
}

const createRows: readonly Row[] = [
  {
    endpoint: 3,
    name: 'creates a flag with the defaults',
    request: { method: 'POST', path: FEATURES, body: { name: 'checkout' } },
    expect: { status: 201, body: NEW_FLAG },
  },
  {
    endpoint: 3,
    name: 'keeps the given members, and ignores those that only the service sets',
    request: {
      method: 'POST',
      path: FEATURES,
      body: {
        name: 'checkout',
        description: 'New',
        type: 'kill-switch',
        impressionData: true,
        createdAt: '2000-01-01T00:00:00.000Z',
        archived: true,
        stale: true,
        variants: [{ name: 'x' }],
        project: 'shop',
      },
    },
    expect: { status: 201, body: { ...NEW_FLAG, description: 'New', type: 'kill-switch', impressionData: true } },
  },
  {
    endpoint: 3,
    name: 'reads any JSON content type, and none',
    request: {
      method: 'POST',
      path: FEATURES,
      body: '{"name":"checkout"}',
      headers: { 'content-type': 'application/vnd.any+json; charset=utf-8' },
    },
    expect: { status: 201, body: NEW_FLAG },
  },
  {
    endpoint: 3,
    name: 'refuses a name that exists',
    given: checkout,
    request: { method: 'POST', path: FEATURES, body: { name: 'checkout' } },
    expect: { status: 409, code: 'flag_exists', body: expect.objectContaining({ name: 'NameExistsError' }) },
  },
  {
    endpoint: 3,
    name: 'refuses a name that exists in another project',
    given: shop,
    request: { method: 'POST', path: FEATURES, body: { name: 'basket' } },
    expect: { status: 409, code: 'flag_exists' },
  },
  {
    endpoint: 3,
    name: 'refuses the name of an archived flag',
    given: archived,
    request: { method: 'POST', path: FEATURES, body: { name: 'checkout' } },
    expect: { status: 409, code: 'flag_exists' },
  },
  {
    endpoint: 3,
    name: 'does not find an unknown project',
    request: { method: 'POST', path: `${PROJECTS}/unknown/features`, body: { name: 'checkout' } },
    expect: { status: 404, code: 'project_not_found' },
  },
  {
    endpoint: 3,
    name: 'checks the body before the project',
    request: { method: 'POST', path: `${PROJECTS}/unknown/features`, body: {} },
    expect: { status: 400, code: 'invalid_input' },
  },
  {
    endpoint: 3,
    name: 'refuses a request without a body',
    request: { method: 'POST', path: FEATURES },
    expect: { status: 400, code: 'invalid_input' },
  },
  faulty('a body without a name', {}, '/name'),
  faulty('a name with a space', { name: 'a b' }, '/name'),
  faulty('a name of 101 characters', { name: 'x'.repeat(101) }, '/name'),
  faulty('the name ..', { name: '..' }, '/name'),
  faulty('a number for a name', { name: 7 }, '/name'),
  faulty('an unknown type', { name: 'a', type: 'other' }, '/type'),
  faulty('text for impression data', { name: 'a', impressionData: 'true' }, '/impressionData'),
  faulty('a list', [], ''),
  faulty('null', null, ''),
];

const readRows: readonly Row[] = [
  {
    endpoint: 4,
    name: 'shows a flag with every environment',
    given: withStrategy,
    request: { method: 'GET', path: FLAG },
    expect: {
      status: 200,
      unchanged: true,
      headers: { etag: '"2-' },
      body: {
        ...NEW_FLAG,
        description: 'The new one',
        environments: [
          { name: 'development', enabled: false, strategies: [] },
          { name: 'production', enabled: false, strategies: [expect.objectContaining({ name: 'flexibleRollout' })] },
        ],
      },
    },
  },
  {
    endpoint: 4,
    name: 'finds an archived flag',
    given: archived,
    request: { method: 'GET', path: FLAG },
    expect: { status: 200, body: expect.objectContaining({ archived: true }) },
  },
  {
    endpoint: 4,
    name: 'does not find an unknown flag',
    request: { method: 'GET', path: UNKNOWN_FLAG },
    expect: { status: 404, code: 'flag_not_found', body: expect.objectContaining({ name: 'NotFoundError' }) },
  },
  {
    endpoint: 4,
    name: 'does not find a flag of another project',
    given: shop,
    request: { method: 'GET', path: `${FEATURES}/basket` },
    expect: { status: 404, code: 'flag_not_found' },
  },
  {
    endpoint: 4,
    name: 'does not find an unknown project',
    given: checkout,
    request: { method: 'GET', path: `${PROJECTS}/unknown/features/checkout` },
    expect: { status: 404, code: 'project_not_found' },
  },
  {
    endpoint: 2,
    name: 'lists flags in name order, without archived ones',
    given: inOrder(archived, (flags) =>
      Promise.all(['b', 'a', 'B'].map((name) => flags.createFlag(DEFAULT, { name }))),
    ),
    request: { method: 'GET', path: FEATURES },
    expect: {
      status: 200,
      unchanged: true,
      body: { version: 1, features: ['B', 'a', 'b'].map((name) => ({ ...SUMMARY, name })) },
    },
  },
  {
    endpoint: 2,
    name: 'lists only archived flags on demand',
    given: inOrder(archived, (flags) => flags.createFlag(DEFAULT, { name: 'a' })),
    request: { method: 'GET', path: `${FEATURES}?archived=true` },
    expect: {
      status: 200,
      body: { version: 1, features: [expect.objectContaining({ name: 'checkout' })] },
    },
  },
  ...(
    [
      ['namePrefix=b', ['b-blue', 'b-plain']],
      ['tag=simple:blue', ['a-blue', 'b-blue']],
      ['tag=simple:blue&tag=simple:red', ['a-blue', 'b-blue', 'c-red']],
      ['namePrefix=b&tag=simple:blue', ['b-blue']],
      ['tag=team:blue', []],
      ['tag=team:red', ['c-red']],
      ['archived=true&tag=simple:red', ['d-red']],
      ['tag=simple:blue&limit=1', ['a-blue']],
      ['tag=simple:blue&limit=1&after=a-blue', ['b-blue']],
    ] as const
  ).map(
    ([query, names]): Row => ({
      endpoint: 2,
      name: `filters by ${query}`,
      given: labelled,
      request: { method: 'GET', path: `${FEATURES}?${query}` },
      expect: {
        status: 200,
        unchanged: true,
        body: { version: 1, features: names.map((name) => ({ ...SUMMARY, name })) },
      },
    }),
  ),
  {
    endpoint: 2,
    name: 'refuses a tag without a type',
    given: checkout,
    request: { method: 'GET', path: `${FEATURES}?tag=blue` },
    expect: { status: 400, code: 'invalid_input' },
  },
  {
    endpoint: 2,
    name: 'does not find an unknown project, filtered',
    request: { method: 'GET', path: `${PROJECTS}/unknown/features?tag=simple:blue` },
    expect: { status: 404, code: 'project_not_found' },
  },
  {
    endpoint: 2,
    name: 'lists nothing for an empty project',
    request: { method: 'GET', path: FEATURES },
    expect: { status: 200, body: { version: 1, features: [] } },
  },
  {
    endpoint: 2,
    name: 'refuses a filter that is neither true nor false',
    given: checkout,
    request: { method: 'GET', path: `${FEATURES}?archived=maybe` },
    expect: { status: 400, code: 'invalid_input' },
  },
  {
    endpoint: 2,
    name: 'does not find an unknown project',
    request: { method: 'GET', path: `${PROJECTS}/unknown/features` },
    expect: { status: 404, code: 'project_not_found' },
  },
];

const archiveRows: readonly Row[] = [
  {
    endpoint: 8,
    name: 'archives a flag',
    given: checkout,
    request: { method: 'DELETE', path: FLAG },
    expect: {
      status: 202,
      body: null,
      afterwards: async (flags) => expect(await flags.getFlag(CHECKOUT)).toMatchObject({ archived: true }),
    },
  },
  {
    endpoint: 8,
    name: 'does nothing to a flag that is archived',
    given: archived,
    request: { method: 'DELETE', path: FLAG },
    expect: { status: 202, body: null, unchanged: true },
  },
  {
    endpoint: 8,
    name: 'does not find an unknown flag',
    request: { method: 'DELETE', path: UNKNOWN_FLAG },
    expect: { status: 404, code: 'flag_not_found' },
  },
  {
    endpoint: 8,
    name: 'does not find a flag of another project',
    given: shop,
    request: { method: 'DELETE', path: `${FEATURES}/basket` },
    expect: { status: 404, code: 'flag_not_found' },
  },
  {
    endpoint: 8,
    name: 'does not find an unknown project',
    given: checkout,
    request: { method: 'DELETE', path: `${PROJECTS}/unknown/features/checkout` },
    expect: { status: 404, code: 'project_not_found' },
  },
];

export const flagRows: readonly Row[] = [...createRows, ...readRows, ...archiveRows];
