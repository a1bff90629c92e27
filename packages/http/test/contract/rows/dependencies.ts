import { inOrder, type Row, type Step } from '../row.js';
import { CHECKOUT, checkout, DEFAULT, FEATURES, FLAG, NOW, PROJECTS, shop, UNKNOWN_FLAG } from '../states.js';

const DEPENDENCIES = `${FLAG}/dependencies`;
const ON_PAYMENTS = { feature: 'payments', enabled: true, variants: [] };

const family: Step = inOrder(
  checkout,
  (flags) => flags.createFlag(DEFAULT, { name: 'payments' }),
  (flags) => flags.createFlag(DEFAULT, { name: 'search' }),
);
const dependent = inOrder(family, (flags) => flags.addDependency(CHECKOUT, { flag: 'payments' }));
const archivedChild = inOrder(dependent, (flags) => flags.archiveFlag(CHECKOUT));

const shown = (name: string) => ({
  name,
  project: 'default',
  description: expect.any(String),
  type: 'release',
  stale: false,
  impressionData: false,
  archived: false,
  createdAt: NOW,
  lastSeenAt: null,
  variants: null,
  labels: [],
  owner: null,
  environments: expect.any(Array),
});

const adding: readonly Row[] = [
  {
    endpoint: 'addDependency',
    name: 'makes a flag depend on a parent that is on',
    given: family,
    request: { method: 'POST', path: DEPENDENCIES, body: { feature: 'payments' } },
    expect: {
      status: 200,
      body: ON_PAYMENTS,
      afterwards: async (flags) =>
        expect((await flags.getFlag(CHECKOUT)).dependencies).toEqual([
          { flag: 'payments', enabled: true, variants: [] },
        ]),
    },
  },
  {
    endpoint: 'addDependency',
    name: 'changes how a flag depends on a parent',
    given: dependent,
    request: { method: 'POST', path: DEPENDENCIES, body: { feature: 'payments', enabled: true, variants: ['blue'] } },
    expect: { status: 200, body: { ...ON_PAYMENTS, variants: ['blue'] } },
  },
  {
    endpoint: 'addDependency',
    name: 'does nothing to an existing dependency',
    given: dependent,
    request: { method: 'POST', path: DEPENDENCIES, body: ON_PAYMENTS },
    expect: { status: 200, body: ON_PAYMENTS, unchanged: true },
  },
  ...[{}, { flag: 'payments' }, { feature: 5 }, { feature: 'payments', enabled: false, variants: ['blue'] }, []].map(
    (body): Row => ({
      endpoint: 'addDependency',
      name: `refuses ${JSON.stringify(body)}`,
      given: family,
      request: { method: 'POST', path: DEPENDENCIES, body },
      expect: { status: 400, code: 'invalid_input' },
    }),
  ),
  {
    endpoint: 'addDependency',
    name: 'refuses the flag itself',
    given: family,
    request: { method: 'POST', path: DEPENDENCIES, body: { feature: 'checkout' } },
    expect: { status: 400, code: 'dependency_cycle' },
  },
  {
    endpoint: 'addDependency',
    name: 'refuses a parent that has a parent',
    given: dependent,
    request: { method: 'POST', path: `${FEATURES}/search/dependencies`, body: { feature: 'checkout' } },
    expect: { status: 409, code: 'dependency_too_deep' },
  },
  {
    endpoint: 'addDependency',
    name: 'refuses a child that is a parent',
    given: dependent,
    request: { method: 'POST', path: `${FEATURES}/payments/dependencies`, body: { feature: 'search' } },
    expect: { status: 409, code: 'dependency_too_deep' },
  },
  {
    endpoint: 'addDependency',
    name: 'does not find a parent of another project',
    given: inOrder(family, shop),
    request: { method: 'POST', path: DEPENDENCIES, body: { feature: 'basket' } },
    expect: { status: 404, code: 'parent_not_found' },
  },
  {
    endpoint: 'addDependency',
    name: 'refuses an archived flag',
    given: archivedChild,
    request: { method: 'POST', path: DEPENDENCIES, body: { feature: 'search' } },
    expect: { status: 409, code: 'flag_archived' },
  },
];

