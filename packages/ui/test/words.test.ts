import type { Change, ExplainedFlag, ListedChangeRequest } from '../app/api/types.js';
import {
  missingApprovals,
  refusalOfRequest,
  requestTitle,
  stateText,
  subjectTitle,
} from '../app/model/change-request.js';
import { refusalText } from '../app/model/refusal.js';
import { holdText, type StrategyRollout, stepTimes } from '../app/model/rollout.js';
import { DAY, sumByPeriod, sumByVariant } from '../app/model/usage-sums.js';
import { type Way, waysOf } from '../app/model/ways.js';
import { describePolicy, requestAdvice } from '../app/parts/request/request-words.js';
import { rolloutAdvice } from '../app/parts/rollout/rollout-words.js';
import { approvalText, explainedTitle, until, why } from '../app/words.js';

it.each([
  [[], 'The flag name a is taken.', 'The flag name a is taken.'],
  [
    [{ path: '/changes/0/input/name', message: 'must be short' }],
    'The input is not valid: /changes/0/input/name must be short',
    'The input is not valid: name must be short',
  ],
  [
    [{ path: '/changes/0/input/1/name', message: 'must be short' }],
    'The input is not valid: /changes/0/input/1/name must be short',
    'The input is not valid: variant 2, name must be short',
  ],
  [
    [
      { path: '/changes/0/input/strategies/1/constraints/0/value', message: 'must not be empty' },
      { path: '/changes/0/input/labels', message: 'must be unique' },
    ],
    'The input is not valid: /changes/0/input/strategies/1/constraints/0/value must not be empty; and 1 more',
    'The input is not valid: strategy 2, constraint 1, value must not be empty; and 1 more · labels must be unique',
  ],
])('describes the refusal %j without a pointer', (details, message, words) => {
  expect(refusalText({ details, message })).toBe(words);
});

const flag: ExplainedFlag = {
  name: 'checkout',
  project: 'default',
  enabled: false,
  reason: 'no_strategy_holds',
  variant: { name: 'disabled', enabled: false, feature_enabled: false, featureEnabled: false },
  dependencies: [],
  strategies: [],
};
const rollout = { groupId: 'checkout', random: false };
const strategy = { name: 'flexibleRollout', holds: false, disabled: false, constraints: [], segments: [] };

it.each<[Partial<ExplainedFlag>, string]>([
  [{ reason: 'disabled' }, 'disabled'],
  [
    { reason: 'dependency', dependencies: [{ dependency: { feature: 'payments' }, holds: false }] },
    'depends on payments',
  ],
  [{ strategies: [{ ...strategy, rollout: { ...rollout, holds: false, rollout: 25, bucket: 61 } }] }, 'bucket 61 > 25'],
  [
    { strategies: [{ ...strategy, segments: [{ id: 3, holds: false, found: true, constraints: [] }] }] },
    'not in segment 3',
  ],
  [
    {
      strategies: [
        {
          ...strategy,
          constraints: [{ constraint: { contextName: 'country', operator: 'IN', values: ['DE'] }, holds: false }],
        },
      ],
    },
    'no country',
  ],
  [
    {
      enabled: true,
      reason: 'strategy',
      strategies: [{ ...strategy, holds: true, rollout: { ...rollout, holds: true, rollout: 100, bucket: 12 } }],
    },
    'rollout, bucket 12 ≤ 100',
  ],
])('explains %j as "%s"', (change, words) => {
  expect(why({ ...flag, ...change })).toBe(words);
});

it.each([
  ['the title of the flag', { name: 'default', title: 'Friends first', constraints: [] }, 'Friends first'],
  [
    'all conditions, also those that were not evaluated',
    { name: 'default', constraints: [{ contextName: 'country', operator: 'IN', values: ['DE'] }] },
    'Users with country DE',
  ],
  [
    'its own conditions, if the flag has another strategy there by now',
    { name: 'userWithId', constraints: [] },
    'Everyone',
  ],
  ['its own conditions, if the flag is unknown', undefined, 'Everyone'],
] as const)('titles an explained strategy with %s', (_case, stored, title) => {
  const explained = { ...strategy, name: 'default', disabled: true };
  const parameters = {};
  expect(explainedTitle(explained, stored && { ...stored, constraints: [...stored.constraints], parameters })).toBe(
    title,
  );
});

