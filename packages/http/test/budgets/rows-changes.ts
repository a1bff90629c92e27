import { longText, MEBIBYTE, padded, within, withSlowPatterns } from './bodies.js';
import { AT_ONCE, flagName, LARGE_REQUESTS, strategyId, USER_HEADER } from './definitions.js';
import { type BudgetRow, together } from './row.js';

const granted = { isGranted: true } as const;
const atOnce = { isAtOnce: true, times: AT_ONCE, isGranted: true } as const;
const PRODUCTION = '"ref":{"project":"default","flag":"flag-00010","environment":"production"}';
/** The most changes of one set. */
const MOST = 500;

/** The maximum number of changes, in a body of the maximum size. */
export function manyChanges(change: (number: number, text: string) => string, rest = ''): string {
  const text = longText(Math.floor(MEBIBYTE / MOST) - 200);
  return `{"changes":[${Array.from({ length: MOST }, (_, number) => change(number, text))}]${rest}}`;
}

const describing = (number: number, text: string) => {
  const flag = `flag-${String(100 + number).padStart(5, '0')}`;
  return `{"op":"updateFlag","ref":{"project":"default","flag":"${flag}"},"input":{"description":"${text}"}}`;
};
export const creating = (name: string) => (number: number, text: string) =>
  `{"op":"createFlag","ref":{"project":"default"},"input":{"name":"${name}-${number}","description":"${text}"}}`;
/** Each change writes the largest flag again. */
const growing = (number: number) =>
  `{"op":"updateFlag","ref":{"project":"default","flag":"largest"},"input":{"description":"${number}"}}`;

/** As many large flags as one commit may write, if the store has them. */
const markingLarge = (rest = '') => {
  const changes = Array.from({ length: 7 }, (_, number) => {
    return `{"op":"updateFlag","ref":{"project":"default","flag":"large-${number + 1}"},"input":{"stale":true}}`;
  });
  return `{"changes":[${changes}]${rest}}`;
};

const contexts = (count: number) =>
  `,"environment":"production","contexts":[${Array.from({ length: count }, (_, n) => `{"userId":"user-${n}"}`)}]`;
const ofSegment = (rest: string) =>
  `{"changes":[{"op":"updateSegment","ref":{"segment":1,"project":null},"input":{"constraints":[]}}]${rest}}`;
/** The document of 1 MiB is the same in every change. */
const byStranger = (rest = ''): readonly BudgetRow[] =>
  Object.entries({
    deleteSegment: { segment: 1, project: null },
    deleteFlag: { flag: 'largest' },
    reviveFlag: { flag: 'largest' },
  }).map(([op, ref]) => ({
    name: `${op} of 1 MiB, 500 times`,
    body: () => `{"changes":${JSON.stringify(Array(MOST).fill({ op, ref }))}${rest}}`,
    isStranger: true,
  }));
/** Changes of 100 flags with a bucket each. A preview may have as many results as 1,000 contexts give. */
export const resultsFor = (count: number) => {
  const changes = Array.from({ length: 100 }, (_, number) => describing(number, 'short'));
  return `{"changes":[${changes}]${contexts(count)}}`;
};

const slowStrategy = () => withSlowPatterns('"name":"default"', 1);
/** A strategy with a slow pattern for each of many flags. */
const addingPatterns = (count: number, rest = '') => {
  const changes = Array.from({ length: count }, (_, n) => {
    const ref = `"project":"default","flag":"${flagName(100 + n)}","environment":"production"`;
    return `{"op":"addStrategy","ref":{${ref}},"input":${slowStrategy()}}`;
  });
  return `{"changes":[${changes}]${rest}}`;
};
const definingPatterns = (count: number) => {
  const flags = Array.from({ length: count }, (_, n) => {
    const environments = `"environments":{"production":{"enabled":true,"strategies":[${slowStrategy()}]}}`;
    return `{"name":"patterns-${n}","project":"default",${environments}}`;
  });
  return `{"definitions":{"version":1,"flags":[${flags}]},"dryRun":true}`;
};

