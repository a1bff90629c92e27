import type { Flags } from '@flags/core';
import { ADMIN_SECRET } from '../contract-host.js';
import { inOrder, type Row, type Step } from '../row.js';
import { CHECKOUT, enabled, FLAG, NOW, PRODUCTION, protecting, strategyId, withStrategy } from '../states.js';

const ROLLOUTS = '/api/admin/rollouts';
const STRATEGIES = `${FLAG}/environments/production/strategies`;
const STRATEGY = `${STRATEGIES}/${strategyId(1)}`;
const ROLLOUT = `${STRATEGY}/rollout`;
const HOUR = 3_600_000;

const REF = { ...PRODUCTION, strategy: strategyId(1) };
const STEPS = [
  { percentage: 50, hold: HOUR },
  { percentage: 75, hold: null },
  { percentage: 100, hold: 0 },
];

const started: Step = inOrder(enabled, async (flags) => {
  const token = await flags.verifyToken(ADMIN_SECRET);
  await flags.as(token ?? '').rollouts.start(REF, { steps: STEPS });
});
const paused: Step = inOrder(started, (flags) => flags.rollouts.pause(REF));

const MEMBER = {
  steps: STEPS,
  step: 0,
  since: NOW,
  state: 'running',
  guarded: false,
  author: { name: 'administrator' },
  startedFrom: { value: 25 },
  failure: null,
};
const RUNNING = { ref: REF, percentage: 50, nextAt: new Date(Date.parse(NOW) + HOUR).toISOString(), ...MEMBER };

const parametersOf = async (flags: Flags) => (await flags.getFlag(CHECKOUT)).environments[1]?.strategies[0]?.parameters;
const hasPercentage = (expected: number) => async (flags: Flags) =>
  expect((await parametersOf(flags))?.rollout).toBe(expected);

const start = (name: string, rest: Pick<Row, 'expect'> & Partial<Row>, sent: Partial<Row['request']> = {}): Row => ({
  endpoint: 'startRollout',
  name,
  given: enabled,
  request: { method: 'POST', path: ROLLOUT, body: { steps: STEPS }, ...sent },
  ...rest,
});

const starting: readonly Row[] = [
  start('takes the first step', { expect: { status: 201, body: RUNNING, afterwards: hasPercentage(50) } }),
  start('refuses a rollout that needs approval', {
    given: inOrder(enabled, protecting),
    expect: { status: 409, code: 'approval_required' },
  }),
  start(
    'reads the options',
    {
      expect: {
        status: 201,
        body: { ...RUNNING, steps: [{ percentage: 30, hold: 0 }], percentage: 30, guarded: true, nextAt: NOW },
        afterwards: hasPercentage(30),
      },
    },
    { body: { steps: [{ percentage: 30 }], guarded: true } },
  ),
  start('refuses a second rollout of a strategy', { given: started, expect: { status: 409, code: 'rollout_exists' } }),
  start('refuses a flag that is off there', {
    given: withStrategy,
    expect: { status: 409, code: 'environment_disabled' },
  }),
  ...[
    { steps: undefined },
    { steps: [] },
    { steps: [{ percentage: 101 }] },
    { steps: [{ percentage: 10.5 }] },
    { steps: [{ percentage: 10 }, { percentage: 20 }] },
    { steps: [{ percentage: 10, hold: -1 }] },
    { steps: [{ percentage: 10 }], guarded: 'yes' },
  ].map((body) =>
    start(`refuses ${JSON.stringify(body)}`, { expect: { status: 400, code: 'invalid_input' } }, { body }),
  ),
];

const list = (name: string, query: string, expected: Row['expect'], given: Step = started): Row => ({
  endpoint: 'listRollouts',
  name,
  given,
  request: { method: 'GET', path: `${ROLLOUTS}?${query}` },
  expect: expected,
});

/** Starts a second rollout. */
const startedTwice: Step = inOrder(started, async (flags) => {
  const { id } = await flags.addStrategy(PRODUCTION, {
    name: 'flexibleRollout',
    parameters: { rollout: 5, groupId: 'other', stickiness: 'default' },
  });
  await flags.rollouts.start({ ...PRODUCTION, strategy: id }, { steps: STEPS });
});

const reading: readonly Row[] = [
  list('lists rollouts', 'state=running&project=default&flag=checkout', {
    status: 200,
    unchanged: true,
    body: { version: 1, rollouts: [RUNNING] },
  }),
  list(
    'lists a page',
    'limit=1',
    {
      status: 200,
      body: { version: 1, rollouts: [expect.anything()], next: expect.any(String) },
      headers: { link: 'rel="next"' },
    },
    startedTwice,
  ),
  list('lists nothing of other projects', 'project=shop', { status: 200, body: { version: 1, rollouts: [] } }),
  ...['limit=0', 'state=done'].map((query) => list(`refuses ${query}`, query, { status: 400, code: 'invalid_input' })),
  {
    endpoint: 'getStrategy',
    name: 'shows the rollout of a strategy',
    given: started,
    request: { method: 'GET', path: STRATEGY },
    expect: { status: 200, unchanged: true, body: expect.objectContaining({ rollout: MEMBER }) },
  },
  {
    endpoint: 'getStrategy',
    name: 'shows no rollout after its end',
    given: inOrder(started, (flags) => flags.rollouts.stop(REF)),
    request: { method: 'GET', path: STRATEGY },
    expect: { status: 200, unchanged: true, body: expect.not.objectContaining({ rollout: expect.anything() }) },
  },
  {
    endpoint: 10,
    name: 'ignores a member rollout: what a GET has just given leaves the rollout running',
    given: started,
    request: {
      method: 'PUT',
      path: STRATEGY,
      body: {
        name: 'flexibleRollout',
        parameters: { rollout: 50, groupId: 'checkout', stickiness: 'default' },
        constraints: [],
        rollout: { ...MEMBER, step: 2, state: 'waiting' },
      },
    },
    expect: { status: 200, unchanged: true, body: expect.objectContaining({ rollout: MEMBER }) },
  },
  {
    endpoint: 9,
    name: 'ignores a member rollout of a new strategy',
    given: enabled,
    request: { method: 'POST', path: STRATEGIES, body: { name: 'default', rollout: MEMBER } },
    expect: { status: 200, body: expect.not.objectContaining({ rollout: expect.anything() }) },
  },
  ...(['add', 'replace', 'test'] as const).map(
    (op): Row => ({
      endpoint: 11,
      name: `refuses to ${op} the member rollout`,
      given: started,
      request: { method: 'PATCH', path: STRATEGY, body: [{ op, path: '/rollout', value: MEMBER }] },
      expect: { status: 400, code: 'invalid_patch' },
    }),
  ),
  {
    endpoint: 11,
    name: 'refuses to remove a part of the member rollout',
    given: started,
    request: { method: 'PATCH', path: STRATEGY, body: [{ op: 'remove', path: '/rollout/steps/0' }] },
    expect: { status: 400, code: 'invalid_patch' },
  },
];

