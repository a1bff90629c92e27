import { inOrder, type Row } from '../row.js';
import { DEFAULT, NOW, PRODUCTION, strategyId } from '../states.js';
import {
  APPROVAL,
  APPROVED,
  applied,
  approved,
  approvedRollout,
  BY_GRACE,
  BY_GRACE_AGAIN,
  ID,
  isOn,
  KEY,
  lapsed,
  later,
  OPEN,
  PROPOSALS,
  proposed,
  proposedByGrace,
  ROLLOUT,
  rejected,
  scheduled,
  UNKNOWN_ID,
  withdrawn,
} from './proposal-states.js';

const deciding: readonly Row[] = [
  {
    endpoint: 'approveProposal',
    name: 'approves what a proposal would do',
    given: proposed,
    request: {
      method: 'POST',
      path: `${PROPOSALS}/${ID}/approve`,
      headers: { ...BY_GRACE, 'x-change-reason': 'Looks%20good' },
    },
    expect: {
      status: 200,
      body: { ...APPROVED, approvals: [{ ...APPROVAL, reason: 'Looks good', current: true }] },
      afterwards: isOn(false),
    },
  },
  {
    endpoint: 'approveProposal',
    name: 'counts a person once',
    given: approved,
    request: { method: 'POST', path: `${PROPOSALS}/${ID}/approve`, headers: BY_GRACE_AGAIN },
    expect: { status: 200, unchanged: true, body: APPROVED },
  },
  {
    endpoint: 'approveProposal',
    name: 'refuses the author',
    given: proposedByGrace,
    request: { method: 'POST', path: `${PROPOSALS}/${ID}/approve`, headers: BY_GRACE_AGAIN },
    expect: { status: 409, code: 'own_proposal' },
  },
  {
    endpoint: 'rejectProposal',
    name: 'ends a proposal',
    given: proposed,
    request: { method: 'POST', path: `${PROPOSALS}/${ID}/reject`, headers: BY_GRACE },
    expect: { status: 200, body: { ...OPEN, state: 'rejected', endedAt: NOW } },
  },
  {
    endpoint: 'rejectProposal',
    name: 'cancels the schedule of a proposal',
    given: scheduled,
    request: { method: 'POST', path: `${PROPOSALS}/${ID}/reject`, headers: BY_GRACE },
    expect: {
      status: 200,
      body: expect.objectContaining({ state: 'rejected', schedule: KEY }),
      afterwards: async (flags) => expect((await flags.getSchedule({ schedule: KEY })).state).toBe('cancelled'),
    },
  },
  {
    endpoint: 'withdrawProposal',
    name: 'takes a proposal back',
    given: approved,
    request: { method: 'POST', path: `${PROPOSALS}/${ID}/withdraw` },
    expect: {
      status: 200,
      body: { ...APPROVED, state: 'withdrawn', approvals: [{ ...APPROVAL, current: false }], endedAt: NOW },
    },
  },
  ...(['approve', 'reject'] as const).map(
    (path): Row => ({
      endpoint: `${path}Proposal`,
      name: 'refuses an API token',
      given: proposed,
      request: { method: 'POST', path: `${PROPOSALS}/${ID}/${path}` },
      expect: { status: 403, code: 'forbidden' },
    }),
  ),
  ...(
    [
      ['reject', rejected],
      ['withdraw', withdrawn],
    ] as const
  ).map(
    ([path, given]): Row => ({
      endpoint: `${path}Proposal`,
      name: 'changes nothing when repeated',
      given,
      request: { method: 'POST', path: `${PROPOSALS}/${ID}/${path}`, headers: BY_GRACE },
      expect: { status: 200, unchanged: true, body: expect.objectContaining({ endedAt: NOW }) },
    }),
  ),
  ...(['approve', 'reject', 'withdraw'] as const).map(
    (path): Row => ({
      endpoint: `${path}Proposal`,
      name: 'refuses an id, because a repeated request changes nothing',
      given: proposed,
      request: {
        method: 'POST',
        path: `${PROPOSALS}/${ID}/${path}`,
        headers: { ...BY_GRACE, 'idempotency-key': KEY },
      },
      expect: { status: 400, code: 'invalid_input' },
    }),
  ),
];

