import {
  approve,
  assertOpen,
  assertRepeated,
  create,
  expire,
  lackOfApproval,
  reject,
  schedule,
} from '../../src/features/change-requests/change-request.decide.js';
import {
  REQUEST_STATES,
  type RequestState,
  type RequestTimes,
} from '../../src/features/change-requests/change-request.js';
import { refusalOf } from '../decision.js';
import { HOUR } from '../settable-clock.js';

const EXPIRES_AT = '2026-01-15T00:00:00.000Z';
const NOW = new Date(EXPIRES_AT);
const EARLIER = new Date(NOW.getTime() - HOUR);
const ADA = { name: 'Ada', id: 'u-1' };
const GRACE = { name: 'Grace', id: 'u-2' };

function requestState(changes: Partial<RequestState>): RequestState {
  const about = { author: ADA, appliedBy: null, projects: ['shop'], changes: [], flags: [], environments: [] };
  const times = { at: null, notAfter: null, expiresAt: EXPIRES_AT };
  const ends = { endedAt: null, changeSet: null, lateBy: null, failure: null };
  const decided = { approvals: [], required: 1, effect: 'e-1' };
  const request: Partial<RequestState> = { id: 'r-1', ...about, ...times, ...ends, ...decided, ...changes };
  return request as RequestState;
}

const open = (changes: Partial<RequestState> = {}) => requestState({ state: 'open', ...changes });

/** What a request would do now, and the approval that it needs. */
function found(required: number, environments: readonly string[] = ['production']) {
  return { effect: 'e-1', approval: { required, environments } };
}

const approvalOf = (effect: string, actor = GRACE) => ({ actor, at: EARLIER.toISOString(), reason: null, effect });

// The runner lists requests first. Another process may apply or end one of them before the runner commits.
describe('a change request whose time has passed', () => {
  it.each(['open', 'approved'] as const)('expires while it is %s', (state) => {
    expect(expire(requestState({ state }), NOW)).toMatchObject({
      next: { state: 'expired', endedAt: EXPIRES_AT, changeSet: null },
      event: { type: 'change-request-ended', data: { state: 'expired' }, before: { state } },
    });
  });

  it.each(REQUEST_STATES.filter((state) => state !== 'open' && state !== 'approved'))('stays %s', (state) => {
    expect(expire(requestState({ state }), NOW)).toBeUndefined();
  });

  it('expires not a millisecond earlier', () => {
    expect(expire(requestState({ state: 'open' }), new Date(NOW.getTime() - 1))).toBeUndefined();
  });

  it('with a time expires after its last millisecond', () => {
    const times = { at: EXPIRES_AT, notAfter: EXPIRES_AT, expiresAt: null };
    const request = requestState({ state: 'approved', ...times });
    expect(expire(request, NOW)).toBeUndefined();
    expect(expire(request, new Date(NOW.getTime() + 1))).toMatchObject({ next: { endedAt: EXPIRES_AT } });
  });
});

describe('the event of a change request', () => {
  it('names at most ten operations and flags, and their count', () => {
    const names = Array.from({ length: 12 }, (_, index) => `f${index}`);
    const flags = names.map((flag) => ({ project: 'shop', flag }));
    const changes = [...names, ...names].map((name) => ({ op: `do-${name}` }));
    expect(create(open({ flags, changes })).event.data).toEqual({
      ...{ id: 'r-1', state: 'open', author: 'Ada', environments: [], at: null },
      ops: names.slice(0, 10).map((name) => `do-${name}`),
      flags: flags.slice(0, 10),
      flagCount: 12,
    });
  });
});

describe('a lack of approval', () => {
  it.each([
    [found(1), [], '1 approval in production, and has 0'],
    [found(2), [approvalOf('e-1')], '2 approvals in production, and has 1'],
    [found(2, ['production', 'staging']), [], '2 approvals in production, staging, and has 0'],
    [found(1), [approvalOf('e-0')], '1 approval in production, and has 0 of what it would do now'],
    [
      found(2),
      [approvalOf('e-0'), approvalOf('e-1', ADA)],
      '2 approvals in production, and has 1 of what it would do now',
    ],
  ])('of %j with %j', (effect, approvals, lack) => {
    const message = `The change request r-1 needs ${lack}; ask for approval.`;
    expect(lackOfApproval(open({ approvals }), effect)).toBe(message);
  });

  it.each([
    ['nobody needs to approve', { effect: 'e-1', approval: null }, []],
    ['enough people have approved', found(1), [approvalOf('e-1')]],
  ])('is not there if %s', (_, effect, approvals) => {
    expect(lackOfApproval(open({ approvals }), effect)).toBeUndefined();
  });
});