it('sums usage by hour, the oldest first, with zeros where nothing was reported', () => {
  const now = Date.parse('2026-01-01T05:30:00.000Z');
  const row = { feature: 'a', environment: 'production', appName: 'shop', no: 1 };
  const rows = [
    { ...row, hour: '2026-01-01T05:00:00.000Z', yes: 1 },
    { ...row, hour: '2026-01-01T05:00:00.000Z', yes: 2, appName: 'other' },
    { ...row, hour: '2026-01-01T03:00:00.000Z', yes: 4 },
    { ...row, hour: '2025-12-31T03:00:00.000Z', yes: 8 },
  ];
  expect(sumByPeriod(rows, 3, now)).toEqual([
    { yes: 4, no: 1 },
    { yes: 0, no: 0 },
    { yes: 3, no: 2 },
  ]);
});

it('sums usage by day and by variant', () => {
  const now = Date.parse('2026-01-03T05:30:00.000Z');
  const row = { feature: 'a', environment: 'production', appName: 'shop', no: 1 };
  const rows = [
    { ...row, day: '2026-01-03T00:00:00.000Z', yes: 3, variants: { blue: 2, disabled: 1 } },
    { ...row, day: '2026-01-01T00:00:00.000Z', yes: 9, variants: { green: 6, blue: 3 } },
  ];
  expect(sumByPeriod(rows, 3, now, DAY).map(({ yes }) => yes)).toEqual([9, 0, 3]);
  expect(sumByVariant(rows)).toEqual([
    ['green', 6],
    ['blue', 5],
  ]);
});

const NOW = Date.parse('2030-05-01T12:00:00Z');
const request: ListedChangeRequest = {
  id: '0198f4a2-7c1e-7b52-9d3e-5c1c8f2a7b11',
  state: 'approved',
  author: { name: 'ada', tokenId: null, tokenType: null, person: null },
  appliedBy: null,
  createdAt: '2030-05-01T10:00:00.000Z',
  reason: null,
  at: '2030-05-01T11:00:00.000Z',
  notAfter: '2030-05-01T12:00:00.000Z',
  expiresAt: null,
  ifUnchanged: false,
  required: 0,
  approvals: [],
  flags: [{ project: 'default', flag: 'checkout' }],
  environments: ['production'],
  endedAt: null,
  lateBy: null,
  changeSet: null,
  failure: null,
};
const untimed = { at: null, notAfter: null, expiresAt: '2030-05-15T10:00:00.000Z' };
const failed = (code: string, message: string) =>
  ({ state: 'failed', failure: { code, message, details: [] } }) as unknown as Partial<ListedChangeRequest>;
const approvedBy = (actor: string, current: boolean) => ({
  actor,
  at: '2030-05-01T11:00:00.000Z',
  reason: null,
  current,
});