const applying: readonly Row[] = [
  {
    endpoint: 'applyProposal',
    name: 'applies an approved proposal',
    given: approved,
    request: { method: 'POST', path: `${PROPOSALS}/${ID}/apply` },
    expect: {
      status: 200,
      body: { ...APPROVED, state: 'applied', changeSet: expect.any(String), endedAt: NOW },
      afterwards: async (flags) => {
        await isOn(true)(flags);
        const { items } = await flags.listEvents({ ...DEFAULT, type: 'environment-enabled' });
        expect(items).toMatchObject([{ origin: `proposal/${ID}`, actor: 'administrator', reason: 'Launch' }]);
      },
    },
  },
  {
    endpoint: 'applyProposal',
    name: 'starts an approved rollout',
    given: approvedRollout,
    request: { method: 'POST', path: `${PROPOSALS}/${ID}/apply` },
    expect: {
      status: 200,
      body: expect.objectContaining({ state: 'applied', changeSet: expect.any(String) }),
      afterwards: async (flags) => {
        const { items } = await flags.listRollouts();
        expect(items).toMatchObject([{ id: ID, approval: `proposal/${ID}`, state: 'waiting' }]);
      },
    },
  },
  {
    endpoint: 'applyProposal',
    name: 'schedules an approved proposal',
    given: approved,
    request: {
      method: 'POST',
      path: `${PROPOSALS}/${ID}/apply`,
      body: { at: later(1), notAfter: later(1) },
    },
    expect: {
      status: 200,
      body: { ...APPROVED, state: 'scheduled', schedule: expect.any(String) },
      afterwards: async (flags) => {
        const { items } = await flags.listSchedules();
        expect(items).toMatchObject([{ proposal: ID, at: later(1) }]);
      },
    },
  },
  {
    endpoint: 'applyProposal',
    name: 'refuses a proposal without enough approvals',
    given: proposed,
    request: { method: 'POST', path: `${PROPOSALS}/${ID}/apply` },
    expect: { status: 409, code: 'approval_required' },
  },
  {
    endpoint: 'applyProposal',
    name: 'refuses one whose approval has lapsed',
    given: inOrder(approved, (flags) =>
      flags.updateStrategy({ ...PRODUCTION, strategy: strategyId(1) }, { name: 'default' }),
    ),
    request: { method: 'POST', path: `${PROPOSALS}/${ID}/apply` },
    expect: { status: 409, code: 'proposal_lapsed' },
  },
  {
    endpoint: 'applyProposal',
    name: 'refuses one that a schedule will apply',
    given: scheduled,
    request: { method: 'POST', path: `${PROPOSALS}/${ID}/apply` },
    expect: { status: 409, code: 'proposal_not_open' },
  },
  ...[
    { at: 'tomorrow' },
    { at: later(15) },
    { at: later(2), notAfter: later(1) },
    { notAfter: later(1) },
    { at: 7 },
  ].map(
    (body): Row => ({
      endpoint: 'applyProposal',
      name: `refuses ${JSON.stringify(body)}`,
      given: approved,
      request: { method: 'POST', path: `${PROPOSALS}/${ID}/apply`, body },
      expect: { status: 400, code: 'invalid_input' },
    }),
  ),
  {
    endpoint: 'applyProposal',
    name: 'refuses a time for a rollout',
    given: approvedRollout,
    request: { method: 'POST', path: `${PROPOSALS}/${ID}/apply`, body: { at: later(1) } },
    expect: { status: 400, code: 'invalid_input' },
  },
  ...(['approve', 'apply'] as const).flatMap((path): readonly Row[] => [
    {
      endpoint: `${path}Proposal`,
      name: 'refuses a rollout of a flag that was switched off',
      given: inOrder(approvedRollout, (flags) => flags.disable(PRODUCTION)),
      request: { method: 'POST', path: `${PROPOSALS}/${ID}/${path}`, headers: BY_GRACE },
      expect: { status: 409, code: 'environment_disabled' },
    },
    {
      endpoint: `${path}Proposal`,
      name: 'refuses a rollout of a strategy that has another one by now',
      given: inOrder(approvedRollout, (flags) =>
        flags.startRollout(ROLLOUT.ref, { steps: ROLLOUT.steps }, { bypassApproval: 'Urgent' }),
      ),
      request: { method: 'POST', path: `${PROPOSALS}/${ID}/${path}`, headers: BY_GRACE },
      expect: { status: 409, code: 'rollout_exists' },
    },
  ]),
];

/** Every route of one proposal, with a state that it refuses. */
const MOVES = [
  ['approve', applied],
  ['reject', withdrawn],
  ['withdraw', rejected],
  ['apply', withdrawn],
] as const;

const ended: readonly Row[] = [
  {
    endpoint: 'getProposal',
    name: 'does not find an unknown proposal',
    given: proposed,
    request: { method: 'GET', path: `${PROPOSALS}/${UNKNOWN_ID}` },
    expect: { status: 404, code: 'proposal_not_found' },
  },
  ...MOVES.flatMap(([path, given]): readonly Row[] => [
    {
      endpoint: `${path}Proposal`,
      name: 'does not find an unknown proposal',
      given: proposed,
      request: { method: 'POST', path: `${PROPOSALS}/${UNKNOWN_ID}/${path}`, headers: BY_GRACE },
      expect: { status: 404, code: 'proposal_not_found' },
    },
    {
      endpoint: `${path}Proposal`,
      name: 'refuses one that has ended',
      given,
      request: { method: 'POST', path: `${PROPOSALS}/${ID}/${path}`, headers: BY_GRACE },
      expect: { status: 409, code: 'proposal_not_open' },
    },
    {
      endpoint: `${path}Proposal`,
      name: 'refuses one that has lapsed',
      given: lapsed,
      request: { method: 'POST', path: `${PROPOSALS}/${ID}/${path}`, headers: BY_GRACE },
      expect: { status: 409, code: 'proposal_lapsed' },
    },
  ]),
];

export const proposalDecisionRows: readonly Row[] = [...deciding, ...applying, ...ended];
