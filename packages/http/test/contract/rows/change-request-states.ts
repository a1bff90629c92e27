import type { Change, Flags } from '@flags/core';
import { USER_HEADER } from '../adapters.js';
import { ADMIN_SECRET } from '../contract-host.js';
import { inOrder, type RowRequest, type Step } from '../row.js';
import { CHECKOUT, NOW, PRODUCTION, protecting, strategyId, withStrategy } from '../states.js';

export const POLICY = '/api/admin/approval-policy';
export const REQUESTS = '/api/admin/change-requests';
export const ID = '6f1c1f7e-6d0a-4c57-9b8e-4d5b1f2f7a04';
export const OTHER_ID = '6f1c1f7e-6d0a-4c57-9b8e-4d5b1f2f7a05';
export const UNKNOWN_ID = '6f1c1f7e-6d0a-4c57-9b8e-4d5b1f2f7a96';
export const KEY = '6f1c1f7e-6d0a-4c57-9b8e-4d5b1f2f7a95';
const DAY = 86_400_000;

export const ENABLE: Change = { op: 'enable', ref: PRODUCTION };
export const UNPROTECT = { op: 'setApprovalPolicy', input: { environments: {} } };
export const PROTECTING = { environments: { production: { required: 1 } }, unknownEnvironments: [] };
export const START = {
  op: 'startRollout',
  ref: { ...PRODUCTION, strategy: strategyId(1) },
  input: { steps: [{ percentage: 50, hold: null }] },
} as const satisfies Change;

type Headers = NonNullable<RowRequest['headers']>;

/** The request is that of a person, not of a token. */
export const BY_GRACE: Headers = { authorization: undefined, [USER_HEADER]: 'grace' };
/** The same person, in another form of the name. */
export const BY_GRACE_AGAIN: Headers = { authorization: undefined, [USER_HEADER]: ' GRACE ' };

/**
 * The effect of switching the flag on in the protected environment. The state of the rows is always the same, so its hash
 * is as well: whoever changes what an effect contains sees it here.
 */
export const EFFECT = '4UafC72eNfXpJH1Q4iXoFWyAYhwc4LxGS0MUwr-IaHU';

const REF = { changeRequest: ID };

export const guarded: Step = inOrder(withStrategy, protecting);

export const asAdministrator = async (flags: Flags) => flags.as((await flags.verifyToken(ADMIN_SECRET)) ?? '');

export const requested: Step = inOrder(guarded, async (flags) =>
  (await asAdministrator(flags)).changeRequests.create([ENABLE], { id: ID, reason: 'Launch' }),
);
export const requestedByGrace: Step = inOrder(guarded, (flags) =>
  flags.as('Grace').changeRequests.create([ENABLE], { id: ID, reason: 'Launch' }),
);
export const approve: Step = async (flags) => {
  const { effect } = await flags.changeRequests.get(REF);
  return flags.as('grace').changeRequests.approve(REF, { effect: `${effect}` });
};
export const approved: Step = inOrder(requested, approve);
export const applied: Step = inOrder(approved, (flags) => flags.changeRequests.apply(REF));
export const rejected: Step = inOrder(requested, (flags) => flags.as('grace').changeRequests.reject(REF));
export const withdrawn: Step = inOrder(requested, (flags) => flags.changeRequests.withdraw(REF));
export const scheduled: Step = inOrder(approved, async (flags) =>
  (await asAdministrator(flags)).changeRequests.apply(REF, { at: later(1) }),
);
/** Refused when it was due. */
export const failed: Step = inOrder(
  approved,
  (flags) => flags.changeRequests.apply(REF, { at: NOW }),
  (flags) => flags.archiveFlag(CHECKOUT, { bypassApproval: 'Urgent' }),
  (flags) => flags.runDue(),
);

export function later(days: number): string {
  return new Date(Date.parse(NOW) + days * DAY).toISOString();
}

export const ADMINISTRATOR = {
  name: 'administrator',
  tokenId: expect.any(String),
  tokenType: 'admin',
  person: null,
};

export const LISTED = {
  id: ID,
  state: 'open',
  author: ADMINISTRATOR,
  appliedBy: null,
  createdAt: NOW,
  reason: 'Launch',
  at: null,
  notAfter: null,
  expiresAt: later(14),
  ifUnchanged: false,
  required: 1,
  approvals: [],
  flags: [CHECKOUT],
  environments: ['production'],
  endedAt: null,
  lateBy: null,
  changeSet: null,
  failure: null,
};
export const OPEN = {
  ...LISTED,
  changes: [ENABLE],
  approval: { required: 1, environments: ['production'] },
  effect: EFFECT,
};
export const APPROVAL = { actor: 'grace', at: NOW, reason: null, current: true };
export const APPROVED = { ...OPEN, state: 'approved', approvals: [APPROVAL] };

export const isOn = (expected: boolean) => async (flags: Flags) =>
  expect((await flags.getFlag(CHECKOUT)).environments[1]?.enabled).toBe(expected);