it.each<[Partial<ListedChangeRequest>, RegExp | undefined]>([
  [{ at: '2030-05-01T13:00:00.000Z' }, /^It is applied on /],
  [{}, /^It is due\. If no service .* it expires\.$/],
  [{ ...untimed, state: 'open', required: 2 }, /^2 people must approve it\. It expires on .*\.$/],
  [
    { ...untimed, state: 'open', required: 2, approvals: [approvedBy('grace', true)] },
    /^1 more person must approve it\./,
  ],
  [
    { ...untimed, state: 'open', required: 2, approvals: [approvedBy('grace', false)] },
    /^What was approved is no longer what would happen\. 2 more people must approve it\./,
  ],
  [
    { at: '2030-05-01T13:00:00.000Z', state: 'open', required: 1 },
    /^1 person must approve it\. Then it is applied on .*; it expires on /,
  ],
  [{ state: 'open', required: 1 }, /^1 person must approve it\. Then it is applied at once; it expires on /],
  [{ ...untimed, required: 1, approvals: [approvedBy('grace', true)] }, /^It can be applied until /],
  [{ state: 'applied', changeSet: 'x', lateBy: 900 }, undefined],
  [
    { state: 'applied', changeSet: 'x', lateBy: 90_000, endedAt: '2030-05-01T11:01:30.000Z' },
    /^It was applied late, on /,
  ],
  [{ state: 'applied', changeSet: null, lateBy: 0 }, /^It changed nothing/],
  [failed('flag_archived', 'It is archived'), /^Nothing was changed\. It is archived\. Correct what the message names/],
  [failed('revision_mismatch', 'It has changed.'), /^Nothing was changed\. It has changed\. If the change still fits/],
  [failed('author_revoked', 'Make it again.'), /^Nothing was changed\. Make it again\.$/],
  [{ state: 'expired' }, /^Nothing was changed: it could not be applied until .* Check that a service which applies/],
  [{ ...untimed, state: 'expired' }, /^Nothing was changed: it was not applied in time\. If the change still fits/],
  [{ state: 'withdrawn' }, undefined],
  [{ state: 'rejected' }, undefined],
])('says what the request %j waits for, or what to do about it', (members, words) => {
  const advice = requestAdvice({ ...request, ...members }, NOW);
  if (words === undefined) expect(advice).toBeUndefined();
  else expect(advice).toMatch(words);
});

it.each<[Partial<ListedChangeRequest>, string, number]>([
  [{}, 'Scheduled', 0],
  [{ at: null }, 'Ready to apply', 0],
  [{ at: null, required: 1, approvals: [approvedBy('grace', true)] }, 'Approved', 0],
  [{ state: 'open', required: 2, approvals: [approvedBy('grace', false)] }, 'Waits for approval', 2],
  [{ state: 'failed' }, 'Failed', 0],
])('says the state of the request %j', (members, words, missing) => {
  expect(stateText({ ...request, ...members })).toBe(words);
  expect(missingApprovals({ ...request, ...members })).toBe(missing);
});

const inProduction = (op: Change['op'], flag: string): Change => ({
  op,
  ref: { project: 'default', flag, environment: 'production' },
});

it.each<[Parameters<typeof requestTitle>[0], string]>([
  [[inProduction('enable', 'checkout')], 'Enable checkout in production'],
  [[inProduction('enable', 'a'), inProduction('enable', 'b')], 'Enable a, b in production'],
  [[inProduction('enable', 'a'), inProduction('disable', 'a')], 'Change a in production'],
  [['a', 'b', 'c', 'd'].map((flag) => inProduction('enable', flag)), 'Enable a, b, c and 1 more in production'],
  [[inProduction('startRollout', 'checkout')], 'Roll out in steps: checkout in production'],
  [[{ op: 'setApprovalPolicy', input: {} }], 'Change which environments need approval'],
  [[{ op: 'undoChangeSet', ref: { changeSet: 'x' } }], 'Revert a change'],
])('names the request of %j by what it changes', (changes, title) => expect(requestTitle(changes)).toBe(title));

it('names a request of a list by its flags and environments', () => {
  expect(subjectTitle(request)).toBe('checkout in production');
  expect(subjectTitle({ flags: [], environments: [] })).toBe('Change which environments need approval');
});

it.each([
  [-1, undefined],
  [1_000, 'in less than a minute'],
  [7_200_000, 'in 2 hr.'],
])('says how long it is until %d milliseconds later', (left, words) => {
  expect(until(new Date(NOW + left).toISOString(), NOW)).toBe(words);
});

