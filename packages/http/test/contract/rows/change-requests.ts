import { inOrder, type Row } from '../row.js';
import { NOW, PRODUCTION, protecting, strategyId, withStrategy } from '../states.js';
import {
  ADMINISTRATOR,
  APPROVAL,
  APPROVED,
  approved,
  BY_GRACE,
  ENABLE,
  failed,
  guarded,
  ID,
  isOn,
  KEY,
  LISTED,
  later,
  OPEN,
  OTHER_ID,
  POLICY,
  PROTECTING,
  REQUESTS,
  rejected,
  requested,
  START,
  scheduled,
  UNKNOWN_ID,
  UNPROTECT,
} from './change-request-states.js';

const policy: readonly Row[] = [
  {
    endpoint: 'getApprovalPolicy',
    name: 'names no environment in a new store',
    request: { method: 'GET', path: POLICY },
    expect: { status: 200, unchanged: true, body: { environments: {}, unknownEnvironments: [] } },
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
      afterwards: async (flags) => expect(await flags.approvalPolicy.get()).toEqual(PROTECTING),
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
    given: (flags) => flags.approvalPolicy.set({ environments: { prodution: { required: 1 } } }),
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
    expect: { status: 200, body: { environments: {}, unknownEnvironments: [] } },
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
const SET = '6f1c1f7e-6d0a-4c57-9b8e-4d5b1f2f7a06';
const UNDO = { op: 'undoChangeSet', ref: { changeSet: SET } };
const EMPTY_EFFECT = 'T1PNoYwrqgwDVLtfmj7L5e0Sq02OEbqHPC8RFhICuUU';

const make = (name: string, body: object, rest: Pick<Row, 'expect'> & Partial<Row>): Row => ({
  endpoint: 'createChangeRequest',
  name,
  given: guarded,
  request: { method: 'POST', path: REQUESTS, body: { ...BODY, ...body } },
  ...rest,
});

const making: readonly Row[] = [
  make(
    'keeps changes for the approval of others',
    {},
    {
      expect: { status: 201, body: OPEN, afterwards: isOn(false) },
    },
  ),
  make(
    'approves at once what needs no approval, and waits for a person',
    { expiresAt: later(90) },
    {
      given: withStrategy,
      expect: {
        status: 201,
        body: { ...OPEN, state: 'approved', required: 0, approval: null, effect: EMPTY_EFFECT, expiresAt: later(90) },
        afterwards: isOn(false),
      },
    },
  ),
  make(
    'keeps a time with an offset, and the options',
    { at: later(1).replace('Z', '+00:00'), notAfter: later(1), ifUnchanged: true },
    {
      expect: {
        status: 201,
        body: {
          ...OPEN,
          at: later(1),
          notAfter: later(1),
          expiresAt: null,
          ifUnchanged: true,
          appliedBy: ADMINISTRATOR,
        },
        afterwards: isOn(false),
      },
    },
  ),
  make(
    'keeps the start of a rollout beside another change',
    { changes: [ENABLE, START] },
    {
      expect: { status: 201, body: { ...OPEN, changes: [ENABLE, START], effect: expect.any(String) } },
    },
  ),
  make(
    'keeps an undo',
    { changes: [UNDO] },
    {
      given: inOrder(guarded, (flags) => flags.apply([ENABLE], { id: SET, bypassApproval: 'Urgent' })),
      expect: {
        status: 201,
        body: { ...OPEN, state: 'approved', required: 0, changes: [UNDO], approval: null, effect: expect.any(String) },
      },
    },
  ),
  make(
    'keeps a new policy',
    { changes: [UNPROTECT] },
    {
      expect: {
        status: 201,
        body: { ...OPEN, changes: [UNPROTECT], flags: [], effect: expect.any(String) },
      },
    },
  ),
  make(
    'refuses an API token that gives a new policy a time',
    { changes: [UNPROTECT], at: later(1) },
    {
      expect: { status: 403, code: 'forbidden' },
    },
  ),
  make(
    'replaces a request, which ends as withdrawn',
    { id: OTHER_ID, replaces: ID },
    {
      given: requested,
      expect: {
        status: 201,
        body: { ...OPEN, id: OTHER_ID },
        afterwards: async (flags) =>
          expect((await flags.changeRequests.get({ changeRequest: ID })).state).toBe('withdrawn'),
      },
    },
  ),
  make(
    'does not find the request that it replaces',
    { replaces: UNKNOWN_ID },
    {
      expect: { status: 404, code: 'change_request_not_found' },
    },
  ),
  make(
    'refuses to replace one that has ended',
    { id: OTHER_ID, replaces: ID },
    {
      given: rejected,
      expect: { status: 409, code: 'change_request_not_open' },
    },
  ),
  make(
    'answers a repeated id with the request as it is',
    { reason: 'Again' },
    {
      given: approved,
      expect: { status: 201, unchanged: true, body: APPROVED },
    },
  ),
  make(
    'refuses the id of a request with other changes',
    { changes: [{ ...ENABLE, op: 'disable' }] },
    {
      given: requested,
      expect: { status: 409, code: 'id_taken' },
    },
  ),
  make(
    'does not find the change set that it would undo',
    { changes: [UNDO] },
    {
      expect: { status: 404, code: 'change_set_not_found' },
    },
  ),
  make(
    'refuses the undo of what was changed since',
    { changes: [UNDO] },
    {
      given: inOrder(
        withStrategy,
        (flags) => flags.apply([{ op: 'updateFlag', ref: PRODUCTION, input: { description: 'One' } }], { id: SET }),
        (flags) => flags.updateFlag(PRODUCTION, { description: 'Two' }),
      ),
      expect: { status: 409, code: 'undo_conflict' },
    },
  ),
  ...[
    { reason: 7 },
    { changes: undefined },
    { changes: [] },
    { changes: [ENABLE, UNDO] },
    { changes: [{ op: 'setApprovalPolicy', input: {} }] },
    { at: '2026-12-24T18:00:00' },
    { at: 7 },
    { at: later(400) },
    { at: later(-2) },
    { at: later(2), notAfter: later(1) },
    { notAfter: later(1) },
    { at: later(1), expiresAt: later(2) },
    { ifUnchanged: 'yes' },
    { expiresAt: later(91) },
    { expiresAt: NOW },
    { expiresAt: 'soon' },
    { replaces: 7 },
    { id: 'mine' },
  ].map((members) =>
    make(
      `refuses ${JSON.stringify(members)}`,
      { id: undefined, ...members },
      {
        expect: { status: 400, code: 'invalid_input' },
      },
    ),
  ),
];

const list = (name: string, query: string, rest: Pick<Row, 'expect'> & Partial<Row>): Row => ({
  endpoint: 'listChangeRequests',
  name,
  given: requested,
  request: { method: 'GET', path: `${REQUESTS}?${query}` },
  ...rest,
});

const read = (name: string, given: Row['given'], expected: Row['expect'], id = ID): Row => ({
  endpoint: 'getChangeRequest',
  name,
  ...(given && { given }),
  request: { method: 'GET', path: `${REQUESTS}/${id}` },
  expect: expected,
});

const reading: readonly Row[] = [
  list('lists requests without their changes', 'state=approved&project=default&flag=checkout', {
    given: approved,
    expect: {
      status: 200,
      unchanged: true,
      body: { version: 1, changeRequests: [{ ...LISTED, state: 'approved', approvals: [APPROVAL] }] },
    },
  }),
  list('lists a page', 'limit=1', {
    given: inOrder(requested, (flags) => flags.changeRequests.create([ENABLE], { reason: 'Again' })),
    expect: {
      status: 200,
      body: { version: 1, changeRequests: [expect.anything()], next: expect.any(String) },
      headers: { link: 'rel="next"' },
    },
  }),
  list('lists nothing of other projects', 'project=shop', {
    expect: { status: 200, body: { version: 1, changeRequests: [] } },
  }),
  ...['limit=0', 'state=late'].map((query) =>
    list(`refuses ${query}`, query, { expect: { status: 400, code: 'invalid_input' } }),
  ),
  read('shows a request with its changes, and its effect in the tag', requested, {
    status: 200,
    unchanged: true,
    body: OPEN,
    headers: { etag: '"1-' },
  }),
  read(
    'shows that an approval does not count any more, because clients would see something else',
    inOrder(approved, (flags) => flags.updateStrategy({ ...PRODUCTION, strategy: strategyId(1) }, { name: 'default' })),
    {
      status: 200,
      body: { ...OPEN, approvals: [{ ...APPROVAL, current: false }], effect: expect.not.stringMatching(OPEN.effect) },
    },
  ),
  read('shows the time, and who set it', scheduled, {
    status: 200,
    body: {
      ...APPROVED,
      at: later(1),
      notAfter: new Date(Date.parse(later(1)) + 3_600_000).toISOString(),
      expiresAt: null,
      appliedBy: ADMINISTRATOR,
    },
  }),
  read('shows why it failed when it was due', failed, {
    status: 200,
    body: expect.objectContaining({
      state: 'failed',
      changeSet: null,
      endedAt: NOW,
      failure: { code: 'flag_archived', message: expect.any(String), details: [expect.anything()] },
    }),
  }),
  read('does not find an unknown request', requested, { status: 404, code: 'change_request_not_found' }, UNKNOWN_ID),
];

export const changeRequestRows: readonly Row[] = [...policy, ...making, ...reading];