describe('an approval', () => {
  const given = (actor: typeof ADA, effect = 'e-1') => ({ ...approvalOf(effect, actor), found: found(1) });

  it('of another person counts, once for each effect', () => {
    const { next, event } = approve(open({ approvals: [approvalOf('e-0')] }), given(GRACE), EARLIER) ?? {};
    expect(next).toMatchObject({ state: 'approved', required: 1, approvals: [approvalOf('e-1')] });
    expect(event).toMatchObject({
      type: 'change-request-decided',
      data: { state: 'approved', decision: 'approved' },
      before: { id: 'r-1', state: 'open', at: null },
    });
    expect(approve(open({ approvals: [approvalOf('e-1')] }), given(GRACE), EARLIER)).toBeUndefined();
  });
});

describe('a refusal of a decision', () => {
  const token = { name: 'ci', token: { id: 't-1', kind: 'admin' } } as const;
  const by = (actor: typeof ADA | typeof token) => ({ ...approvalOf('e-1'), actor, found: found(1) });
  const ended = open({ state: 'withdrawn' });
  const isClosed = 'The change request r-1 is withdrawn, so it cannot be changed; make a new one.';
  const undone = 'The change request r-1 is applied, so it cannot be changed; undo its change set instead.';

  it.each<[string, () => unknown, string, string]>([
    [
      'approving as the author',
      () => approve(open(), by(ADA), EARLIER),
      'own_change_request',
      'Ada made the change request r-1, so somebody else must approve it.',
    ],
    [
      'rejecting as the author',
      () => reject(open(), ADA, EARLIER),
      'own_change_request',
      'Ada made the change request r-1, so somebody else must reject it.',
    ],
    [
      'approving by a token',
      () => approve(open(), by(token), EARLIER),
      'forbidden',
      'API tokens cannot approve change requests; ask a person to do it.',
    ],
    [
      'rejecting by a token',
      () => reject(open(), token, EARLIER),
      'forbidden',
      'API tokens cannot reject change requests; ask a person to do it.',
    ],
    ['approving after the end', () => approve(ended, by(GRACE), EARLIER), 'change_request_not_open', isClosed],
    ['rejecting after the end', () => reject(ended, GRACE, EARLIER), 'change_request_not_open', isClosed],
    [
      'changing an applied one',
      () => assertOpen(open({ state: 'applied' }), EARLIER),
      'change_request_not_open',
      undone,
    ],
    [
      'repeating it with another content',
      () => assertRepeated(open({ hash: 'h-1' }), { author: ADA, hash: 'h-2' }),
      'id_taken',
      'The id r-1 belongs to a change request of another author, or with other changes, times or options. Choose a new id.',
    ],
  ])('tells what is wrong: %s', (_, decision, code, message) => {
    expect(refusalOf(decision)).toMatchObject({ code, message });
  });
});

describe('the time of a change request', () => {
  const LATER = new Date(NOW.getTime() + HOUR).toISOString();
  const times = (at: string, notAfter = LATER): RequestTimes => ({ at, notAfter, expiresAt: null });
  const set = (request: RequestState, wanted: RequestTimes, by = ADA) =>
    schedule(request, { times: wanted, by, found: found(0) }, EARLIER);

  it('may be until its expiry, which it replaces', () => {
    const { next, event } = set(open(), times(EXPIRES_AT)) ?? {};
    expect(next).toMatchObject({ ...times(EXPIRES_AT), state: 'approved', appliedBy: ADA });
    expect(event).toMatchObject({
      type: 'change-request-decided',
      data: { at: EXPIRES_AT, decision: 'scheduled' },
      before: { at: null },
    });
  });

  it('is refused after its expiry', () => {
    const { code, details } = refusalOf(() => set(open(), times(LATER)));
    expect(code).toBe('invalid_input');
    const message = `must not be after ${EXPIRES_AT}, when the request expires`;
    expect(details).toEqual([{ message, path: '/at' }]);
  });

  const scheduled = open({ ...times(EXPIRES_AT), appliedBy: ADA });

  it('may become any other time, because the request has no expiry then', () => {
    expect(set(scheduled, times(LATER))?.next).toMatchObject(times(LATER));
  });

  it.each<[string, RequestState, RequestTimes, typeof ADA, boolean]>([
    ['the same time by the same person', scheduled, times(EXPIRES_AT), ADA, false],
    ['the same time by another person', scheduled, times(EXPIRES_AT), GRACE, true],
    ['another time', scheduled, times(EARLIER.toISOString()), ADA, true],
    ['another end', scheduled, times(EXPIRES_AT, EXPIRES_AT), ADA, true],
    ['the same time of a request that nobody applies', { ...scheduled, appliedBy: null }, times(EXPIRES_AT), ADA, true],
  ])('is set by a decision with %s: %#', (_, request, wanted, by, isDecided) => {
    expect(set(request, wanted, by) !== undefined).toBe(isDecided);
  });
});
