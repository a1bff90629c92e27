import type { Flags } from '@flags/core';
import { ADMIN_SECRET } from '../contract-host.js';
import { inOrder, type Row, type Step } from '../row.js';
import { archived, CHECKOUT, enabled, NOW, PRODUCTION, protecting, strategyId, withStrategy } from '../states.js';

const ROLLOUTS = '/api/admin/rollouts';
const ID = '6f1c1f7e-6d0a-4c57-9b8e-4d5b1f2f7a03';
const UNKNOWN_ID = '6f1c1f7e-6d0a-4c57-9b8e-4d5b1f2f7a97';
const HOUR = 3_600_000;

const REF = { ...PRODUCTION, strategy: strategyId(1) };
const STEPS = [
  { rollout: 50, hold: HOUR },
  { rollout: 75, hold: null },
  { rollout: 100, hold: 0 },
];
const BODY = { id: ID, ref: REF, steps: STEPS, reason: 'Launch' };

const started: Step = inOrder(enabled, async (flags) => {
  const token = await flags.verifyToken(ADMIN_SECRET);
  await flags.as(token ?? '').startRollout(REF, { steps: STEPS }, { id: ID, reason: 'Launch' });
});
const paused: Step = inOrder(started, (flags) => flags.pauseRollout({ rollout: ID }));
const stopped: Step = inOrder(started, (flags) => flags.stopRollout({ rollout: ID }));

const RUNNING = {
  id: ID,
  state: 'running',
  ref: REF,
  steps: STEPS,
  step: 0,
  startedFrom: 25,
  since: NOW,
  nextAt: new Date(Date.parse(NOW) + HOUR).toISOString(),
  guarded: false,
  approval: null,
  author: { name: 'administrator', tokenId: expect.any(String), tokenType: 'admin' },
  createdAt: NOW,
  reason: 'Launch',
  endedAt: null,
  ended: null,
  failure: null,
};
const STOPPED = {
  ...RUNNING,
  state: 'ended',
  nextAt: null,
  endedAt: NOW,
  ended: { reason: 'stopped', changeSet: null },
};

const percentageOf = async (flags: Flags) =>
  (await flags.getFlag(CHECKOUT)).environments[1]?.strategies[0]?.parameters?.rollout;
const hasPercentage = (expected: number) => async (flags: Flags) => expect(await percentageOf(flags)).toBe(expected);

