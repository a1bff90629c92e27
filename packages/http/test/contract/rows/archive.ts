import type { Row } from '../row.js';
import { inOrder } from '../row.js';
import { archived, CHECKOUT, checkout, DEFAULT, NOW, shop } from '../states.js';

const ARCHIVE = '/api/admin/archive';

const ARCHIVED = {
  name: 'checkout',
  project: 'default',
  type: 'release',
  stale: false,
  createdAt: NOW,
  lastSeenAt: null,
  environments: [
    { name: 'development', displayName: 'Development', enabled: false },
    { name: 'production', displayName: 'production', enabled: true },
  ],
  archived: true,
  archivedAt: NOW,
  description: 'The new one',
  impressionData: false,
};

const shopArchived = inOrder(archived, shop, (flags) => flags.archiveFlag({ project: 'shop', flag: 'basket' }));

export const archiveRows: readonly Row[] = [
  {
    endpoint: 'listArchivedFlags',
    name: 'lists archived flags of all projects in name order',
    given: inOrder(shopArchived, (flags) => flags.createFlag(DEFAULT, { name: 'a' })),
    request: { method: 'GET', path: `${ARCHIVE}/features` },
    expect: {
      status: 200,
      unchanged: true,
      body: { version: 1, features: [expect.objectContaining({ name: 'basket', project: 'shop' }), ARCHIVED] },
    },
  },
  {
    endpoint: 'listProjectArchivedFlags',
    name: 'lists archived flags of one project',
    given: shopArchived,
    request: { method: 'GET', path: `${ARCHIVE}/features/default` },
    expect: { status: 200, unchanged: true, body: { version: 1, features: [ARCHIVED] } },
  },
  {
    endpoint: 'listProjectArchivedFlags',
    name: 'does not find an unknown project',
    request: { method: 'GET', path: `${ARCHIVE}/features/unknown` },
    expect: { status: 404, code: 'project_not_found' },
  },
  {
    endpoint: 'reviveFlag',
    name: 'revives a flag, off in every environment',
    given: archived,
    request: { method: 'POST', path: `${ARCHIVE}/revive/checkout` },
    expect: {
      status: 200,
      body: expect.objectContaining({ name: 'checkout', archived: false }),
      afterwards: async (flags) =>
        expect(await flags.getFlag(CHECKOUT)).toMatchObject({
          archived: false,
          environments: [{ enabled: false }, { enabled: false, strategies: [{ name: 'flexibleRollout' }] }],
        }),
    },
  },
  {
    endpoint: 'reviveFlag',
    name: 'does nothing to a flag that is not archived',
    given: checkout,
    request: { method: 'POST', path: `${ARCHIVE}/revive/checkout` },
    expect: { status: 200, unchanged: true },
  },
  {
    endpoint: 'reviveFlag',
    name: 'does not find an unknown flag',
    request: { method: 'POST', path: `${ARCHIVE}/revive/unknown` },
    expect: { status: 404, code: 'flag_not_found' },
  },
  {
    endpoint: 'deleteFlag',
    name: 'deletes an archived flag permanently',
    given: archived,
    request: { method: 'DELETE', path: `${ARCHIVE}/checkout` },
    expect: {
      status: 200,
      body: null,
      afterwards: async (flags) => {
        expect((await flags.listFlags({ archived: true })).items).toEqual([]);
        expect(await flags.createFlag(DEFAULT, { name: 'checkout' })).toMatchObject({ archived: false });
      },
    },
  },
  {
    endpoint: 'deleteFlag',
    name: 'refuses a flag that is not archived',
    given: checkout,
    request: { method: 'DELETE', path: `${ARCHIVE}/checkout` },
    expect: { status: 409, code: 'flag_not_archived' },
  },
  {
    endpoint: 'deleteFlag',
    name: 'does not find an unknown flag',
    request: { method: 'DELETE', path: `${ARCHIVE}/unknown` },
    expect: { status: 404, code: 'flag_not_found' },
  },
];
