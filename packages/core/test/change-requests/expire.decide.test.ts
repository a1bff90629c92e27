import { expire } from '../../src/features/change-requests/change-request.decide.js';
import { REQUEST_STATES, type RequestState } from '../../src/features/change-requests/change-request.js';

const EXPIRES_AT = '2026-01-15T00:00:00.000Z';
const NOW = new Date(EXPIRES_AT);

function requestState(changes: Partial<RequestState>): RequestState {
  const about = { author: { name: 'ada' }, projects: ['shop'], changes: [], flags: [], environments: [] };
  const times = { at: null, notAfter: null, expiresAt: EXPIRES_AT };
  const ends = { endedAt: null, changeSet: null, lateBy: null, failure: null };
  const request: Partial<RequestState> = { id: 'r-1', ...about, ...times, ...ends, ...changes };
  return request as RequestState;
}

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