const starting: readonly Row[] = [
  {
    endpoint: 'startRollout',
    name: 'refuses a rollout that needs approval',
    given: inOrder(enabled, protecting),
    request: { method: 'POST', path: ROLLOUTS, body: BODY },
    expect: { status: 409, code: 'approval_required' },
  },
  {
    endpoint: 'startRollout',
    name: 'takes the first step',
    given: enabled,
    request: { method: 'POST', path: ROLLOUTS, body: BODY },
    expect: { status: 201, body: RUNNING, afterwards: hasPercentage(50) },
  },
  {
    endpoint: 'startRollout',
    name: 'reads the options',
    given: enabled,
    request: { method: 'POST', path: ROLLOUTS, body: { ...BODY, steps: [{ rollout: 30 }], guarded: true } },
    expect: {
      status: 201,
      body: { ...RUNNING, steps: [{ rollout: 30, hold: 0 }], guarded: true, nextAt: NOW },
      afterwards: hasPercentage(30),
    },
  },
  {
    endpoint: 'startRollout',
    name: 'answers a repeated id with the rollout as it is',
    given: paused,
    request: { method: 'POST', path: ROLLOUTS, body: BODY },
    expect: { status: 201, unchanged: true, body: { ...RUNNING, state: 'paused' } },
  },
  {
    endpoint: 'startRollout',
    name: 'refuses a second rollout of a strategy',
    given: started,
    request: { method: 'POST', path: ROLLOUTS, body: { ...BODY, id: UNKNOWN_ID } },
    expect: { status: 409, code: 'rollout_exists' },
  },
  {
    endpoint: 'startRollout',
    name: 'refuses a flag that is off there',
    given: withStrategy,
    request: { method: 'POST', path: ROLLOUTS, body: BODY },
    expect: { status: 409, code: 'environment_disabled' },
  },
  {
    endpoint: 'startRollout',
    name: 'refuses an archived flag',
    given: archived,
    request: { method: 'POST', path: ROLLOUTS, body: BODY },
    expect: { status: 409, code: 'flag_archived' },
  },
  {
    endpoint: 'startRollout',
    name: 'does not find an unknown flag',
    given: enabled,
    request: { method: 'POST', path: ROLLOUTS, body: { ...BODY, ref: { ...REF, flag: 'unknown' } } },
    expect: { status: 404, code: 'flag_not_found' },
  },
  {
    endpoint: 'startRollout',
    name: 'does not find an unknown environment',
    given: enabled,
    request: { method: 'POST', path: ROLLOUTS, body: { ...BODY, ref: { ...REF, environment: 'unknown' } } },
    expect: { status: 404, code: 'environment_not_found' },
  },
  {
    endpoint: 'startRollout',
    name: 'does not find an unknown strategy',
    given: enabled,
    request: { method: 'POST', path: ROLLOUTS, body: { ...BODY, ref: { ...REF, strategy: 'unknown' } } },
    expect: { status: 404, code: 'strategy_not_found' },
  },
  ...[
    { ref: undefined },
    { ref: { ...REF, project: undefined } },
    { ref: { ...REF, strategy: 7 } },
    { steps: undefined },
    { steps: [] },
    { steps: [{ rollout: 101 }] },
    { steps: [{ rollout: 10 }, { rollout: 20 }] },
    { steps: [{ rollout: 10, hold: -1 }] },
    { guarded: 'yes' },
    { id: 'mine' },
    { reason: 7 },
  ].map(
    (members): Row => ({
      endpoint: 'startRollout',
      name: `refuses ${JSON.stringify(members)}`,
      given: enabled,
      request: { method: 'POST', path: ROLLOUTS, body: { ...BODY, ...members } },
      expect: { status: 400, code: 'invalid_input' },
    }),
  ),
];

const reading: readonly Row[] = [
  {
    endpoint: 'listRollouts',
    name: 'lists rollouts',
    given: started,
    request: { method: 'GET', path: `${ROLLOUTS}?state=running&project=default&flag=checkout` },
    expect: { status: 200, unchanged: true, body: { version: 1, rollouts: [RUNNING] } },
  },
  {
    endpoint: 'listRollouts',
    name: 'lists a page',
    given: inOrder(stopped, (flags) => flags.startRollout(REF, { steps: STEPS })),
    request: { method: 'GET', path: `${ROLLOUTS}?limit=1` },
    expect: {
      status: 200,
      body: { version: 1, rollouts: [expect.anything()], next: expect.any(String) },
      headers: { link: 'rel="next"' },
    },
  },
  {
    endpoint: 'listRollouts',
    name: 'lists nothing of other projects',
    given: started,
    request: { method: 'GET', path: `${ROLLOUTS}?project=shop` },
    expect: { status: 200, body: { version: 1, rollouts: [] } },
  },
  ...['limit=0', 'state=late'].map(
    (query): Row => ({
      endpoint: 'listRollouts',
      name: `refuses ${query}`,
      request: { method: 'GET', path: `${ROLLOUTS}?${query}` },
      expect: { status: 400, code: 'invalid_input' },
    }),
  ),
  {
    endpoint: 'getRollout',
    name: 'shows a rollout',
    given: started,
    request: { method: 'GET', path: `${ROLLOUTS}/${ID}` },
    expect: { status: 200, unchanged: true, body: RUNNING, headers: { etag: '"1-' } },
  },
  {
    endpoint: 'getRollout',
    name: 'does not find an unknown rollout',
    given: started,
    request: { method: 'GET', path: `${ROLLOUTS}/${UNKNOWN_ID}` },
    expect: { status: 404, code: 'rollout_not_found' },
  },
];

const MOVES = [
  ['pauseRollout', 'pause'],
  ['resumeRollout', 'resume'],
  ['advanceRollout', 'advance'],
  ['stopRollout', 'stop'],
] as const;

