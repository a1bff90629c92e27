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
  PROJECTS,
  shop,
  UNKNOWN_FLAG,
  withVariants,
} from '../states.js';

const updateRows: readonly Row[] = [
  {
    endpoint: 5,
    name: 'changes a flag',
    given: checkout,
    request: {
      method: 'PUT',
      path: FLAG,
      body: { name: 'checkout', description: 'Newer', type: 'experiment', stale: true },
    },
    expect: {
      status: 200,
      body: expect.objectContaining({ name: 'checkout', description: 'Newer', type: 'experiment', stale: true }),
      headers: { etag: '"2-' },
    },
  },
  {
    endpoint: 5,
    name: 'does not change absent fields',
    given: checkout,
    request: { method: 'PUT', path: FLAG, body: { name: 'checkout', type: 'experiment' } },
    expect: { status: 200, body: expect.objectContaining({ description: 'The new one', type: 'experiment' }) },
  },
  {
    endpoint: 5,
    name: 'clears a description with null',
    given: checkout,
    request: { method: 'PUT', path: FLAG, body: { name: 'checkout', description: null } },
    expect: { status: 200, body: expect.objectContaining({ description: null }) },
  },
  {
    endpoint: 5,
    name: 'ignores the fields that cannot change, and shows their true values',
    given: checkout,
    request: {
      method: 'PUT',
      path: FLAG,
      body: { name: 'other', project: 'shop', createdAt: '2000', lastSeen: '2000', lastSeenAt: '2000' },
    },
    expect: {
      status: 200,
      unchanged: true,
      body: expect.objectContaining({ name: 'checkout', project: 'default', lastSeenAt: null }),
    },
  },
  {
    endpoint: 5,
    name: 'requires the name',
    given: checkout,
    request: { method: 'PUT', path: FLAG, body: { description: 'Newer' } },
    expect: { status: 400, code: 'invalid_input' },
  },
  {
    endpoint: 5,
    name: 'refuses an unknown type',
    given: checkout,
    request: { method: 'PUT', path: FLAG, body: { name: 'checkout', type: 'other' } },
    expect: { status: 400, code: 'invalid_input' },
  },
  {
    endpoint: 5,
    name: 'refuses text for stale',
    given: checkout,
    request: { method: 'PUT', path: FLAG, body: { name: 'checkout', stale: 'true' } },
    expect: { status: 400, code: 'invalid_input' },
  },
];

function patch(name: string, operations: unknown, expected: Row['expect']): Row {
  return {
    endpoint: 6,
    name,
    given: checkout,
    request: {
      method: 'PATCH',
      path: FLAG,
      body: operations,
      headers: { 'content-type': 'application/json-patch+json' },
    },
    expect: expected,
  };
}

const patchRows: readonly Row[] = [
  patch('replaces the description', [{ op: 'replace', path: '/description', value: 'Newer' }], {
    status: 200,
    body: expect.objectContaining({ description: 'Newer' }),
    headers: { etag: '"2-' },
  }),
  patch('changes staleness', [{ op: 'replace', path: '/stale', value: true }], {
    status: 200,
    body: expect.objectContaining({ stale: true }),
  }),
  ...['/name', '/project', '/createdAt', '/lastSeen', '/lastSeenAt'].map((path) =>
    patch(`silently keeps ${path}`, [{ op: 'replace', path, value: 'other' }], {
      status: 200,
      unchanged: true,
      body: expect.objectContaining({ name: 'checkout', project: 'default' }),
    }),
  ),
  patch('refuses another path', [{ op: 'replace', path: '/archived', value: true }], {
    status: 400,
    code: 'invalid_patch',
  }),
  patch('refuses an inherited member', [{ op: 'replace', path: '/toString', value: 'x' }], {
    status: 400,
    code: 'invalid_patch',
  }),
  patch('refuses a missing target', [{ op: 'copy', from: '/none', path: '/description' }], {
    status: 400,
    code: 'invalid_patch',
  }),
  patch('refuses an unknown operation', [{ op: 'increase', path: '/description' }], {
    status: 400,
    code: 'invalid_input',
  }),
  patch('refuses a value of the wrong type', [{ op: 'replace', path: '/stale', value: 'true' }], {
    status: 400,
    code: 'invalid_input',
  }),
  patch(
    'refuses a value that is not a list',
    { op: 'replace', path: '/description', value: 'x' },
    {
      status: 400,
      code: 'invalid_input',
    },
  ),
  patch(
    'applies nothing when a test fails',
    [
      { op: 'replace', path: '/stale', value: true },
      { op: 'test', path: '/description', value: 'Other' },
    ],
    { status: 409, code: 'patch_test_failed' },
  ),
];

