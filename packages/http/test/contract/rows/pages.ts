import { inOrder, type Row, type Step } from '../row.js';
import { DEFAULT, FEATURES, PROJECTS } from '../states.js';

const SEGMENTS = '/api/admin/segments';
const ARCHIVE = '/api/admin/archive/features';
const TOKENS = '/api/admin/api-tokens';
const APPLICATIONS = '/api/admin/metrics/applications';

/** Three items of every list, and more flags: a, b and c, beside d, e and f in the archive. */
const three: Step = inOrder(
  (flags) => flags.createProject({ id: 'shop', name: 'Shop' }),
  (flags) => flags.createProject({ id: 'zoo', name: 'Zoo' }),
  ...['a', 'd', 'b', 'e', 'c', 'f'].map(
    (name): Step =>
      (flags) =>
        flags.createFlag(DEFAULT, { name }),
  ),
  ...['d', 'e', 'f'].map(
    (flag): Step =>
      (flags) =>
        flags.archiveFlag({ ...DEFAULT, flag }),
  ),
  ...['one', 'two', 'three'].map(
    (name): Step =>
      (flags) =>
        flags.segments.create({ name, constraints: [] }),
  ),
  ...['x', 'y', 'z'].map((application): Step => {
    return (flags) => flags.registerApplication({ application, strategies: ['own'] });
  }),
);

const named = (...names: readonly string[]) => names.map((name) => expect.objectContaining({ name }));
const withId = (...ids: readonly unknown[]) => ids.map((id) => expect.objectContaining({ id }));

interface PagedList {
  readonly endpoint: Row['endpoint'];
  readonly path: string;
  /** A query of a page of two, and its body. */
  readonly first: readonly [query: string, body: unknown, next: string];
  readonly second: readonly [query: string, body: unknown];
}

const LISTS: readonly PagedList[] = [
  {
    endpoint: 2,
    path: FEATURES,
    first: ['limit=2', { version: 1, features: named('a', 'b') }, 'limit=2&after=b'],
    second: ['after=b&limit=2', { version: 1, features: named('c') }],
  },
  {
    endpoint: 2,
    path: FEATURES,
    first: ['archived=true&limit=2', { version: 1, features: named('d', 'e') }, 'archived=true&limit=2&after=e'],
    second: ['archived=true&limit=2&after=e', { version: 1, features: named('f') }],
  },
  {
    endpoint: 'listArchivedFlags',
    path: ARCHIVE,
    first: ['limit=2', { version: 1, features: named('d', 'e') }, 'limit=2&after=e'],
    second: ['limit=2&after=e', { version: 1, features: named('f') }],
  },
  {
    endpoint: 'listProjectArchivedFlags',
    path: `${ARCHIVE}/default`,
    first: ['limit=1', { version: 1, features: named('d') }, 'limit=1&after=d'],
    second: ['after=d', { version: 1, features: named('e', 'f') }],
  },
  {
    endpoint: 'listProjects',
    path: PROJECTS,
    first: ['limit=2', { version: 1, projects: withId('default', 'shop') }, 'limit=2&after=shop'],
    second: ['after=shop&limit=2', { version: 1, projects: withId('zoo') }],
  },
  {
    endpoint: 'listSegments',
    path: SEGMENTS,
    first: ['limit=2', { segments: withId(1, 2) }, 'limit=2&after=2'],
    second: ['after=2', { segments: withId(3) }],
  },
  {
    endpoint: 22,
    path: APPLICATIONS,
    first: [
      'limit=2&strategyName=own',
      { applications: [expect.objectContaining({ appName: 'x' }), expect.objectContaining({ appName: 'y' })] },
      'limit=2&strategyName=own&after=y',
    ],
    second: ['after=y', { applications: [expect.objectContaining({ appName: 'z' })] }],
  },
  {
    endpoint: 'listPossibleParents',
    path: `${FEATURES}/a/parents`,
    first: ['limit=1', ['b'], 'limit=1&after=b'],
    second: ['limit=1&after=b', ['c']],
  },
];

const reading = LISTS.flatMap(({ endpoint, path, first: [query, body, next], second }): readonly Row[] => [
  {
    endpoint,
    name: `gives a page, and links to the next, with ?${query}`,
    given: three,
    request: { method: 'GET', path: `${path}?${query}` },
    expect: { status: 200, unchanged: true, body, headers: { link: `<?${next}>; rel="next"` } },
  },
  {
    endpoint,
    name: `goes on where the page has ended, with ?${second[0]}`,
    given: three,
    request: { method: 'GET', path: `${path}?${second[0]}` },
    expect: { status: 200, unchanged: true, body: second[1] },
  },
]);

const refusing = [...LISTS, { endpoint: 'listTokens', path: TOKENS } as const].flatMap(
  ({ endpoint, path }): readonly Row[] =>
    ['limit=0', 'limit=1001', 'limit=many&after=a', 'after=a&after=b'].map((query) => ({
      endpoint,
      name: `refuses ?${query}`,
      given: three,
      request: { method: 'GET', path: `${path}?${query}` },
      expect: { status: 400, code: 'invalid_input' },
    })),
);

export const pageRows: readonly Row[] = [
  ...reading,
  ...refusing,
  {
    endpoint: 'listTokens',
    name: 'returns a page, and links to the next',
    request: { method: 'GET', path: `${TOKENS}?limit=1` },
    expect: {
      status: 200,
      unchanged: true,
      body: { tokens: [expect.objectContaining({ id: expect.any(String) })] },
      headers: { link: '<?limit=1&after=' },
    },
  },
  {
    endpoint: 'listSegments',
    name: 'refuses to continue after a value that is not the id of a segment',
    request: { method: 'GET', path: `${SEGMENTS}?after=beta` },
    expect: { status: 400, code: 'invalid_input' },
  },
  {
    endpoint: 2,
    name: 'does not find a page of an unknown project',
    request: { method: 'GET', path: `${PROJECTS}/unknown/features?limit=2` },
    expect: { status: 404, code: 'project_not_found' },
  },
];