const moving: readonly Row[] = [
  {
    endpoint: 'advanceRollout',
    name: 'refuses to cut a hold short, which nobody has approved',
    given: inOrder(started, protecting),
    request: { method: 'POST', path: `${ROLLOUTS}/${ID}/advance` },
    expect: { status: 409, code: 'approval_required' },
  },
  {
    endpoint: 'pauseRollout',
    name: 'pauses a rollout',
    given: started,
    request: { method: 'POST', path: `${ROLLOUTS}/${ID}/pause` },
    expect: { status: 200, body: { ...RUNNING, state: 'paused' } },
  },
  {
    endpoint: 'resumeRollout',
    name: 'resumes a paused rollout',
    given: paused,
    request: { method: 'POST', path: `${ROLLOUTS}/${ID}/resume` },
    expect: { status: 200, body: RUNNING },
  },
  {
    endpoint: 'advanceRollout',
    name: 'takes the next step',
    given: started,
    request: { method: 'POST', path: `${ROLLOUTS}/${ID}/advance`, body: { step: 1 } },
    expect: {
      status: 200,
      body: { ...RUNNING, state: 'waiting', step: 1, nextAt: null },
      afterwards: hasPercentage(75),
    },
  },
  {
    endpoint: 'advanceRollout',
    name: 'changes nothing when the step is reached',
    given: started,
    request: { method: 'POST', path: `${ROLLOUTS}/${ID}/advance`, body: { step: 0 } },
    expect: { status: 200, unchanged: true, body: RUNNING },
  },
  ...[{ step: 2 }, { step: 'next' }].map(
    (body): Row => ({
      endpoint: 'advanceRollout',
      name: `refuses ${JSON.stringify(body)}`,
      given: started,
      request: { method: 'POST', path: `${ROLLOUTS}/${ID}/advance`, body },
      expect: { status: 400, code: 'invalid_input' },
    }),
  ),
  {
    endpoint: 'stopRollout',
    name: 'ends a rollout, and keeps the percentage',
    given: started,
    request: { method: 'POST', path: `${ROLLOUTS}/${ID}/stop` },
    expect: { status: 200, body: STOPPED, afterwards: hasPercentage(50) },
  },
  {
    endpoint: 'stopRollout',
    name: 'restores the percentage from before the start',
    given: started,
    request: { method: 'POST', path: `${ROLLOUTS}/${ID}/stop`, body: { rollback: true } },
    expect: {
      status: 200,
      body: { ...STOPPED, state: 'rolled-back', ended: { reason: 'stopped', changeSet: expect.any(String) } },
      afterwards: hasPercentage(25),
    },
  },
  {
    endpoint: 'stopRollout',
    name: 'refuses another rollback than yes or no',
    given: started,
    request: { method: 'POST', path: `${ROLLOUTS}/${ID}/stop`, body: { rollback: 'yes' } },
    expect: { status: 400, code: 'invalid_input' },
  },
  ...MOVES.flatMap(([endpoint, path]): readonly Row[] => [
    {
      endpoint,
      name: 'does not find an unknown rollout',
      given: started,
      request: { method: 'POST', path: `${ROLLOUTS}/${UNKNOWN_ID}/${path}` },
      expect: { status: 404, code: 'rollout_not_found' },
    },
    {
      endpoint,
      name: 'refuses a rollout that has ended',
      given: stopped,
      request: {
        method: 'POST',
        path: `${ROLLOUTS}/${ID}/${path}`,
        ...(path === 'stop' && { body: { rollback: true } }),
      },
      expect: { status: 409, code: 'rollout_not_active' },
    },
    {
      endpoint,
      name: 'refuses an id, because a repeated request changes nothing',
      given: started,
      request: { method: 'POST', path: `${ROLLOUTS}/${ID}/${path}`, headers: { 'idempotency-key': UNKNOWN_ID } },
      expect: { status: 400, code: 'invalid_input' },
    },
  ]),
];

export const rolloutRows: readonly Row[] = [...starting, ...reading, ...moving];
