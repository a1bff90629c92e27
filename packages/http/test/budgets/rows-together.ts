import { inventedReport, MEBIBYTE, ofValues, padded, within } from './bodies.js';
import { flagName } from './definitions.js';
import { type BudgetRow, type MixedRequest, together } from './row.js';
import { creating, manyChanges, redefining, resultsFor } from './rows-changes.js';

const granted = { isGranted: true } as const;
const viewers = { role: 'viewer', isGranted: true } as const;
const editors = { role: 'editor' } as const;
const report = (round: number) => inventedReport('together', 10_000, round);
/** Values of a segment that exists. */
const changing = () => ofValues('{"name":"changed","constraints":');
const manyProperties = () => within('{"context":{"properties":{', (number) => `"p${number}":"v"`, '}}}');

const FEATURES = '/api/admin/projects/default/features';
const SEGMENT = '/api/admin/segments/1';
const LARGEST = `${FEATURES}/largest`;
const PAST = (round: number) => `${FEATURES}/eventful?asOf=2100-01-01T00:00:${10 + (round % 50)}Z`;

let sets = 0;
/** Another set for each measurement. */
const setId = () => `0198b000-0000-7000-8000-${String(sets).padStart(12, '0')}`;
const fewChanges = (id = '') => {
  const changes = Array.from({ length: 20 }, (_, number) => {
    const ref = `{"project":"default","flag":"${flagName(70 + number)}"}`;
    return `{"op":"updateFlag","ref":${ref},"input":{"description":"${sets}"}}`;
  });
  return `{"changes":[${changes}]${id}}`;
};
const undoable: Pick<BudgetRow, 'before'> = {
  before: [
    {
      method: 'POST',
      path: '/api/admin/changes',
      body() {
        sets++;
        return fewChanges(`,"id":"${setId()}"`);
      },
    },
  ],
};
const undo = () => `/api/admin/changes/${setId()}/undo`;

/** Long requests of every kind. The first one is that of the route. */
const MIX: readonly MixedRequest[] = [
  { method: 'GET', path: '/api/frontend?userId=7' },
  { method: 'GET', path: '/api/client/features', kind: 'client', headers: { 'unleash-client-spec': '5.2.0' } },
  { method: 'POST', path: '/ofrep/v1/evaluate/flags', body: () => '{"context":{"targetingKey":"7"}}' },
  { method: 'POST', path: '/api/client/metrics', kind: 'client', body: report },
  { method: 'GET', path: '/api/admin/features', role: 'viewer' },
  { method: 'POST', path: '/api/admin/changes/plan', role: 'viewer', body: () => manyChanges(creating('mixed')) },
  { method: 'POST', path: '/api/admin/changes/preview', role: 'viewer', body: () => resultsFor(100) },
  { method: 'GET', path: '/api/admin/history?limit=100', role: 'viewer' },
  { method: 'GET', path: PAST, role: 'viewer' },
  { method: 'GET', path: SEGMENT, role: 'viewer' },
  { method: 'PUT', path: '/api/admin/segments/2', role: 'editor', body: changing },
  { method: 'POST', path: '/api/admin/changes', role: 'editor', body: () => fewChanges() },
  { method: 'POST', path: undo, role: 'editor', body: () => '{}' },
  { method: 'POST', path: '/api/admin/import', role: 'editor', body: () => redefining(',"dryRun":true') },
  { method: 'GET', path: '/api/admin/export?project=default', role: 'editor' },
];

/** The same for clients that read slowly. */
const slowly = (row: BudgetRow): readonly BudgetRow[] =>
  (['takes nothing', 'takes little'] as const).flatMap((manner) =>
    together({ ...row, name: `${row.name}, each ${manner}`, manner }),
  );
/** More clients than bodies have room, each of which sends a part. */
const halfSent = (row: BudgetRow): BudgetRow => ({
  ...row,
  name: `300 half-sent bodies`,
  times: 300,
  isTogether: true,
  manner: 'half-sent',
});

/** What many clients send at once, of several roles and kinds, and clients that behave badly. */
export const TOGETHER_ROWS: Readonly<Record<string, readonly BudgetRow[]>> = {
  evaluateFlags: [
    ...together({ name: 'all kinds', mix: MIX, ...undoable }),
    ...slowly({ name: 'small context', path: '/api/frontend?userId=7', ...granted }),
  ],
  evaluateFlagsForContext: [
    { name: '500 pipelined contexts of 1 MiB', body: manyProperties, manner: 'pipelined', times: 500, isPacked: true },
    ...together({ name: 'a packed context of 1 MiB', body: manyProperties, isPacked: true }),
  ],
  listClientFlags: slowly({ name: 'newer SDK', headers: { 'unleash-client-spec': '5.2.0' }, ...granted }),
  searchFlags: [
    ...together({ name: 'all flags', path: '/api/admin/features', ...viewers }),
    ...slowly({ name: 'all flags', path: '/api/admin/features', ...viewers }),
  ],
  getFlag: [
    { name: '20,000 pipelined', manner: 'pipelined', times: 20_000, isLong: true, ...granted },
    { name: '2,000 pipelined', manner: 'pipelined', times: 2000, ...granted },
    ...together({ name: 'of 1 MiB, with unknown parameters', path: (round) => `${LARGEST}?x=${round}`, ...viewers }),
    ...together({ name: 'of large events, as it was', path: PAST, role: 'viewer' }),
  ],
  getSegment: [
    ...together({ name: 'of 1 MiB', path: SEGMENT, ...viewers }),
    ...slowly({ name: 'of 1 MiB', path: SEGMENT, ...viewers }),
  ],
  updateSegment: [
    ...together({ name: '49,000 values', path: '/api/admin/segments/2', body: changing, ...editors }),
    ...slowly({ name: '49,000 values', path: '/api/admin/segments/2', body: changing, ...editors }),
  ],
  createSegment: [halfSent({ name: '', body: () => padded('{"name":"half","ignored":"…"}', MEBIBYTE), ...editors })],
  updateFlag: together({
    name: 'of 1 MiB, small changes',
    path: LARGEST,
    body: (round) => `{"name":"largest","description":"${round}"}`,
    ...editors,
  }),
  planChanges: [
    ...together({ name: '500 new flags', body: () => manyChanges(creating('planned')), role: 'viewer' }),
    ...slowly({ name: '500 new flags', body: () => manyChanges(creating('planned')), role: 'viewer' }),
  ],
  undoChange: together({ name: 'of 20 changes', path: undo, body: () => '{}', ...undoable, ...editors }),
  importDefinitions: together({ name: 'plans of 9,000 flags', body: () => redefining(',"dryRun":true'), ...editors }),
  reportMetrics: [halfSent({ name: '', body: report })],
  resolveFlags: slowly({ name: 'small context', body: () => '{"context":{"targetingKey":"7"}}', ...granted }),
};
