import { inOrder, type Row } from '../row.js';
import { enabled, NOW, PRODUCTION, protecting, strategyId, withStrategy } from '../states.js';
import {
  APPROVAL,
  APPROVED,
  approved,
  BY_GRACE,
  ENABLE,
  guarded,
  ID,
  isOn,
  KEY,
  LISTED,
  lapsed,
  later,
  OPEN,
  POLICY,
  PROPOSALS,
  PROTECTING,
  proposed,
  ROLLOUT,
  UNPROTECT,
} from './proposal-states.js';

const policy: readonly Row[] = [
  {
    endpoint: 'getApprovalPolicy',
    name: 'names no environment in a new store',
    request: { method: 'GET', path: POLICY },
    expect: { status: 200, unchanged: true, body: { environments: {} } },
  },
  {
    endpoint: 'getApprovalPolicy',
    name: 'names the protected environments',
    given: protecting,
    request: { method: 'GET', path: POLICY },
    expect: { status: 200, unchanged: true, body: PROTECTING },
  },
  {
    endpoint: 'changeApprovalPolicy',
    name: 'replaces the policy',
    request: { method: 'PUT', path: POLICY, body: PROTECTING, headers: BY_GRACE },
    expect: {
      status: 200,
      body: PROTECTING,
      afterwards: async (flags) => expect(await flags.getApprovalPolicy()).toEqual(PROTECTING),
    },
  },
  {
    endpoint: 'changeApprovalPolicy',
    name: 'names the environments that the server does not have',
    request: {
      method: 'PUT',
      path: POLICY,
      body: { environments: { ...PROTECTING.environments, prodution: { required: 2 }, constructor: { required: 1 } } },
      headers: BY_GRACE,
    },
    expect: {
      status: 200,
      body: {
        environments: { ...PROTECTING.environments, prodution: { required: 2 }, constructor: { required: 1 } },
        unknownEnvironments: ['prodution', 'constructor'],
      },
    },
  },
  {
    endpoint: 'getApprovalPolicy',
    name: 'names the environments that the server does not have',
    given: (flags) => flags.setApprovalPolicy({ environments: { prodution: { required: 1 } } }),
    request: { method: 'GET', path: POLICY },
    expect: {
      status: 200,
      unchanged: true,
      body: { environments: { prodution: { required: 1 } }, unknownEnvironments: ['prodution'] },
    },
  },
  {
    endpoint: 'changeApprovalPolicy',
    name: 'changes nothing when the policy is the same',
    given: protecting,
    request: { method: 'PUT', path: POLICY, body: PROTECTING, headers: BY_GRACE },
    expect: { status: 200, unchanged: true, body: PROTECTING },
  },
  {
    endpoint: 'changeApprovalPolicy',
    name: 'needs the approval that an environment loses',
    given: protecting,
    request: { method: 'PUT', path: POLICY, body: { environments: {} }, headers: BY_GRACE },
    expect: { status: 409, code: 'approval_required' },
  },
  {
    endpoint: 'changeApprovalPolicy',
    name: 'bypasses the approval that an environment loses',
    given: protecting,
    request: {
      method: 'PUT',
      path: POLICY,
      body: { environments: {} },
      headers: { ...BY_GRACE, 'x-bypass-approval': 'Left%20the%20company' },
    },
    expect: { status: 200, body: { environments: {} } },
  },
  {
    endpoint: 'changeApprovalPolicy',
    name: 'refuses an API token',
    request: { method: 'PUT', path: POLICY, body: PROTECTING },
    expect: { status: 403, code: 'forbidden' },
  },
  ...[
    {},
    { environments: { production: {} } },
    { environments: { production: { required: 0 } } },
    { environments: { production: { required: 11 } } },
    { environments: { 'not a name': { required: 1 } } },
  ].map(
    (body): Row => ({
      endpoint: 'changeApprovalPolicy',
      name: `refuses ${JSON.stringify(body)}`,
      request: { method: 'PUT', path: POLICY, body, headers: BY_GRACE },
      expect: { status: 400, code: 'invalid_input' },
    }),
  ),
  {
    endpoint: 'changeApprovalPolicy',
    name: 'refuses an id, because a repeated request changes nothing',
    request: { method: 'PUT', path: POLICY, body: PROTECTING, headers: { ...BY_GRACE, 'idempotency-key': KEY } },
    expect: { status: 400, code: 'invalid_input' },
  },
];

const BODY = { id: ID, changes: [ENABLE], reason: 'Launch' };

