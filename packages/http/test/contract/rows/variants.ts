import type { Row } from '../row.js';
import { archived, CHECKOUT, checkout, FEATURES, FLAG, PROJECTS, shop, UNKNOWN_FLAG, withVariants } from '../states.js';

const VARIANTS = `${FLAG}/variants`;

function put(name: string, body: unknown, expected: Row['expect']): Row {
  return {
    endpoint: 15,
    name,
    given: withVariants,
    request: { method: 'PUT', path: VARIANTS, body },
    expect: expected,
  };
}

function patch(name: string, body: unknown, expected: Row['expect']): Row {
  return {
    endpoint: 16,
    name,
    given: withVariants,
    request: { method: 'PATCH', path: VARIANTS, body },
    expect: expected,
  };
}

const REFUSED = { status: 400, code: 'invalid_input' } as const;

const putRows: readonly Row[] = [
  put(
    'replaces all variants, and returns their weights',
    [{ name: 'a' }, { name: 'b' }, { name: 'c', weightType: 'variable' }],
    {
      status: 200,
      body: {
        version: '1',
        variants: [
          { name: 'a', weightType: 'variable', weight: 334 },
          { name: 'b', weightType: 'variable', weight: 333 },
          { name: 'c', weightType: 'variable', weight: 333 },
        ],
      },
      afterwards: async (flags) => expect((await flags.getFlag(CHECKOUT)).variants).toHaveLength(3),
    },
  ),
  put(
    'shares the weight that fixed weights leave',
    [
      { name: 'a', weightType: 'variable' },
      { name: 'b', weightType: 'fix', weight: 999 },
    ],
    {
      status: 200,
      body: {
        version: '1',
        variants: [
          { name: 'a', weightType: 'variable', weight: 1 },
          { name: 'b', weightType: 'fix', weight: 999 },
        ],
      },
    },
  ),
  put(
    'ignores weights without a type, as Unleash does',
    [
      { name: 'a', weight: 900 },
      { name: 'b', weight: 1 },
    ],
    {
      status: 200,
      body: {
        version: '1',
        variants: [
          { name: 'a', weightType: 'variable', weight: 500 },
          { name: 'b', weightType: 'variable', weight: 500 },
        ],
      },
    },
  ),
  put('clears the variants', [], {
    status: 200,
    body: { version: '1', variants: [] },
    afterwards: async (flags) => expect((await flags.getFlag(CHECKOUT)).variants).toEqual([]),
  }),
  put('refuses a list without a variable variant', [{ name: 'a', weightType: 'fix', weight: 10 }], REFUSED),
  put('refuses fixed weights of 1000', [{ name: 'a', weightType: 'fix', weight: 1000 }, { name: 'b' }], REFUSED),
  put('refuses a name twice', [{ name: 'a' }, { name: 'a' }], REFUSED),
  put('refuses a fixed variant without weight', [{ name: 'a', weightType: 'fix' }, { name: 'b' }], REFUSED),
  put('refuses an unknown member', [{ name: 'a', color: 'red' }], {
    ...REFUSED,
    body: expect.objectContaining({ details: expect.arrayContaining([expect.objectContaining({ path: '/0/color' })]) }),
  }),
  put('refuses a json payload that does not parse', [{ name: 'a', payload: { type: 'json', value: '{' } }], {
    ...REFUSED,
    body: expect.objectContaining({
      details: expect.arrayContaining([expect.objectContaining({ path: '/0/payload/value' })]),
    }),
  }),
  put('refuses an invalid number payload', [{ name: 'a', payload: { type: 'number', value: 'x' } }], REFUSED),
  put('refuses an override without values', [{ name: 'a', overrides: [{ contextName: 'userId' }] }], REFUSED),
  put('refuses a value that is not a list', { name: 'a' }, REFUSED),
];

const patchRows: readonly Row[] = [
  patch('adds a variant at an index', [{ op: 'add', path: '/1', value: { name: 'red', weightType: 'variable' } }], {
    status: 200,
    body: {
      version: '1',
      variants: [
        { name: 'blue', weightType: 'fix', weight: 100 },
        { name: 'red', weightType: 'variable', weight: 450 },
        { name: 'green', weightType: 'variable', weight: 450 },
      ],
    },
  }),
  patch(
    'ignores weights without a type, as Unleash does',
    [
      { op: 'remove', path: '/0/weightType' },
      { op: 'add', path: '/-', value: { name: 'red', weight: 900 } },
    ],
    {
      status: 200,
      body: {
        version: '1',
        variants: [
          { name: 'blue', weightType: 'variable', weight: 334 },
          { name: 'green', weightType: 'variable', weight: 333 },
          { name: 'red', weightType: 'variable', weight: 333 },
        ],
      },
    },
  ),
  patch('refuses an index beyond the end', [{ op: 'add', path: '/3', value: { name: 'red' } }], {
    status: 400,
    code: 'invalid_patch',
  }),
  patch('refuses an index with a leading zero', [{ op: 'remove', path: '/00' }], {
    status: 400,
    code: 'invalid_patch',
  }),
  patch('refuses a result that breaks a rule', [{ op: 'remove', path: '/1' }], REFUSED),
  patch(
    'applies nothing when a test fails',
    [
      { op: 'remove', path: '/0' },
      { op: 'test', path: '/0/name', value: 'blue' },
    ],
    {
      status: 409,
      code: 'patch_test_failed',
    },
  ),
];

const OPERATIONS = [
  { endpoint: 15, method: 'PUT', body: [{ name: 'a' }] },
  { endpoint: 16, method: 'PATCH', body: [{ op: 'add', path: '/-', value: { name: 'a' } }] },
] as const;

const placeRows: readonly Row[] = OPERATIONS.flatMap(({ endpoint, method, body }): Row[] => [
  {
    endpoint,
    name: 'refuses an archived flag',
    given: archived,
    request: { method, path: VARIANTS, body },
    expect: { status: 409, code: 'flag_archived' },
  },
  {
    endpoint,
    name: 'does not find an unknown flag',
    given: checkout,
    request: { method, path: `${UNKNOWN_FLAG}/variants`, body },
    expect: { status: 404, code: 'flag_not_found' },
  },
  {
    endpoint,
    name: 'does not find a flag of another project',
    given: shop,
    request: { method, path: `${FEATURES}/basket/variants`, body },
    expect: { status: 404, code: 'flag_not_found' },
  },
  {
    endpoint,
    name: 'does not find an unknown project',
    given: checkout,
    request: { method, path: `${PROJECTS}/unknown/features/checkout/variants`, body },
    expect: { status: 404, code: 'project_not_found' },
  },
]);

export const variantRows: readonly Row[] = [...putRows, ...patchRows, ...placeRows];
