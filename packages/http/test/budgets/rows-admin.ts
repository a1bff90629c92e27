import {
  longText,
  MEBIBYTE,
  manyParameters,
  ofValues,
  padded,
  within,
  withSlowPatterns,
  withUnknown,
  wrongConstraints,
} from './bodies.js';
import { flagName } from './definitions.js';
import { type BudgetRow, together } from './row.js';

const granted = { isGranted: true } as const;

export const PROJECT_ROWS = {
  createProject: [{ name: 'largest', body: () => padded('{"id":"made","name":"Made","ignored":"…"}'), ...granted }],
  updateProject: [{ name: 'largest', body: () => padded('{"name":"Default","ignored":"…"}'), ...granted }],
  deleteProject: [
    { name: 'of 10,000 flags' },
    { name: 'without flags', path: '/api/admin/projects/empty', ...granted },
  ],
  addMember: [{ name: 'largest', body: () => padded('{"ignored":"…"}'), ...granted }],
  changeMemberRole: [
    {
      name: 'largest',
      path: '/api/admin/projects/default/users/2/roles/4',
      body: () => padded('{"i":"…"}'),
      ...granted,
    },
  ],
  removeMember: [
    {
      name: 'of an owner',
      path: '/api/admin/projects/default/users/2/roles/4',
      before: [{ method: 'PUT', path: '/api/admin/projects/default/users/2/roles/4' }],
      ...granted,
    },
  ],
} satisfies Record<string, readonly BudgetRow[]>;

const SEGMENTS = '/api/admin/segments';
const projects = (name: string) => `/api/admin/events?${manyParameters(name)}`;

export const OTHER_ADMIN_ROWS = {
  createSegment: [
    { name: '49,000 values', body: () => ofValues('{"name":"made","constraints":'), ...granted },
    { name: 'wrong constraints', body: () => wrongConstraints().replace('default', 'wrong') },
    { name: 'unknown members', body: () => withUnknown('"name":"unknown","constraints":[]'), ...granted },
    { name: '100 slow patterns', body: () => withSlowPatterns('"name":"slow"', 100) },
    { name: 'a slow pattern', body: () => withSlowPatterns('"name":"slow"', 1), ...granted },
  ],
  updateSegment: [
    {
      name: '49,000 values',
      path: `${SEGMENTS}/2`,
      body: () => ofValues('{"name":"changed","constraints":'),
      ...granted,
    },
    {
      name: 'shared by many',
      body: () => padded('{"name":"shared","description":"short","ignored":"…","constraints":[]}', MEBIBYTE / 2),
    },
  ],
  deleteSegment: [{ name: 'in use' }, { name: 'unused', path: `${SEGMENTS}/3`, ...granted }],
  listUsage: [{ name: '168 hours', path: '/api/admin/metrics/usage?hours=168', ...granted }],
  deleteApplication: [{ name: 'known', path: '/api/admin/metrics/applications/service-1', ...granted }],
  deleteNamedApplication: [{ name: 'known', path: '/api/admin/metrics/applications?appName=service-2', ...granted }],
  explainFlags: [
    { name: 'all flags', body: () => '{"environment":"production","context":{"userId":"7"}}', ...granted },
    {
      name: 'a slow pattern',
      body: () => `{"environment":"production","context":{"userId":"${longText(500)}"}}`,
      before: [
        {
          method: 'POST',
          path: `/api/admin/projects/default/features/${flagName(53)}/environments/production/strategies`,
          body: () => withSlowPatterns('"name":"default"', 1),
        },
      ],
      ...granted,
    },
    {
      name: 'userId of 1 MiB',
      body: () => padded('{"environment":"production","context":{"userId":"…"}}'),
    },
    {
      name: 'many properties',
      body: () =>
        within('{"environment":"production","context":{"properties":{', (number) => `"p${number}":"v"`, '}}}'),
    },
  ],
  resetConsumer: [
    {
      name: 'largest',
      path: '/api/admin/consumers/reset/reset',
      body: () => padded('{"from":"beginning","ignored":"…"}'),
      ...granted,
    },
  ],
  deleteConsumer: [
    { name: 'known', path: '/api/admin/consumers/deleted', ...granted },
    { name: 'long', path: `/api/admin/consumers/${longText(14_000)}` },
  ],
  createToken: [{ name: 'largest', body: () => padded('{"username":"made","type":"admin","ignored":"…"}') }],
  rotateToken: [{ name: 'unknown', body: () => padded('{"id":"unknown","ignored":"…"}') }],
  updateToken: [{ name: 'unknown', body: () => padded('{"expiresAt":null,"ignored":"…"}') }],
  deleteToken: [{ name: 'unknown' }, { name: 'long', path: `/api/admin/api-tokens/${longText(14_000)}` }],
  listEvents: [
    ...together({ name: 'limit=1000', path: '/api/admin/events?limit=1000', isGranted: true }),
    { name: 'limit=1000', path: '/api/admin/events?limit=1000', ...granted },
    { name: 'limit=1000&offset', path: '/api/admin/events?limit=1000&offset=50', ...granted },
    { name: 'many projects', path: projects('project') },
  ],
  searchEvents: [
    { name: 'newest', body: () => '{"limit":1000}', ...granted },
    { name: 'text that no event has', body: () => '{"query":"nowhere to be found"}', ...granted },
    { name: 'text of large events', body: () => '{"feature":"eventful","query":"e","limit":1000}', ...granted },
  ],
  validateSegmentName: [{ name: 'free', body: () => padded('{"name":"unheard-of","ignored":"…"}'), ...granted }],
  validateConstraint: [{ name: '49,000 values', body: () => ofValues('').slice(1, -2), ...granted }],
  setStrategySegments: [
    {
      name: 'of an unknown strategy',
      body: () =>
        padded('{"projectId":"default","environmentId":"production","strategyId":"…","segmentIds":[1]}', MEBIBYTE / 2),
    },
  ],
  setStaleFlags: [
    { name: 'one', body: () => padded('{"features":["flag-00010"],"stale":true,"ignored":"…"}'), ...granted },
    {
      name: '500',
      body: () => JSON.stringify({ features: Array.from({ length: 500 }, (_, at) => flagName(at)), stale: true }),
      ...granted,
    },
  ],
  listFlagEvents: [{ name: 'limit=1000', path: '/api/admin/events/eventful?limit=1000', ...granted }],
  exportEvents: [
    ...together({ name: 'csv', path: '/api/admin/event-export?format=csv', isGranted: true }),
    { name: 'csv', path: '/api/admin/event-export?format=csv', ...granted },
    { name: 'many projects', path: projects('project').replace('/events?', '/event-export?') },
  ],
  streamEvents: [
    { name: 'from the first event', headers: { 'last-event-id': '1' } },
    { name: 'long Last-Event-ID', headers: { 'last-event-id': longText(14_000) } },
  ],
  getSession: [{ name: 'with actions', path: '/api/admin/session?project=default', ...granted }],
} satisfies Record<string, readonly BudgetRow[]>;