const faultyChanges = () => within('{"changes":[', () => '{}', ']}');
const HISTORY = '/api/admin/projects/default/features/eventful';

/** The most flags that one import creates, in a body of the maximum size. */
const defining = (name: string, rest = '') => {
  const text = longText(900);
  const flags = Array.from({ length: 1000 }, (_, n) => {
    return `{"name":"${name}-${n}","project":"default","description":"${text}"}`;
  });
  return `{"definitions":{"version":1,"flags":[${flags}]}${rest}}`;
};

/** The most flags that one import changes: the full store has them, and all of them differ from the document. */
export const redefining = (rest = '') => {
  const flags = Array.from({ length: 1000 }, (_, n) => `{"name":"${flagName(n)}","project":"default","stale":true}`);
  return `{"definitions":{"version":1,"flags":[${flags}]}${rest}}`;
};

/** The clock of the server may be ahead. */
const later = () => `,"at":"${new Date(Date.now() + 30 * 86_400_000).toISOString()}"`;
/** Descriptions that fit into a document together, without the end of the body. */
const describingFew = (count: number) => {
  const changes = Array.from({ length: count }, (_, number) => describing(number, longText(9_000)));
  return `{"changes":[${changes}]`;
};

const strategyPath = (number: number) =>
  `/api/admin/projects/default/features/${flagName(number)}/environments/production/strategies/${strategyId(number)}`;
/** The same one each time it is repeated. */
const startingRollout = (count: number) => ({
  path: `${strategyPath(31)}/rollout`,
  headers: { 'idempotency-key': strategyId(200_000 + count) },
  body: () =>
    JSON.stringify({
      steps: Array.from({ length: count }, (_, index) => ({ percentage: index % 100, hold: 3_600_000 })),
    }),
});
const ofLongId = (path: string) => ({
  name: 'long id',
  path: `${strategyPath(31).slice(0, -36)}${longText(14_000)}${path}`,
});

const REQUESTED = ',"reason":"Launch"';
const changeRequest = (index: number, rest = '') => `/api/admin/change-requests/${LARGE_REQUESTS[index]}${rest}`;
const ofLongRequest = (rest = '') => ({
  name: 'long id',
  path: `/api/admin/change-requests/${longText(14_000)}${rest}`,
});
/** Nothing is protected. */
const approving = () => '{"effect":"T1PNoYwrqgwDVLtfmj7L5e0Sq02OEbqHPC8RFhICuUU"}';
/** A user of the host, not an API token. */
const BY_PERSON = { authorization: '', [USER_HEADER]: 'grace' };
const protecting = (count: number) => {
  const environments = Array.from({ length: count }, (_, n) => [`environment-${n}`, { required: 1 }] as const);
  return JSON.stringify({ environments: Object.fromEntries(environments) });
};

let undone = 0;
/** Another set for each measurement. */
const undoneSet = () => `0198a000-0000-7000-8000-${String(undone).padStart(12, '0')}`;