const started: StrategyRollout = {
  state: 'running',
  steps: [
    { percentage: 25, hold: 3_600_000 },
    { percentage: 50, hold: null },
    { percentage: 100, hold: 0 },
  ],
  step: 0,
  startedFrom: { value: '5' },
  since: '2030-05-01T11:00:00.000Z',
  guarded: false,
  author: { name: 'ada' },
  failure: null,
};

it.each<[Partial<StrategyRollout>, RegExp]>([
  [{}, /^50 % follows on [^,]+, .+[^,]\.$/],
  [{ guarded: true }, /, if the guard agrees\.$/],
  [{ step: 2 }, /^It is done on /],
  [{ step: 1, state: 'waiting' }, /^100 % follows when you advance it\.$/],
  [{ state: 'paused' }, /^No step follows until somebody resumes it\.$/],
  [
    { state: 'paused', failure: { code: 'forbidden', message: 'It is forbidden', details: [] } },
    /^A step was refused\. It is forbidden\.$/,
  ],
])('says what comes next in the rollout %j', (members, words) => {
  expect(rolloutAdvice({ ...started, ...members })).toMatch(words);
});

it('knows the times of the steps, until one waits for a person', () => {
  expect(stepTimes(started)).toEqual(['2030-05-01T11:00:00.000Z', '2030-05-01T12:00:00.000Z', undefined]);
  expect(stepTimes({ ...started, state: 'paused' })).toEqual(['2030-05-01T11:00:00.000Z', undefined, undefined]);
});

it.each([
  [86_400_000, '1 day'],
  [5_400_000, '90 minutes'],
  [7_200_000, '2 hours'],
  [500, '0.5 seconds'],
  [null, 'until you advance it'],
])('says that a step stays for %s milliseconds', (hold, words) => expect(holdText(hold)).toBe(words));

const able = {
  needsApproval: false,
  acceptsTimes: true,
  canRequest: true,
  mayApply: true,
  mayBypass: true,
  isReplacement: false,
};

it.each<[Partial<typeof able>, readonly Way[]]>([
  [{}, ['now', 'later', 'request']],
  [{ acceptsTimes: false }, ['now', 'request']],
  [{ canRequest: false }, ['now']],
  [{ mayApply: false }, ['request']],
  [{ mayApply: false, canRequest: false }, []],
  [{ isReplacement: true }, ['request', 'later']],
  [{ needsApproval: true }, ['request', 'later', 'now']],
  [{ needsApproval: true, mayBypass: false }, ['request', 'later']],
  [{ needsApproval: true, acceptsTimes: false, mayBypass: false }, ['request']],
  [{ needsApproval: true, canRequest: false }, ['now']],
  [{ needsApproval: true, canRequest: false, mayBypass: false }, []],
])('offers the ways of a review: %j', (possibilities, ways) => {
  expect(waysOf({ ...able, ...possibilities })).toEqual(ways);
});

it.each([
  [['production'], 1, 'production needs approval: 1 other person must approve the change before it is applied.'],
  [['a', 'b'], 2, 'a and b need approval: 2 other people must approve the change before it is applied.'],
  [[], 1, 'This needs approval: 1 other person must approve the change before it is applied.'],
])('says who must approve a change of %j', (environments, required, words) => {
  expect(approvalText({ environments, required })).toBe(words);
});

it('describes a new approval policy by what it changes', () => {
  const unknownEnvironments: readonly string[] = [];
  const before = { environments: { production: { required: 2 }, staging: { required: 1 } }, unknownEnvironments };
  const environments = { production: { required: 1 }, test: { required: 1 }, staging: { required: 1 } };
  const after = { environments, unknownEnvironments };
  expect(describePolicy(before, after)).toEqual([
    'approvals in production: 2 people → 1 person',
    'approvals in test: none → 1 person',
  ]);
});

it('does not repeat the id of a request in its refusal', () => {
  const message = `The change request ${request.id} needs 1 approval, and has none; ask for approval.`;
  expect(refusalOfRequest(message)).toBe('It needs 1 approval, and has none; ask for approval.');
});