const removing: readonly Row[] = [
  {
    endpoint: 'removeDependency',
    name: 'removes a dependency',
    given: dependent,
    request: { method: 'DELETE', path: `${DEPENDENCIES}/payments` },
    expect: {
      status: 200,
      body: null,
      afterwards: async (flags) => expect((await flags.getFlag(CHECKOUT)).dependencies).toEqual([]),
    },
  },
  {
    endpoint: 'removeDependency',
    name: 'does not find a missing dependency',
    given: dependent,
    request: { method: 'DELETE', path: `${DEPENDENCIES}/search` },
    expect: { status: 404, code: 'dependency_not_found' },
  },
  {
    endpoint: 'removeDependency',
    name: 'refuses an archived flag',
    given: archivedChild,
    request: { method: 'DELETE', path: `${DEPENDENCIES}/payments` },
    expect: { status: 409, code: 'flag_archived' },
  },
  {
    endpoint: 'removeDependencies',
    name: 'removes all dependencies',
    given: inOrder(dependent, (flags) => flags.addDependency(CHECKOUT, { flag: 'search' })),
    request: { method: 'DELETE', path: DEPENDENCIES },
    expect: {
      status: 200,
      body: null,
      afterwards: async (flags) => expect((await flags.getFlag(CHECKOUT)).dependencies).toEqual([]),
    },
  },
  {
    endpoint: 'removeDependencies',
    name: 'refuses an archived flag',
    given: archivedChild,
    request: { method: 'DELETE', path: DEPENDENCIES },
    expect: { status: 409, code: 'flag_archived' },
  },
  {
    endpoint: 'removeDependencies',
    name: 'does nothing to a flag without dependencies',
    given: family,
    request: { method: 'DELETE', path: DEPENDENCIES },
    expect: { status: 200, body: null, unchanged: true },
  },
];

const showing: readonly Row[] = [
  {
    endpoint: 4,
    name: 'shows the dependencies of a flag',
    given: dependent,
    request: { method: 'GET', path: FLAG },
    expect: { status: 200, unchanged: true, body: { ...shown('checkout'), dependencies: [ON_PAYMENTS] } },
  },
  {
    endpoint: 4,
    name: 'shows the children of a flag',
    given: dependent,
    request: { method: 'GET', path: `${FEATURES}/payments` },
    expect: { status: 200, unchanged: true, body: { ...shown('payments'), children: ['checkout'] } },
  },
  {
    endpoint: 4,
    name: 'omits dependencies where there are none',
    given: archivedChild,
    request: { method: 'GET', path: `${FEATURES}/payments` },
    expect: { status: 200, unchanged: true, body: shown('payments') },
  },
  {
    endpoint: 8,
    name: 'refuses a flag that others depend on',
    given: dependent,
    request: { method: 'DELETE', path: `${FEATURES}/payments` },
    expect: { status: 409, code: 'flag_has_children' },
  },
  {
    endpoint: 'listPossibleParents',
    name: 'lists the names of the flags that could be parents',
    given: inOrder(dependent, shop),
    request: { method: 'GET', path: `${FEATURES}/search/parents` },
    expect: { status: 200, unchanged: true, body: ['payments'] },
  },
];

const finding: readonly Row[] = (
  [
    ['addDependency', 'POST', '/dependencies'],
    ['removeDependency', 'DELETE', '/dependencies/payments'],
    ['removeDependencies', 'DELETE', '/dependencies'],
    ['listPossibleParents', 'GET', '/parents'],
  ] as const
).flatMap(([endpoint, method, rest]): Row[] => {
  const row = (name: string, path: string, code: 'flag_not_found' | 'project_not_found'): Row => ({
    endpoint,
    name,
    given: inOrder(family, shop),
    request: { method, path: `${path}${rest}`, ...(method === 'POST' && { body: { feature: 'payments' } }) },
    expect: { status: 404, code },
  });
  return [
    row('does not find an unknown flag', UNKNOWN_FLAG, 'flag_not_found'),
    row('does not find a flag of another project', `${FEATURES}/basket`, 'flag_not_found'),
    row('does not find an unknown project', `${PROJECTS}/unknown/features/checkout`, 'project_not_found'),
  ];
});

export const dependencyRows: readonly Row[] = [...adding, ...removing, ...showing, ...finding];
