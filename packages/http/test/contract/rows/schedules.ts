import type { Change, Flags } from '@flags/core';
import { ADMIN_SECRET } from '../contract-host.js';
import { inOrder, type Row, type Step } from '../row.js';
import { CHECKOUT, DEFAULT, NOW, PRODUCTION, protecting, withStrategy } from '../states.js';

const SCHEDULES = '/api/admin/schedules';
const ID = '6f1c1f7e-6d0a-4c57-9b8e-4d5b1f2f7a02';
const UNKNOWN_ID = '6f1c1f7e-6d0a-4c57-9b8e-4d5b1f2f7a98';
const HOUR = 3_600_000;

const ENABLE: Change = { op: 'enable', ref: PRODUCTION };

function later(hours: number): string {
  return new Date(Date.parse(NOW) + hours * HOUR).toISOString();
}

const planned: Step = inOrder(withStrategy, async (flags) => {
  const token = await flags.verifyToken(ADMIN_SECRET);
  await flags.as(token ?? '').createSchedule([ENABLE], { id: ID, at: later(1), reason: 'Launch' });
});

/** Applied at once, because its time is now. */
const applied: Step = inOrder(withStrategy, async (flags) => {
  await flags.createSchedule([ENABLE], { id: ID, at: NOW, actor: 'ada' });
  await flags.runDue();
});

const LISTED = {
  id: ID,
  state: 'pending',
  at: later(1),
  notAfter: later(2),
  ifUnchanged: false,
  author: { name: 'administrator', tokenId: expect.any(String), tokenType: 'admin' },
  createdAt: NOW,
  reason: 'Launch',
  flags: [CHECKOUT],
  environments: ['production'],
  proposal: null,
  endedAt: null,
  lateBy: null,
  changeSet: null,
  failure: null,
};
const SCHEDULE = { ...LISTED, changes: [ENABLE] };

const stateOf = async (flags: Flags) => (await flags.getSchedule({ schedule: ID })).state;

const making: readonly Row[] = [
  {
    endpoint: 'createSchedule',
    name: 'refuses changes that need approval',
    given: inOrder(withStrategy, protecting),
    request: { method: 'POST', path: SCHEDULES, body: { changes: [ENABLE], at: later(1) } },
    expect: { status: 409, code: 'approval_required' },
  },
  {
    endpoint: 'createSchedule',
    name: 'plans changes for later',
    given: withStrategy,
    request: {
      method: 'POST',
      path: SCHEDULES,
      body: { id: ID, changes: [ENABLE], at: later(1), reason: 'Launch' },
    },
    expect: {
      status: 201,
      body: SCHEDULE,
      afterwards: async (flags) => {
        expect((await flags.getFlag(CHECKOUT)).environments[1]?.enabled).toBe(false);
        expect(await stateOf(flags)).toBe('pending');
      },
    },
  },
  {
    endpoint: 'createSchedule',
    name: 'reads a time with an offset, and the options',
    given: withStrategy,
    request: {
      method: 'POST',
      path: SCHEDULES,
      body: { id: ID, changes: [ENABLE], at: later(1).replace('Z', '+00:00'), notAfter: later(1), ifUnchanged: true },
    },
    expect: { status: 201, body: { ...SCHEDULE, notAfter: later(1), ifUnchanged: true, reason: null } },
  },
  {
    endpoint: 'createSchedule',
    name: 'answers a repeated id with the schedule as it is',
    given: planned,
    request: { method: 'POST', path: SCHEDULES, body: { id: ID, changes: [ENABLE], at: later(1), reason: 'Again' } },
    expect: { status: 201, unchanged: true, body: SCHEDULE },
  },
  {
    endpoint: 'createSchedule',
    name: 'refuses the id of a schedule at another time',
    given: planned,
    request: { method: 'POST', path: SCHEDULES, body: { id: ID, changes: [ENABLE], at: later(2) } },
    expect: { status: 409, code: 'id_taken' },
  },
  ...[
    { at: '2026-12-24T18:00:00' },
    { at: 7 },
    { at: undefined },
    { at: later(24 * 400) },
    { at: later(-2) },
    { at: later(2), notAfter: later(1) },
    { at: later(2), ifUnchanged: 'yes' },
    { at: later(2), id: 'mine' },
    { at: later(2), reason: 7 },
    { at: later(2), changes: [] },
  ].map(
    (members): Row => ({
      endpoint: 'createSchedule',
      name: `refuses ${JSON.stringify(members)}`,
      given: withStrategy,
      request: { method: 'POST', path: SCHEDULES, body: { changes: [ENABLE], ...members } },
      expect: { status: 400, code: 'invalid_input' },
    }),
  ),
];

