import { inOrder, type Row, type Step } from '../row.js';
import { archived, checkout, NOW, PRODUCTION, protecting, strategyId } from '../states.js';

const SEGMENTS = '/api/admin/segments';
const CONSTRAINTS = [{ contextName: 'userId', operator: 'IN', values: ['7', '8'] }] as const;
const BETA = { name: 'beta', description: 'Early birds', constraints: CONSTRAINTS };
const SHOWN = { ...BETA, id: 1, project: null, createdAt: NOW, createdBy: 'ada' };

const withSegment: Step = (flags) => flags.as('ada').segments.create(BETA);
const withTwo = inOrder(withSegment, (flags) => flags.segments.create({ name: 'gamma', constraints: [] }));
const used = inOrder(withTwo, checkout, (flags) =>
  flags.addStrategy(PRODUCTION, { name: 'default', segments: [2, 1] }),
);
const usedInArchive = inOrder(withSegment, archived, (flags) =>
  flags
    .reviveFlag({ flag: 'checkout' })
    .then(() => flags.addStrategy(PRODUCTION, { name: 'default', segments: [1] }))
    .then(() => flags.archiveFlag(PRODUCTION)),
);

const reading: readonly Row[] = [
  {
    endpoint: 'listSegments',
    name: 'lists none',
    request: { method: 'GET', path: SEGMENTS },
    expect: { status: 200, unchanged: true, body: { segments: [] } },
  },
  {
    endpoint: 'listSegments',
    name: 'lists segments by id',
    given: withTwo,
    request: { method: 'GET', path: SEGMENTS },
    expect: {
      status: 200,
      unchanged: true,
      body: { segments: [SHOWN, expect.objectContaining({ id: 2, name: 'gamma', description: '', constraints: [] })] },
    },
  },
  {
    endpoint: 'getSegment',
    name: 'shows a segment, with its revision',
    given: withSegment,
    request: { method: 'GET', path: `${SEGMENTS}/1` },
    expect: { status: 200, unchanged: true, body: SHOWN, headers: { etag: '"1-' } },
  },
  {
    endpoint: 'listSegmentUses',
    name: 'lists the strategies that use a segment',
    given: used,
    request: { method: 'GET', path: `${SEGMENTS}/1/strategies` },
    expect: {
      status: 200,
      unchanged: true,
      body: {
        strategies: [{ id: strategyId(1), featureName: 'checkout', projectId: 'default', environment: 'production' }],
      },
    },
  },
  {
    endpoint: 'listSegmentUses',
    name: 'lists the strategies of archived flags too',
    given: usedInArchive,
    request: { method: 'GET', path: `${SEGMENTS}/1/strategies` },
    expect: {
      status: 200,
      unchanged: true,
      body: { strategies: [expect.objectContaining({ id: strategyId(2), featureName: 'checkout' })] },
    },
  },
  {
    endpoint: 'listStrategySegments',
    name: 'lists the segments of a strategy by id',
    given: used,
    request: { method: 'GET', path: `${SEGMENTS}/strategies/${strategyId(1)}` },
    expect: { status: 200, unchanged: true, body: { segments: [SHOWN, expect.objectContaining({ id: 2 })] } },
  },
  {
    endpoint: 'listStrategySegments',
    name: 'lists no application of an unknown strategy',
    given: used,
    request: { method: 'GET', path: `${SEGMENTS}/strategies/unknown` },
    expect: { status: 200, unchanged: true, body: { segments: [] } },
  },
];