const making: readonly Row[] = [
  {
    endpoint: 'createProposal',
    name: 'keeps changes for the approval of others',
    given: guarded,
    request: { method: 'POST', path: PROPOSALS, body: BODY },
    expect: { status: 201, body: OPEN, afterwards: isOn(false) },
  },
  {
    endpoint: 'createProposal',
    name: 'approves at once what needs no approval',
    given: withStrategy,
    request: { method: 'POST', path: PROPOSALS, body: { ...BODY, expiresAt: later(90) } },
    expect: {
      status: 201,
      body: { ...OPEN, state: 'approved', required: 0, expiresAt: later(90) },
      afterwards: isOn(false),
    },
  },
  {
    endpoint: 'createProposal',
    name: 'keeps a rollout',
    given: inOrder(enabled, protecting),
    request: { method: 'POST', path: PROPOSALS, body: { id: ID, rollout: ROLLOUT, reason: 'Launch' } },
    expect: { status: 201, body: { ...OPEN, changes: [], rollout: ROLLOUT } },
  },
  {
    endpoint: 'createProposal',
    name: 'keeps a new policy, which only people propose',
    given: guarded,
    request: { method: 'POST', path: PROPOSALS, body: { ...BODY, changes: [UNPROTECT] }, headers: BY_GRACE },
    expect: {
      status: 201,
      body: { ...OPEN, changes: [UNPROTECT], flags: [], author: { name: 'grace', tokenId: null, tokenType: null } },
    },
  },
  {
    endpoint: 'createProposal',
    name: 'refuses a new policy of an API token',
    given: guarded,
    request: { method: 'POST', path: PROPOSALS, body: { ...BODY, changes: [UNPROTECT] } },
    expect: { status: 403, code: 'forbidden' },
  },
  {
    endpoint: 'createProposal',
    name: 'answers a repeated id with the proposal as it is',
    given: approved,
    request: { method: 'POST', path: PROPOSALS, body: BODY },
    expect: { status: 201, unchanged: true, body: APPROVED },
  },
  {
    endpoint: 'createProposal',
    name: 'refuses the id of a proposal with other changes',
    given: proposed,
    request: { method: 'POST', path: PROPOSALS, body: { ...BODY, changes: [{ ...ENABLE, op: 'disable' }] } },
    expect: { status: 409, code: 'id_taken' },
  },
  {
    endpoint: 'createProposal',
    name: 'refuses a second rollout of a strategy',
    given: inOrder(enabled, (flags) => flags.startRollout(ROLLOUT.ref, { steps: ROLLOUT.steps })),
    request: { method: 'POST', path: PROPOSALS, body: { rollout: ROLLOUT, reason: 'Launch' } },
    expect: { status: 409, code: 'rollout_exists' },
  },
  {
    endpoint: 'createProposal',
    name: 'refuses a rollout of a flag that is off there',
    given: guarded,
    request: { method: 'POST', path: PROPOSALS, body: { rollout: ROLLOUT, reason: 'Launch' } },
    expect: { status: 409, code: 'environment_disabled' },
  },
  ...[
    { reason: undefined },
    { reason: ' ' },
    { reason: 7 },
    { changes: undefined },
    { changes: [] },
    { rollout: ROLLOUT },
    { changes: undefined, rollout: {} },
    { changes: undefined, rollout: { ...ROLLOUT, steps: [] } },
    { changes: [{ op: 'setApprovalPolicy', input: {} }] },
    { expiresAt: later(91) },
    { expiresAt: NOW },
    { expiresAt: 'soon' },
    { id: 'mine' },
  ].map(
    (members): Row => ({
      endpoint: 'createProposal',
      name: `refuses ${JSON.stringify(members)}`,
      given: guarded,
      request: { method: 'POST', path: PROPOSALS, body: { changes: [ENABLE], reason: 'Launch', ...members } },
      expect: { status: 400, code: 'invalid_input' },
    }),
  ),
];

const reading: readonly Row[] = [
  {
    endpoint: 'listProposals',
    name: 'lists proposals without their changes',
    given: approved,
    request: { method: 'GET', path: `${PROPOSALS}?state=approved&project=default&flag=checkout` },
    expect: {
      status: 200,
      unchanged: true,
      body: { version: 1, proposals: [{ ...LISTED, state: 'approved', approvals: [APPROVAL] }] },
    },
  },
  {
    endpoint: 'listProposals',
    name: 'lists a page',
    given: inOrder(proposed, (flags) => flags.createProposal({ changes: [ENABLE] }, { reason: 'Again' })),
    request: { method: 'GET', path: `${PROPOSALS}?limit=1` },
    expect: {
      status: 200,
      body: { version: 1, proposals: [expect.anything()], next: expect.any(String) },
      headers: { link: 'rel="next"' },
    },
  },
  {
    endpoint: 'listProposals',
    name: 'lists nothing of other projects',
    given: proposed,
    request: { method: 'GET', path: `${PROPOSALS}?project=shop` },
    expect: { status: 200, body: { version: 1, proposals: [] } },
  },
  ...['limit=0', 'state=late'].map(
    (query): Row => ({
      endpoint: 'listProposals',
      name: `refuses ${query}`,
      request: { method: 'GET', path: `${PROPOSALS}?${query}` },
      expect: { status: 400, code: 'invalid_input' },
    }),
  ),
  {
    endpoint: 'getProposal',
    name: 'shows a proposal with its changes',
    given: proposed,
    request: { method: 'GET', path: `${PROPOSALS}/${ID}` },
    expect: { status: 200, unchanged: true, body: OPEN, headers: { etag: '"1-' } },
  },
  {
    endpoint: 'getProposal',
    name: 'shows that an approval has lapsed, because clients would see something else',
    given: inOrder(approved, (flags) =>
      flags.updateStrategy({ ...PRODUCTION, strategy: strategyId(1) }, { name: 'default' }),
    ),
    request: { method: 'GET', path: `${PROPOSALS}/${ID}` },
    expect: { status: 200, body: { ...APPROVED, approvals: [{ ...APPROVAL, current: false }] } },
  },
  {
    endpoint: 'getProposal',
    name: 'shows that its schedule has failed',
    given: lapsed,
    request: { method: 'GET', path: `${PROPOSALS}/${ID}` },
    expect: {
      status: 200,
      body: expect.objectContaining({ state: 'lapsed', schedule: expect.any(String), changeSet: null, endedAt: NOW }),
    },
  },
];

export const proposalRows: readonly Row[] = [...policy, ...making, ...reading];
