import type { Explained, ListedSchedule, Proposal, Rollout } from '../app/api/types.js';
import { refusalText } from '../app/model/refusal.js';
import { DAY, sumByPeriod, sumByVariant } from '../app/model/usage.js';
import { type Way, waysOf } from '../app/model/ways.js';
import {
  describePolicy,
  missingApprovals,
  proposalAdvice,
  refusalOfProposal,
} from '../app/parts/approval/proposal-words.js';
import { scheduleAdvice } from '../app/parts/schedule/advice.js';
import { holdText, rolloutAdvice } from '../app/parts/schedule/rollout-words.js';
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

const flag: Explained = {
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

it.each<[Partial<Explained>, string]>([
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
const schedule: ListedSchedule = {
  id: '0198f4a2-7c1e-7b52-9d3e-5c1c8f2a7b11',
  state: 'pending',
  at: '2030-05-01T11:00:00.000Z',
  notAfter: '2030-05-01T12:00:00.000Z',
  ifUnchanged: false,
  author: { name: 'ada', tokenId: null, tokenType: null },
  createdAt: '2030-05-01T10:00:00.000Z',
  reason: null,
  proposal: null,
  flags: [{ project: 'default', flag: 'checkout' }],
  environments: ['production'],
  endedAt: null,
  lateBy: null,
  changeSet: null,
  failure: null,
};
const failed = (code: string, message: string): Partial<ListedSchedule> =>
  ({ state: 'failed', failure: { code, message, details: [] } }) as Partial<ListedSchedule>;

it.each<[Partial<ListedSchedule>, RegExp | undefined]>([
  [{ at: '2030-05-01T13:00:00.000Z' }, undefined],
  [{}, /^It is due\. If no service .* it expires\.$/],
  [{ state: 'applied', changeSet: 'x', lateBy: 900 }, undefined],
  [
    { state: 'applied', changeSet: 'x', lateBy: 90_000, endedAt: '2030-05-01T11:01:30.000Z' },
    /^It was applied late, on /,
  ],
  [{ state: 'applied', changeSet: null, lateBy: 0 }, /^It changed nothing/],
  [failed('flag_archived', 'It is archived'), /^Nothing was changed\. It is archived\. Correct what the message names/],
  [failed('revision_mismatch', 'It has changed.'), /^Nothing was changed\. It has changed\. If the change still fits/],
  [failed('author_revoked', 'Make it again.'), /^Nothing was changed\. Make it again\.$/],
  [{ state: 'expired' }, /^Nothing was changed: no service .* Check that one with runSchedules runs/],
  [{ state: 'cancelled' }, undefined],
])('says what to do about the schedule %j', (members, words) => {
  const advice = scheduleAdvice({ ...schedule, ...members }, NOW);
  if (words === undefined) expect(advice).toBeUndefined();
  else expect(advice).toMatch(words);
});

it.each([
  [-1, undefined],
  [1_000, 'in less than a minute'],
  [7_200_000, 'in 2 hr.'],
])('says how long it is until %d milliseconds later', (left, words) => {
  expect(until(new Date(NOW + left).toISOString(), NOW)).toBe(words);
});

const started: Rollout = {
  id: '0198f4a2-7c1e-7b52-9d3e-5c1c8f2a7b12',
  state: 'running',
  ref: { project: 'default', flag: 'checkout', environment: 'production', strategy: 'x' },
  steps: [
    { rollout: 25, hold: 3_600_000 },
    { rollout: 100, hold: 0 },
  ],
  step: 0,
  startedFrom: 5,
  since: '2030-05-01T11:00:00.000Z',
  nextAt: '2030-05-01T12:00:00.000Z',
  guarded: false,
  approval: null,
  author: { name: 'ada', tokenId: null, tokenType: null },
  createdAt: '2030-05-01T11:00:00.000Z',
  reason: null,
  endedAt: null,
  ended: null,
  failure: null,
};
const endedBy = (reason: string): Partial<Rollout> => ({
  state: 'ended',
  ended: { reason: reason as NonNullable<Rollout['ended']>['reason'], changeSet: null },
});

it.each<[Partial<Rollout>, RegExp | undefined]>([
  [{}, /^100 % follows on [^,]+, .+[^,]\.$/],
  [{ guarded: true }, /, if the guard agrees\.$/],
  [{ step: 1 }, /^It is done on /],
  [{ state: 'waiting', nextAt: null }, /^100 % follows when you advance it\.$/],
  [{ state: 'waiting', step: 1, nextAt: null }, /^It is done when you advance it\.$/],
  [{ state: 'paused' }, undefined],
  [
    { state: 'paused', failure: { code: 'forbidden', message: 'It is forbidden', details: [] } },
    /^A step was refused\. It is forbidden\.$/,
  ],
  [{ state: 'rolled-back', ended: { reason: 'guard', changeSet: 'x' } }, /^The guard took it back to 5 %\.$/],
  [{ state: 'rolled-back', ended: { reason: 'stopped', changeSet: 'x' } }, /^It was taken back to 5 %\.$/],
  [endedBy('stopped'), undefined],
  [endedBy('strategy-changed'), /^Somebody changed the strategy/],
  [endedBy('flag-deleted'), /^The flag was deleted/],
  [{ state: 'done' }, undefined],
])('says what comes next in the rollout %j', (members, words) => {
  const advice = rolloutAdvice({ ...started, ...members });
  if (words === undefined) expect(advice).toBeUndefined();
  else expect(advice).toMatch(words);
});

it.each([
  [86_400_000, '1 day'],
  [5_400_000, '90 minutes'],
  [7_200_000, '2 hours'],
  [500, '0.5 seconds'],
  [null, 'until you advance it'],
])('says that a step stays for %s milliseconds', (hold, words) => expect(holdText(hold)).toBe(words));

it.each<[Parameters<typeof waysOf>[0], readonly Way[]]>([
  [{ needsApproval: false, canSchedule: true, canPropose: true, mayBypass: true }, ['now', 'later']],
  [{ needsApproval: false, canSchedule: false, canPropose: true, mayBypass: false }, ['now']],
  [{ needsApproval: true, canSchedule: true, canPropose: true, mayBypass: false }, ['propose']],
  [{ needsApproval: true, canSchedule: true, canPropose: true, mayBypass: true }, ['propose', 'now', 'later']],
  [{ needsApproval: true, canSchedule: false, canPropose: true, mayBypass: true }, ['propose', 'now']],
  [{ needsApproval: true, canSchedule: true, canPropose: false, mayBypass: true }, ['now', 'later']],
  [{ needsApproval: true, canSchedule: true, canPropose: false, mayBypass: false }, []],
])('offers the ways of a review: %j', (possibilities, ways) => expect(waysOf(possibilities)).toEqual(ways));

it.each([
  [['production'], 1, 'production needs approval: 1 other person must approve the change before it is applied.'],
  [['a', 'b'], 2, 'a and b need approval: 2 other people must approve the change before it is applied.'],
  [[], 1, 'This needs approval: 1 other person must approve the change before it is applied.'],
])('says who must approve a change of %j', (environments, required, words) => {
  expect(approvalText({ environments, required })).toBe(words);
});

const proposal: Proposal = {
  id: '0198f4a2-7c1e-7b52-9d3e-5c1c8f2a7b13',
  state: 'open',
  changes: [],
  rollout: null,
  author: { name: 'ada', tokenId: null, tokenType: null },
  createdAt: '2030-05-01T10:00:00.000Z',
  reason: 'Launch',
  required: 2,
  approvals: [],
  flags: [{ project: 'default', flag: 'checkout' }],
  environments: ['production'],
  expiresAt: '2030-05-15T10:00:00.000Z',
  schedule: null,
  changeSet: null,
  endedAt: null,
};
const approvedBy = (actor: string, current: boolean) => ({
  actor,
  at: '2030-05-01T11:00:00.000Z',
  reason: null,
  current,
});

it.each<[Partial<Proposal>, number, RegExp | undefined]>([
  [{}, 2, /^2 people must approve it\. It lapses on .*\.$/],
  [{ approvals: [approvedBy('grace', true)] }, 1, /^1 more person must approve it\./],
  [
    { approvals: [approvedBy('grace', false)] },
    2,
    /^What was approved is no longer what would happen\. 2 more people must approve it\./,
  ],
  [{ state: 'approved', required: 1, approvals: [approvedBy('grace', true)] }, 0, /^It can be applied until /],
  [{ state: 'approved', required: 1, approvals: [approvedBy('grace', false)] }, 1, /^What was approved is no longer/],
  [{ state: 'approved', required: 0 }, 0, /^It needs no approval, so it can be applied\.$/],
  [{ state: 'scheduled', required: 1, approvals: [approvedBy('grace', true)] }, 0, undefined],
  [{ state: 'applied', required: 0, changeSet: 'x' }, 0, undefined],
  [{ state: 'applied', required: 0 }, 0, /^It changed nothing/],
  [{ state: 'lapsed', required: 0 }, 0, /^Nothing was changed\. .* propose it again\.$/],
  [{ state: 'rejected', required: 0 }, 0, undefined],
])('says what the proposal %j waits for', (members, missing, words) => {
  const shown = { ...proposal, ...members };
  expect(missingApprovals(shown)).toBe(missing);
  if (words === undefined) expect(proposalAdvice(shown)).toBeUndefined();
  else expect(proposalAdvice(shown)).toMatch(words);
});

it('describes a new approval policy by what it changes', () => {
  const before = { environments: { production: { required: 2 }, staging: { required: 1 } } };
  const after = { environments: { production: { required: 1 }, test: { required: 1 }, staging: { required: 1 } } };
  expect(describePolicy(before, after)).toEqual([
    'approvals in production: 2 people → 1 person',
    'approvals in test: none → 1 person',
  ]);
});

it('does not repeat the id of a proposal in its refusal', () => {
  const message = `The proposal ${proposal.id} would now do something else, so its approvals have lapsed.`;
  expect(refusalOfProposal(message)).toBe('It would now do something else, so its approvals have lapsed.');
});