const MOVES = [
  ['pauseRollout', 'POST', '/pause'],
  ['resumeRollout', 'POST', '/resume'],
  ['advanceRollout', 'POST', '/advance'],
  ['stopRollout', 'DELETE', ''],
] as const;

const move = (
  endpoint: (typeof MOVES)[number][0],
  name: string,
  rest: Pick<Row, 'expect'> & Partial<Row>,
  { query = '', body }: { readonly query?: string; readonly body?: object } = {},
): Row => {
  const [, method, path] = MOVES.find(([one]) => one === endpoint) ?? MOVES[0];
  return { endpoint, name, given: started, request: { method, path: `${ROLLOUT}${path}${query}`, body }, ...rest };
};

const ENDED = { ref: REF, percentage: 50, nextAt: null };

const moving: readonly Row[] = [
  move('pauseRollout', 'pauses a rollout', { expect: { status: 200, body: { ...RUNNING, state: 'paused' } } }),
  move('pauseRollout', 'leaves a paused rollout as it is', {
    given: paused,
    expect: { status: 200, unchanged: true, body: { ...RUNNING, state: 'paused' } },
  }),
  move('resumeRollout', 'resumes a paused rollout', { given: paused, expect: { status: 200, body: RUNNING } }),
  move(
    'advanceRollout',
    'takes the next step',
    {
      expect: {
        status: 200,
        body: { ...RUNNING, percentage: 75, state: 'waiting', step: 1, nextAt: null },
        afterwards: hasPercentage(75),
      },
    },
    { body: { step: 1 } },
  ),
  move(
    'advanceRollout',
    'changes nothing when the step is reached',
    { expect: { status: 200, unchanged: true, body: RUNNING } },
    { body: { step: 0 } },
  ),
  move('advanceRollout', 'ends a rollout after its last step', {
    given: inOrder(enabled, (flags) => flags.rollouts.start(REF, { steps: [{ percentage: 50, hold: null }] })),
    expect: { status: 200, body: ENDED, afterwards: hasPercentage(50) },
  }),
  move('advanceRollout', 'refuses to cut a hold short, which nobody has approved', {
    given: inOrder(started, protecting),
    expect: { status: 409, code: 'approval_required' },
  }),
  ...[{ step: 2 }, { step: 'next' }].map((body) =>
    move(
      'advanceRollout',
      `refuses ${JSON.stringify(body)}`,
      { expect: { status: 400, code: 'invalid_input' } },
      { body },
    ),
  ),
  move('stopRollout', 'ends a rollout, and keeps the percentage', {
    expect: { status: 200, body: ENDED, afterwards: hasPercentage(50) },
  }),
  move(
    'stopRollout',
    'restores the percentage from before the start, also in a protected environment',
    {
      given: inOrder(started, protecting),
      expect: { status: 200, body: { ...ENDED, percentage: 25 }, afterwards: hasPercentage(25) },
    },
    { query: '?rollback=true' },
  ),
  move(
    'stopRollout',
    'refuses another rollback than true or false',
    { expect: { status: 400, code: 'invalid_input' } },
    { query: '?rollback=yes' },
  ),
  ...MOVES.map(([endpoint]) =>
    move(endpoint, 'does not find a rollout of a strategy without one', {
      given: enabled,
      expect: { status: 404, code: 'rollout_not_found' },
    }),
  ),
  ...[['startRollout', 'POST', ''] as const, ...MOVES].flatMap(([endpoint, method, path]) =>
    (
      [
        ['flag_not_found', ROLLOUT.replace('checkout', 'unknown')],
        ['project_not_found', ROLLOUT.replace('projects/default', 'projects/moon')],
        ['environment_not_found', ROLLOUT.replace('production', 'unknown')],
        ['strategy_not_found', ROLLOUT.replace(strategyId(1), strategyId(9))],
      ] as const
    ).map(
      ([code, address]): Row => ({
        endpoint,
        name: `answers ${code}`,
        given: started,
        request: { method, path: `${address}${path}`, ...(endpoint === 'startRollout' && { body: { steps: STEPS } }) },
        expect: { status: 404, code },
      }),
    ),
  ),
  start('refuses an archived flag', {
    given: inOrder(enabled, (flags) => flags.archiveFlag(CHECKOUT)),
    expect: { status: 409, code: 'flag_archived' },
  }),
];

export const rolloutRows: readonly Row[] = [...starting, ...reading, ...moving];