export const CHANGE_ROWS = {
  exportDefinitions: [
    { name: 'one project', path: '/api/admin/export?project=default', ...granted },
    { name: 'eight at once', ...atOnce },
  ],
  importDefinitions: [
    { name: 'eight plans of 1,000 flags at once', body: () => redefining(',"dryRun":true'), ...atOnce },
    { name: 'many new flags', body: () => defining('imported'), ...granted },
    { name: 'a plan of many new flags', body: () => defining('planned-import', ',"dryRun":true'), ...granted },
    { name: 'a plan of 2,000 slow patterns', body: () => definingPatterns(2000) },
    { name: 'a plan of 40 slow patterns', body: () => definingPatterns(40), ...granted },
    { name: 'faulty flags', body: () => within('{"definitions":{"version":1,"flags":[', () => '0', ']}}') },
    {
      name: 'many members',
      body: () =>
        within(
          '{"definitions":{"version":1,"projects":[{"id":"default","members":[',
          (n) => `{"userId":${n},"roleId":4}`,
          ']}]}}',
        ),
    },
  ],
  applyChanges: [
    { name: '500 new flags', body: () => manyChanges(creating('applied')), ...granted },
    { name: '500 descriptions', body: () => manyChanges(describing) },
    { name: 'one flag of 1 MiB, 500 times', body: () => manyChanges(growing) },
    { name: 'seven flags of 1 MiB', body: () => markingLarge() },
    { name: 'eight sets of seven flags of 1 MiB at once', body: () => markingLarge(), ...atOnce, isGranted: false },
    { name: 'faulty changes', body: faultyChanges },
    { name: 'largest reason', body: () => padded('{"changes":[],"reason":"…"}') },
    ...byStranger(),
  ],
  planChanges: [
    { name: 'eight plans of 500 new flags at once', body: () => manyChanges(creating('planned')), ...atOnce },
    { name: 'eight plans of seven flags of 1 MiB at once', body: () => markingLarge(), ...atOnce, isGranted: false },
    { name: '500 new flags', body: () => manyChanges(creating('planned')), ...granted },
    { name: 'seven flags of 1 MiB', body: () => markingLarge() },
    { name: '100 slow patterns', body: () => addingPatterns(100) },
    { name: '40 slow patterns', body: () => addingPatterns(40), ...granted },
    { name: 'a segment that many flags share', body: () => ofSegment(''), ...granted },
    { name: 'faulty changes', body: faultyChanges },
    ...byStranger(),
  ],
  previewChanges: [
    { name: 'eight of 200,000 results at once', body: () => resultsFor(1000), ...atOnce, isLong: true },
    { name: 'three of 20,000 results at once', body: () => resultsFor(100), ...atOnce, times: 3 },
    {
      name: '1,000 contexts',
      body: () => `{"changes":[{"op":"enable",${PRODUCTION}}]${contexts(1000)}}`,
      ...granted,
    },
    {
      name: '500 flags for 300 contexts',
      body: () => manyChanges(describing, contexts(300)).replaceAll('xxxxxxxx', ''),
    },
    { name: 'seven flags of 1 MiB', body: () => markingLarge(contexts(100)) },
    { name: 'a segment that many flags share', body: () => ofSegment(contexts(1000)) },
    { name: 'a segment that many flags share, one context', body: () => ofSegment(contexts(1)), ...granted },
    { name: '40 slow patterns', body: () => addingPatterns(40, contexts(1)), ...granted },
    {
      name: 'faulty contexts',
      body: () => within('{"changes":[],"environment":"production","contexts":[', () => '0', ']}'),
    },
    ...byStranger(contexts(1)),
  ],
  createChangeRequest: [
    { name: '90 descriptions', body: () => `${describingFew(90)}${REQUESTED}}`, ...granted },
    { name: 'eight of 90 descriptions at once', body: () => `${describingFew(90)}${REQUESTED}}`, ...atOnce },
    { name: '90 descriptions at a time', body: () => `${describingFew(90)}${later()}}`, ...granted },
    { name: '500 new flags, more than a document', body: () => manyChanges(creating('requested'), REQUESTED) },
    { name: 'seven flags of 1 MiB', body: () => markingLarge(`${later()},"ifUnchanged":true`) },
    { name: '40 slow patterns', body: () => addingPatterns(40, REQUESTED), ...granted },
    { name: 'faulty changes', body: faultyChanges },
    ...byStranger(REQUESTED),
  ],
  listChangeRequests: [
    ...together({ name: 'limit=100', path: '/api/admin/change-requests?limit=100', ...granted }),
    { name: 'limit=1000', path: '/api/admin/change-requests?limit=1000', ...granted },
    { name: 'of no flag', path: '/api/admin/change-requests?flag=nowhere', ...granted },
    { name: 'eight of no flag at once', path: '/api/admin/change-requests?flag=nowhere', ...atOnce },
  ],
  getChangeRequest: [
    ...together({ name: 'of 90 descriptions', path: changeRequest(0), ...granted }),
    { name: 'eight of 90 descriptions at once', path: changeRequest(0), ...atOnce },
    { name: 'one of many', path: `/api/admin/change-requests/${strategyId(100_020)}`, ...granted },
    ofLongRequest(),
  ],
  approveChangeRequest: [
    { name: 'of 90 descriptions', path: changeRequest(1, '/approve'), headers: BY_PERSON, body: approving, ...granted },
    { ...ofLongRequest('/approve'), body: approving },
    { name: 'faulty effect', path: changeRequest(0, '/approve'), body: () => padded('{"effect":"…"}') },
  ],
  rejectChangeRequest: [
    { name: 'of 90 descriptions', path: changeRequest(2, '/reject'), headers: BY_PERSON, ...granted },
    ofLongRequest('/reject'),
  ],
  withdrawChangeRequest: [
    { name: 'of 90 descriptions', path: changeRequest(3, '/withdraw'), ...granted },
    ofLongRequest('/withdraw'),
  ],
  applyChangeRequest: [
    // With the same id each time it is repeated.
    {
      name: 'of 90 descriptions',
      path: changeRequest(4, '/apply'),
      headers: { 'idempotency-key': strategyId(400_000) },
      ...granted,
    },
    ofLongRequest('/apply'),
    { name: 'faulty time', path: changeRequest(0, '/apply'), body: () => padded('{"at":"…"}') },
  ],
  startRollout: [
    { name: '20 steps', ...startingRollout(20), ...granted },
    { name: 'eight of 20 steps at once', ...startingRollout(20), ...atOnce, isGranted: false },
    { name: 'more steps than may be', ...startingRollout(10_000) },
    { name: 'faulty steps', path: `${strategyPath(31)}/rollout`, body: () => within('{"steps":[', () => '0', ']}') },
  ],
  listRollouts: [
    ...together({ name: 'limit=100', path: '/api/admin/rollouts?limit=100', ...granted }),
    { name: 'of no flag', path: '/api/admin/rollouts?flag=nowhere', ...granted },
  ],
  pauseRollout: [ofLongId('/rollout/pause')],
  resumeRollout: [ofLongId('/rollout/resume')],
  advanceRollout: [ofLongId('/rollout/advance')],
  stopRollout: [ofLongId('/rollout')],
  changeApprovalPolicy: [
    { name: 'of a token', body: () => protecting(100) },
    { name: 'more environments than may be', body: () => protecting(30_000), headers: BY_PERSON },
    {
      name: 'faulty environments',
      body: () => within('{"environments":{', (n) => `"e${n}":0`, '}}'),
      headers: BY_PERSON,
    },
  ],
  getChange: [{ name: 'long id', path: `/api/admin/changes/${longText(14_000)}` }],
  planUndo: [{ name: 'long id', path: `/api/admin/changes/${longText(14_000)}/undo/plan` }],
  previewUndo: [
    {
      name: 'faulty contexts',
      path: `/api/admin/changes/${longText(14_000)}/undo/preview`,
      body: () => within('{"environment":"production","contexts":[', () => '0', ']}'),
    },
  ],
  undoChange: [
    { name: 'unknown', body: () => padded('{"reason":"…"}') },
    {
      name: 'eight of a set of 500 changes at once',
      before: [
        {
          method: 'POST',
          path: '/api/admin/changes',
          body() {
            undone++;
            return manyChanges(creating(`undone-${undone}`), `,"id":"${undoneSet()}"`);
          },
        },
      ],
      path: () => `/api/admin/changes/${undoneSet()}/undo`,
      ...atOnce,
      isGranted: false,
    },
  ],
  listHistory: [
    ...together({ name: 'limit=100', path: '/api/admin/history?limit=100', ...granted }),
    { name: 'limit=1000', path: '/api/admin/history?limit=1000', ...granted },
    { name: 'eight with limit=1000 at once', path: '/api/admin/history?limit=1000', ...atOnce },
  ],
  listProjectHistory: [{ name: 'limit=1000', path: '/api/admin/projects/default/history?limit=1000', ...granted }],
  listFlagHistory: [
    { name: 'limit=1000', path: `${HISTORY}/history?limit=1000`, ...granted },
    { name: 'eight with limit=1000 at once', path: `${HISTORY}/history?limit=1000`, ...atOnce },
  ],
} satisfies Record<string, readonly BudgetRow[]>;