const reading: readonly Row[] = [
  {
    endpoint: 'listSchedules',
    name: 'lists schedules without their changes',
    given: planned,
    request: { method: 'GET', path: `${SCHEDULES}?state=pending&project=default&flag=checkout` },
    expect: { status: 200, unchanged: true, body: { version: 1, schedules: [LISTED] } },
  },
  {
    endpoint: 'listSchedules',
    name: 'lists a page',
    given: inOrder(planned, (flags) => flags.createSchedule([ENABLE], { at: later(3) })),
    request: { method: 'GET', path: `${SCHEDULES}?limit=1` },
    expect: {
      status: 200,
      body: { version: 1, schedules: [expect.anything()], next: expect.any(String) },
      headers: { link: 'rel="next"' },
    },
  },
  {
    endpoint: 'listSchedules',
    name: 'lists nothing of other projects and flags',
    given: planned,
    request: { method: 'GET', path: `${SCHEDULES}?project=shop` },
    expect: { status: 200, body: { version: 1, schedules: [] } },
  },
  ...['limit=0', 'state=late'].map(
    (query): Row => ({
      endpoint: 'listSchedules',
      name: `refuses ${query}`,
      request: { method: 'GET', path: `${SCHEDULES}?${query}` },
      expect: { status: 400, code: 'invalid_input' },
    }),
  ),
  {
    endpoint: 'getSchedule',
    name: 'shows a schedule with its changes',
    given: planned,
    request: { method: 'GET', path: `${SCHEDULES}/${ID}` },
    expect: { status: 200, unchanged: true, body: SCHEDULE, headers: { etag: '"1-' } },
  },
  {
    endpoint: 'getSchedule',
    name: 'shows why a schedule failed',
    given: inOrder(withStrategy, async (flags) => {
      await flags.createSchedule([ENABLE], { id: ID, at: NOW, actor: 'ada' });
      await flags.archiveFlag(CHECKOUT);
      await flags.runDue();
    }),
    request: { method: 'GET', path: `${SCHEDULES}/${ID}` },
    expect: {
      status: 200,
      body: expect.objectContaining({
        state: 'failed',
        author: { name: 'ada', tokenId: null, tokenType: null },
        failure: { code: 'flag_archived', message: expect.any(String), details: [expect.anything()] },
      }),
    },
  },
  ...(['getSchedule', 'cancelSchedule'] as const).map(
    (endpoint): Row => ({
      endpoint,
      name: 'does not find an unknown schedule',
      given: planned,
      request: { method: endpoint === 'getSchedule' ? 'GET' : 'DELETE', path: `${SCHEDULES}/${UNKNOWN_ID}` },
      expect: { status: 404, code: 'schedule_not_found' },
    }),
  ),
];

const cancelling: readonly Row[] = [
  {
    endpoint: 'cancelSchedule',
    name: 'cancels a pending schedule',
    given: planned,
    request: { method: 'DELETE', path: `${SCHEDULES}/${ID}` },
    expect: {
      status: 200,
      body: { ...SCHEDULE, state: 'cancelled', endedAt: NOW },
      afterwards: async (flags) => expect(await stateOf(flags)).toBe('cancelled'),
    },
  },
  {
    endpoint: 'cancelSchedule',
    name: 'leaves a cancelled schedule as it is',
    given: inOrder(planned, (flags) => flags.cancelSchedule({ schedule: ID })),
    request: { method: 'DELETE', path: `${SCHEDULES}/${ID}` },
    expect: { status: 200, unchanged: true, body: { ...SCHEDULE, state: 'cancelled', endedAt: NOW } },
  },
  {
    endpoint: 'cancelSchedule',
    name: 'refuses one that was applied',
    given: applied,
    request: { method: 'DELETE', path: `${SCHEDULES}/${ID}` },
    expect: { status: 409, code: 'schedule_not_pending' },
  },
  {
    endpoint: 'cancelSchedule',
    name: 'refuses an id, because a cancelled schedule stays cancelled',
    given: planned,
    request: { method: 'DELETE', path: `${SCHEDULES}/${ID}`, headers: { 'idempotency-key': UNKNOWN_ID } },
    expect: { status: 400, code: 'invalid_input' },
  },
  {
    endpoint: 'getChange',
    name: 'shows the set of a schedule with its origin',
    given: inOrder(applied, async (flags) => {
      const { changeSet } = await flags.getSchedule({ schedule: ID });
      await flags.undoChangeSet({ changeSet: `${changeSet}` }, { id: UNKNOWN_ID });
    }),
    request: { method: 'GET', path: `/api/admin/changes/${UNKNOWN_ID}` },
    expect: {
      status: 200,
      body: expect.objectContaining({ events: [expect.objectContaining({ origin: null })] }),
      afterwards: async (flags) => {
        const { items } = await flags.listEvents({ ...DEFAULT, type: 'environment-enabled' });
        expect(items).toMatchObject([{ origin: `schedule/${ID}`, actor: 'ada' }]);
      },
    },
  },
];

export const scheduleRows: readonly Row[] = [...making, ...reading, ...cancelling];