const changing: readonly Row[] = [
  {
    endpoint: 'createSegment',
    name: 'creates a segment in the name of the caller',
    request: { method: 'POST', path: SEGMENTS, body: { ...BETA, id: 7, createdBy: 'mallory' } },
    expect: {
      status: 201,
      body: { ...SHOWN, createdBy: 'administrator' },
      afterwards: async (flags) => expect((await flags.segments.list()).items).toMatchObject([BETA]),
    },
  },
  {
    endpoint: 'createSegment',
    name: 'refuses a name that is taken',
    given: withSegment,
    request: { method: 'POST', path: SEGMENTS, body: BETA },
    expect: { status: 409, code: 'segment_exists' },
  },
  {
    endpoint: 'createSegment',
    name: 'does not find an unknown project',
    request: { method: 'POST', path: SEGMENTS, body: { ...BETA, project: 'unknown' } },
    expect: { status: 404, code: 'project_not_found' },
  },
  {
    endpoint: 'updateSegment',
    name: 'does not find an unknown project',
    given: withSegment,
    request: { method: 'PUT', path: `${SEGMENTS}/1`, body: { project: 'unknown' } },
    expect: { status: 404, code: 'project_not_found' },
  },
  {
    endpoint: 'updateSegment',
    name: 'refuses constraints that need approval, because a flag uses them',
    given: inOrder(used, (flags) => flags.enable(PRODUCTION), protecting),
    request: { method: 'PUT', path: `${SEGMENTS}/1`, body: { name: 'beta', constraints: [] } },
    expect: { status: 409, code: 'approval_required' },
  },
  {
    endpoint: 'updateSegment',
    name: 'assigns a segment to a project',
    given: used,
    request: { method: 'PUT', path: `${SEGMENTS}/1`, body: { project: 'default' } },
    expect: { status: 200, body: { ...SHOWN, project: 'default' } },
  },
  {
    endpoint: 'updateSegment',
    name: 'refuses to assign a segment that another project uses',
    given: inOrder(used, (flags) => flags.createProject({ id: 'shop', name: 'Shop' })),
    request: { method: 'PUT', path: `${SEGMENTS}/1`, body: { project: 'shop' } },
    expect: { status: 409, code: 'segment_in_use' },
  },
  ...[{}, { name: 'beta' }, { ...BETA, name: '' }, { ...BETA, constraints: [{ operator: 'IN' }] }, []].map(
    (body): Row => ({
      endpoint: 'createSegment',
      name: `refuses ${JSON.stringify(body)}`,
      request: { method: 'POST', path: SEGMENTS, body },
      expect: { status: 400, code: 'invalid_input' },
    }),
  ),
  {
    endpoint: 'updateSegment',
    name: 'changes a segment',
    given: used,
    request: { method: 'PUT', path: `${SEGMENTS}/1`, body: { name: 'early', constraints: [] } },
    expect: { status: 200, body: { ...SHOWN, name: 'early', constraints: [] } },
  },
  {
    endpoint: 'updateSegment',
    name: 'does nothing when nothing changes',
    given: withSegment,
    request: { method: 'PUT', path: `${SEGMENTS}/1`, body: BETA },
    expect: { status: 200, unchanged: true, body: SHOWN },
  },
  {
    endpoint: 'updateSegment',
    name: 'refuses the name of another segment',
    given: withTwo,
    request: { method: 'PUT', path: `${SEGMENTS}/2`, body: { name: 'beta' } },
    expect: { status: 409, code: 'segment_exists' },
  },
  {
    endpoint: 'deleteSegment',
    name: 'deletes a segment',
    given: withTwo,
    request: { method: 'DELETE', path: `${SEGMENTS}/1` },
    expect: {
      status: 200,
      body: null,
      afterwards: async (flags) => expect((await flags.segments.list()).items).toMatchObject([{ id: 2 }]),
    },
  },
  {
    endpoint: 'deleteSegment',
    name: 'refuses a segment that a strategy uses',
    given: used,
    request: { method: 'DELETE', path: `${SEGMENTS}/2` },
    expect: { status: 409, code: 'segment_in_use' },
  },
];

const finding: readonly Row[] = (
  [
    ['getSegment', 'GET', ''],
    ['updateSegment', 'PUT', ''],
    ['deleteSegment', 'DELETE', ''],
    ['listSegmentUses', 'GET', '/strategies'],
  ] as const
).flatMap(([endpoint, method, rest]): Row[] => [
  {
    endpoint,
    name: 'does not find an unknown segment',
    given: withSegment,
    request: { method, path: `${SEGMENTS}/2${rest}`, ...(method === 'PUT' && { body: { description: '' } }) },
    expect: { status: 404, code: 'segment_not_found' },
  },
  ...['0', '01', '-1', '1.5', 'one', '9007199254740992', '1e0'].map(
    (id): Row => ({
      endpoint,
      name: `refuses the id ${id}`,
      given: withSegment,
      request: { method, path: `${SEGMENTS}/${id}${rest}`, ...(method === 'PUT' && { body: { description: '' } }) },
      expect: { status: 400, code: 'invalid_input' },
    }),
  ),
]);

export const segmentRows: readonly Row[] = [...reading, ...changing, ...finding];
