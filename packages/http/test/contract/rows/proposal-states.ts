import type { Change, Flags } from '@flags/core';
import { USER_HEADER } from '../adapters.js';
import { ADMIN_SECRET } from '../contract-host.js';
import { inOrder, type RowRequest, type Step } from '../row.js';
import { CHECKOUT, enabled, NOW, PRODUCTION, protecting, strategyId, withStrategy } from '../states.js';

export const POLICY = '/api/admin/approval-policy';
export const PROPOSALS = '/api/admin/proposals';
export const ID = '6f1c1f7e-6d0a-4c57-9b8e-4d5b1f2f7a04';
export const UNKNOWN_ID = '6f1c1f7e-6d0a-4c57-9b8e-4d5b1f2f7a96';
export const KEY = '6f1c1f7e-6d0a-4c57-9b8e-4d5b1f2f7a95';
const DAY = 86_400_000;

export const ENABLE: Change = { op: 'enable', ref: PRODUCTION };
export const UNPROTECT = { op: 'setApprovalPolicy', input: { environments: {} } };
export const PROTECTING = { environments: { production: { required: 1 } } };
export const ROLLOUT = {
  ref: { ...PRODUCTION, strategy: strategyId(1) },
  steps: [{ rollout: 50, hold: null }],
  guarded: false,
};

type Headers = NonNullable<RowRequest['headers']>;

/** The request is that of a person, not of a token. */
export const BY_GRACE: Headers = { authorization: undefined, [USER_HEADER]: 'grace' };
/** The same person, in another form of the name. */
export const BY_GRACE_AGAIN: Headers = { authorization: undefined, [USER_HEADER]: ' GRACE ' };

export const guarded: Step = inOrder(withStrategy, protecting);

const asAdministrator = async (flags: Flags) => flags.as((await flags.verifyToken(ADMIN_SECRET)) ?? '');

const propose: Step = async (flags) =>
  (await asAdministrator(flags)).createProposal({ changes: [ENABLE] }, { id: ID, reason: 'Launch' });
export const proposed: Step = inOrder(guarded, propose);
export const proposedByGrace: Step = inOrder(guarded, (flags) =>
  flags.as('Grace').createProposal({ changes: [ENABLE] }, { id: ID, reason: 'Launch' }),
);
const proposedRollout: Step = inOrder(enabled, protecting, async (flags) =>
  (await asAdministrator(flags)).createProposal({ rollout: ROLLOUT }, { id: ID, reason: 'Launch' }),
);
export const approve: Step = (flags) => flags.as('grace').approveProposal({ proposal: ID });
export const approved: Step = inOrder(proposed, approve);
export const approvedRollout: Step = inOrder(proposedRollout, approve);
export const applied: Step = inOrder(approved, (flags) => flags.applyProposal({ proposal: ID }));
export const rejected: Step = inOrder(proposed, (flags) => flags.as('grace').rejectProposal({ proposal: ID }));
export const withdrawn: Step = inOrder(proposed, (flags) => flags.withdrawProposal({ proposal: ID }));
export const scheduled: Step = inOrder(approved, (flags) =>
  flags.applyProposal({ proposal: ID }, { at: later(1) }, { id: KEY }),
);
/** Its schedule has failed. */
export const lapsed: Step = inOrder(
  approved,
  (flags) => flags.applyProposal({ proposal: ID }, { at: NOW }),
  (flags) => flags.removeStrategy({ ...PRODUCTION, strategy: strategyId(1) }),
  (flags) => flags.runDue(),
);

export function later(days: number): string {
  return new Date(Date.parse(NOW) + days * DAY).toISOString();
}

export const LISTED = {
  id: ID,
  state: 'open',
  rollout: null,
  author: { name: 'administrator', tokenId: expect.any(String), tokenType: 'admin' },
  createdAt: NOW,
  reason: 'Launch',
  required: 1,
  approvals: [],
  flags: [CHECKOUT],
  environments: ['production'],
  expiresAt: later(14),
  schedule: null,
  changeSet: null,
  endedAt: null,
};
export const OPEN = { ...LISTED, changes: [ENABLE] };
export const APPROVAL = { actor: 'grace', at: NOW, reason: null };
export const APPROVED = { ...OPEN, state: 'approved', approvals: [{ ...APPROVAL, current: true }] };

export const isOn = (expected: boolean) => async (flags: Flags) =>
  expect((await flags.getFlag(CHECKOUT)).environments[1]?.enabled).toBe(expected);
