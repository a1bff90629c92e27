import type { Row } from '../row.js';
import { inOrder } from '../row.js';
import { archived, CHECKOUT, checkout, DEFAULT, NOW, owned, PROJECT, PROJECTS, shop } from '../states.js';

const UNKNOWN = `${PROJECTS}/unknown`;

const overviewRows: readonly Row[] = [
  {
    endpoint: 1,
    name: 'shows a project with its flags, health and number of members',
    given: inOrder(checkout, owned),
    request: { method: 'GET', path: PROJECT },
    expect: {
      status: 200,
      unchanged: true,
      body: {
        version: 1,
        name: 'Default',
        description: '',
        health: 100,
        members: 1,
        features: [
          {
            name: 'checkout',
            type: 'release',
            stale: false,
            createdAt: NOW,
            lastSeenAt: null,
            environments: [
              { name: 'development', displayName: 'Development', enabled: false },
              { name: 'production', displayName: 'production', enabled: false },
            ],
          },
        ],
      },
    },
  },
  {
    endpoint: 1,
    name: 'counts stale flags against the health',
    given: inOrder(checkout, (flags) => flags.updateFlag(CHECKOUT, { stale: true })),
    request: { method: 'GET', path: PROJECT },
    expect: { status: 200, body: expect.objectContaining({ health: 0 }) },
  },
  {
    endpoint: 1,
    name: 'omits archived flags',
    given: archived,
    request: { method: 'GET', path: PROJECT },
    expect: { status: 200, body: expect.objectContaining({ features: [], health: 100 }) },
  },
  {
    endpoint: 1,
    name: 'does not find an unknown project',
    request: { method: 'GET', path: UNKNOWN },
    expect: { status: 404, code: 'project_not_found' },
  },
];

const healthRows: readonly Row[] = [
  {
    endpoint: 'getProjectHealth',
    name: 'counts stale and active flags beside what the overview shows',
    given: inOrder(
      checkout,
      (flags) => flags.createFlag(DEFAULT, { name: 'fresh' }),
      (flags) => flags.createFlag(DEFAULT, { name: 'old' }),
      (flags) => flags.updateFlag({ ...DEFAULT, flag: 'old' }, { stale: true }),
    ),
    request: { method: 'GET', path: `${PROJECT}/health-report` },
    expect: {
      status: 200,
      unchanged: true,
      body: {
        ...{ name: 'Default', description: '', version: 1, members: 0, health: 67 },
        features: ['checkout', 'fresh', 'old'].map((name) =>
          expect.objectContaining({ name, environments: expect.any(Array) }),
        ),
        ...{ potentiallyStaleCount: 0, activeCount: 2, staleCount: 1 },
      },
    },
  },
  {
    endpoint: 'getProjectHealth',
    name: 'is 100 without flags',
    request: { method: 'GET', path: `${PROJECT}/health-report` },
    expect: {
      status: 200,
      unchanged: true,
      body: expect.objectContaining({ health: 100, potentiallyStaleCount: 0, activeCount: 0, staleCount: 0 }),
    },
  },
  {
    endpoint: 'getProjectHealth',
    name: 'does not find an unknown project',
    request: { method: 'GET', path: `${UNKNOWN}/health-report` },
    expect: { status: 404, code: 'project_not_found' },
  },
];

const addedRows: readonly Row[] = [
  {
    endpoint: 'listProjects',
    name: 'lists projects by id',
    given: inOrder(shop, owned),
    request: { method: 'GET', path: PROJECTS },
    expect: {
      status: 200,
      unchanged: true,
      body: {
        version: 1,
        projects: [
          {
            id: 'default',
            name: 'Default',
            description: '',
            createdAt: NOW,
            health: 100,
            memberCount: 1,
            featureCount: 0,
          },
          { id: 'shop', name: 'Shop', description: '', createdAt: NOW, health: 100, memberCount: 0, featureCount: 1 },
        ],
      },
    },
  },
  {
    endpoint: 'createProject',
    name: 'creates a project',
    request: { method: 'POST', path: PROJECTS, body: { id: 'shop', name: 'Shop', description: 'Sells' } },
    expect: { status: 201, body: { id: 'shop', name: 'Shop', description: 'Sells' } },
  },
  {
    endpoint: 'createProject',
    name: 'refuses an id that exists',
    given: shop,
    request: { method: 'POST', path: PROJECTS, body: { id: 'shop', name: 'Shop' } },
    expect: { status: 409, code: 'project_exists' },
  },
  {
    endpoint: 'createProject',
    name: 'refuses an id that is not a name',
    request: { method: 'POST', path: PROJECTS, body: { id: 'a b', name: 'Shop' } },
    expect: { status: 400, code: 'invalid_input' },
  },
  {
    endpoint: 'createProject',
    name: 'requires a name',
    request: { method: 'POST', path: PROJECTS, body: { id: 'shop' } },
    expect: { status: 400, code: 'invalid_input' },
  },
  {
    endpoint: 'updateProject',
    name: 'changes a project',
    given: shop,
    request: { method: 'PUT', path: `${PROJECTS}/shop`, body: { name: 'Store', description: 'Sells' } },
    expect: { status: 200, body: { id: 'shop', name: 'Store', description: 'Sells' } },
  },
  {
    endpoint: 'updateProject',
    name: 'refuses a number for a name',
    given: shop,
    request: { method: 'PUT', path: `${PROJECTS}/shop`, body: { name: 7 } },
    expect: { status: 400, code: 'invalid_input' },
  },
  {
    endpoint: 'updateProject',
    name: 'does not find an unknown project',
    request: { method: 'PUT', path: UNKNOWN, body: { name: 'Store' } },
    expect: { status: 404, code: 'project_not_found' },
  },
  {
    endpoint: 'deleteProject',
    name: 'deletes a project with its archived flags',
    given: inOrder(shop, (flags) => flags.archiveFlag({ project: 'shop', flag: 'basket' })),
    request: { method: 'DELETE', path: `${PROJECTS}/shop` },
    expect: {
      status: 200,
      body: null,
      afterwards: async (flags) => {
        expect((await flags.listProjects()).items).toMatchObject([{ id: 'default' }]);
        expect((await flags.listFlags({ archived: true })).items).toEqual([]);
      },
    },
  },
  {
    endpoint: 'deleteProject',
    name: 'refuses a project with flags',
    given: shop,
    request: { method: 'DELETE', path: `${PROJECTS}/shop` },
    expect: { status: 409, code: 'project_not_empty' },
  },
  {
    endpoint: 'deleteProject',
    name: 'refuses the project default',
    request: { method: 'DELETE', path: PROJECT },
    expect: { status: 403, code: 'project_protected' },
  },
  {
    endpoint: 'deleteProject',
    name: 'does not find an unknown project',
    request: { method: 'DELETE', path: UNKNOWN },
    expect: { status: 404, code: 'project_not_found' },
  },
];

export const projectRows: readonly Row[] = [...overviewRows, ...healthRows, ...addedRows];