const cloneRows: readonly Row[] = [
  {
    endpoint: 7,
    name: 'copies a flag with its variants, off everywhere',
    given: inOrder(enabled, (flags) => flags.setVariants(CHECKOUT, [{ name: 'blue' }])),
    request: { method: 'POST', path: `${FLAG}/clone`, body: { name: 'copy' } },
    expect: {
      status: 201,
      body: expect.objectContaining({
        name: 'copy',
        description: 'The new one',
        variants: [{ name: 'blue', weightType: 'variable', weight: 1000, stickiness: 'default', overrides: [] }],
      }),
      afterwards: async (flags) =>
        expect(await flags.getFlag({ ...DEFAULT, flag: 'copy' })).toMatchObject({
          environments: [{ enabled: false }, { enabled: false, strategies: [{ parameters: { groupId: 'copy' } }] }],
        }),
    },
  },
  {
    endpoint: 7,
    name: 'shows null when there are no variants',
    given: checkout,
    request: { method: 'POST', path: `${FLAG}/clone`, body: { name: 'copy' } },
    expect: { status: 201, body: expect.objectContaining({ name: 'copy', variants: null }) },
  },
  {
    endpoint: 7,
    name: 'refuses a name that exists',
    given: inOrder(withVariants, shop),
    request: { method: 'POST', path: `${FLAG}/clone`, body: { name: 'basket' } },
    expect: { status: 409, code: 'flag_exists' },
  },
  {
    endpoint: 7,
    name: 'refuses a body without a name',
    given: checkout,
    request: { method: 'POST', path: `${FLAG}/clone`, body: {} },
    expect: { status: 400, code: 'invalid_input' },
  },
  {
    endpoint: 7,
    name: 'refuses an invalid name',
    given: checkout,
    request: { method: 'POST', path: `${FLAG}/clone`, body: { name: 'a/b' } },
    expect: { status: 400, code: 'invalid_input' },
  },
];

const VALID = [
  { endpoint: 5, method: 'PUT', path: '', body: { name: 'checkout', stale: true } },
  { endpoint: 6, method: 'PATCH', path: '', body: [{ op: 'replace', path: '/stale', value: true }] },
  { endpoint: 7, method: 'POST', path: '/clone', body: { name: 'copy' } },
] as const;

/** The common refusals of all three. */
const commonRows: readonly Row[] = VALID.flatMap(({ endpoint, method, path, body }): Row[] => [
  {
    endpoint,
    name: 'refuses an archived flag',
    given: archived,
    request: { method, path: `${FLAG}${path}`, body },
    expect: { status: 409, code: 'flag_archived', body: expect.objectContaining({ name: 'InvalidOperationError' }) },
  },
  {
    endpoint,
    name: 'does not find an unknown flag',
    given: checkout,
    request: { method, path: `${UNKNOWN_FLAG}${path}`, body },
    expect: { status: 404, code: 'flag_not_found' },
  },
  {
    endpoint,
    name: 'does not find a flag of another project',
    given: shop,
    request: { method, path: `${FEATURES}/basket${path}`, body },
    expect: { status: 404, code: 'flag_not_found' },
  },
  {
    endpoint,
    name: 'does not find an unknown project',
    given: checkout,
    request: { method, path: `${PROJECTS}/unknown/features/checkout${path}`, body },
    expect: { status: 404, code: 'project_not_found' },
  },
]);

export const flagChangeRows: readonly Row[] = [...updateRows, ...patchRows, ...cloneRows, ...commonRows];
