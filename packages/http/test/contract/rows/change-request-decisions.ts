import { inOrder, type Row, type Step } from '../row.js';
import { DEFAULT, enabled, NOW, PRODUCTION, protecting, strategyId } from '../states.js';
import {
  ADMINISTRATOR,
  APPROVAL,
  APPROVED,
  applied,
  approve,
  approved,
  asAdministrator,
  BY_GRACE,
  BY_GRACE_AGAIN,
  EFFECT,
  ID,
  isOn,
  KEY,
  later,
  OPEN,
  REQUESTS,
  rejected,
  requested,
  requestedByGrace,
  START,
  scheduled,
  UNKNOWN_ID,
  withdrawn,
} from './change-request-states.js';

type Path = 'approve' | 'reject' | 'withdraw' | 'apply';

const decide = (
  path: Path,
  name: string,
  rest: Pick<Row, 'expect'> & Partial<Row>,
  sent: Partial<Row['request']> = {},
): Row => ({
  endpoint: `${path}ChangeRequest`,
  name,
  given: requested,
  request: {
    method: 'POST',
    path: `${REQUESTS}/${ID}/${path}`,
    headers: BY_GRACE,
    ...(path === 'approve' && { body: { effect: EFFECT } }),
    ...sent,
  },
  ...rest,
});

/** Clients of production would see something else. */
const edited: Step = (flags) => flags.updateStrategy({ ...PRODUCTION, strategy: strategyId(1) }, { name: 'default' });

/** The start of a rollout, approved by Grace. */
const startRequested: Step = inOrder(enabled, protecting, async (flags) =>
  (await asAdministrator(flags)).changeRequests.create([START], { id: ID, reason: 'Launch' }),
);

const deciding: readonly Row[] = [
  decide(
    'approve',
    'approves what was seen',
    {
      expect: {
        status: 200,
        body: { ...APPROVED, approvals: [{ ...APPROVAL, reason: 'Looks good' }] },
        afterwards: isOn(false),
      },
    },
    { headers: { ...BY_GRACE, 'x-change-reason': 'Looks%20good' } },
  ),
  decide(
    'approve',
    'counts a person once',
    {
      given: approved,
      expect: { status: 200, unchanged: true, body: APPROVED },
    },
    { headers: BY_GRACE_AGAIN },
  ),
  decide('approve', 'refuses what would be something else by now', {
    given: inOrder(requested, edited),
    expect: { status: 409, code: 'effect_changed' },
  }),
  decide(
    'approve',
    'refuses the author',
    {
      given: requestedByGrace,
      expect: { status: 409, code: 'own_change_request' },
    },
    { headers: BY_GRACE_AGAIN },
  ),
  decide('reject', 'refuses the author', {
    given: requestedByGrace,
    expect: { status: 409, code: 'own_change_request' },
  }),
  ...[{}, { effect: 7 }].map((body) =>
    decide('approve', `refuses ${JSON.stringify(body)}`, { expect: { status: 400, code: 'invalid_input' } }, { body }),
  ),
  decide('reject', 'ends a request', {
    expect: { status: 200, body: { ...OPEN, state: 'rejected', approval: null, endedAt: NOW } },
  }),
  decide('reject', 'ends a request with a time', {
    given: scheduled,
    expect: { status: 200, body: expect.objectContaining({ state: 'rejected', at: later(1), endedAt: NOW }) },
  }),
  decide('withdraw', 'takes a request back', {
    given: approved,
    expect: { status: 200, body: { ...APPROVED, state: 'withdrawn', approval: null, endedAt: NOW } },
  }),
  ...(['approve', 'reject'] as const).map((path) =>
    decide(path, 'refuses an API token', { expect: { status: 403, code: 'forbidden' } }, { headers: {} }),
  ),
  ...(['approve', 'reject', 'withdraw'] as const).map((path) =>
    decide(
      path,
      'refuses an id, because a repeated request changes nothing',
      {
        expect: { status: 400, code: 'invalid_input' },
      },
      { headers: { ...BY_GRACE, 'idempotency-key': KEY } },
    ),
  ),
];

const AS_ADMINISTRATOR = { headers: {} };

const applying: readonly Row[] = [
  decide(
    'apply',
    'applies an approved request',
    {
      given: approved,
      expect: {
        status: 200,
        body: {
          ...APPROVED,
          state: 'applied',
          approval: null,
          appliedBy: ADMINISTRATOR,
          changeSet: expect.any(String),
          endedAt: NOW,
        },
        afterwards: async (flags) => {
          await isOn(true)(flags);
          const { items } = await flags.events.list({ ...DEFAULT, type: 'environment-enabled' });
          expect(items).toMatchObject([{ origin: `change-request/${ID}`, actor: 'administrator', reason: 'Launch' }]);
        },
      },
    },
    AS_ADMINISTRATOR,
  ),
  decide('apply', 'starts an approved rollout', {
    given: inOrder(startRequested, approve),
    expect: {
      status: 200,
      body: expect.objectContaining({ state: 'applied', changeSet: expect.any(String) }),
      afterwards: async (flags) => {
        const { items } = await flags.rollouts.list();
        expect(items).toMatchObject([{ ref: START.ref, state: 'waiting', percentage: 50, author: { name: 'grace' } }]);
      },
    },
  }),
  decide(
    'apply',
    'sets the time of a request',
    {
      given: approved,
      expect: {
        status: 200,
        body: {
          ...APPROVED,
          at: later(1),
          notAfter: later(1),
          expiresAt: null,
          appliedBy: ADMINISTRATOR,
        },
        afterwards: isOn(false),
      },
    },
    { ...AS_ADMINISTRATOR, body: { at: later(1), notAfter: later(1) } },
  ),
  decide(
    'apply',
    'sets the time of a request that waits for approval',
    {
      expect: { status: 200, body: expect.objectContaining({ state: 'open', at: later(1) }), afterwards: isOn(false) },
    },
    { body: { at: later(1) } },
  ),
  decide('apply', 'applies a request before its time', {
    given: scheduled,
    expect: { status: 200, body: expect.objectContaining({ state: 'applied', lateBy: 0 }), afterwards: isOn(true) },
  }),
  decide('apply', 'refuses a request without enough approvals', { expect: { status: 409, code: 'approval_required' } }),
  decide('apply', 'refuses one whose approval does not count any more', {
    given: inOrder(approved, edited),
    expect: { status: 409, code: 'approval_required' },
  }),
  ...[
    { at: 'tomorrow' },
    { at: later(15) },
    { at: later(2), notAfter: later(1) },
    { notAfter: later(1) },
    { at: 7 },
  ].map((body) =>
    decide(
      'apply',
      `refuses ${JSON.stringify(body)}`,
      {
        given: approved,
        expect: { status: 400, code: 'invalid_input' },
      },
      { body },
    ),
  ),
];

/** Every decision, with a state that it refuses. */
const ENDED: readonly (readonly [Path, Step])[] = [
  ['approve', applied],
  ['reject', withdrawn],
  ['withdraw', rejected],
  ['apply', withdrawn],
];

const ended: readonly Row[] = ENDED.flatMap(([path, given]): readonly Row[] => [
  decide(
    path,
    'does not find an unknown request',
    {
      expect: { status: 404, code: 'change_request_not_found' },
    },
    { path: `${REQUESTS}/${UNKNOWN_ID}/${path}` },
  ),
  decide(path, 'refuses one that has ended', { given, expect: { status: 409, code: 'change_request_not_open' } }),
]);

export const decisionRows: readonly Row[] = [...deciding, ...applying, ...ended];
