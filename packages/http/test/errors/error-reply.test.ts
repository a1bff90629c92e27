import { ERROR_CODES, FlagsError } from '@flags/core';
import { ERROR_KINDS, errorReply, HttpError } from '../../src/errors.js';
import { ROUTES } from '../../src/routes/all-routes.js';

const NOWHERE = { route: undefined, params: {} };

function replyAt(action: string, error: unknown) {
  const route = ROUTES.find((row) => row.action === action);
  return errorReply(error, { route, params: { projectId: 'shop' } });
}

describe('the answer to an error', () => {
  it.each(ERROR_CODES)('has a client status, a name and the code of %s', (code) => {
    const reply = errorReply(new FlagsError(code, 'Do this.'), NOWHERE);
    const { status, name } = ERROR_KINDS[code];

    expect(reply?.status).toBe(status);
    expect(status).not.toBe(500);
    expect(JSON.parse(reply?.text ?? '')).toEqual({
      name,
      code,
      message: 'Do this.',
      details: [{ message: 'Do this.' }],
    });
  });

  it.each(['storage_busy', 'storage_unavailable', 'too_much_contention', 'closed'] as const)(
    'invites to try again after %s',
    (code) => {
      expect(errorReply(new FlagsError(code, 'Busy.'), NOWHERE)?.headers).toHaveProperty('retry-after');
    },
  );

  it('shows every detail with its path', () => {
    const details = [
      { message: 'is required', path: '/name' },
      { message: 'must be boolean', path: '/stale' },
    ];
    const reply = errorReply(new FlagsError('invalid_input', 'Bad.', details), NOWHERE);
    expect(JSON.parse(reply?.text ?? '').details).toEqual(details);
  });

  it.each([
    new HttpError('not_found', `There is nothing at /${'a'.repeat(12_000)}. Look elsewhere.`),
    new FlagsError('flag_not_found', `There is no flag ${'a'.repeat(12_000)}. Look elsewhere.`),
  ])('quotes at most 200 characters of a name or path, and says what to do: $code', (error) => {
    const { message, details } = JSON.parse(errorReply(error, NOWHERE)?.text ?? '');
    expect(message).toMatch(/^There is no(thing at|\sflag) \S{200} Look elsewhere\.$/);
    expect(details).toEqual([{ message }]);
  });

  it('carries the headers of a refusal', () => {
    const reply = errorReply(new HttpError('method_not_allowed', 'No.', { allow: 'GET' }), NOWHERE);
    expect(reply).toMatchObject({ status: 405, headers: { allow: 'GET' } });
  });

  it.each<[string, unknown]>([
    ['a fault', new Error('disk')],
    ['a TypeError', new TypeError('bug')],
    ['an HTTP error of the host', Object.assign(new Error('teapot'), { status: 418, expose: true })],
    ['a code that is none of ours', Object.assign(new Error('?'), { name: 'FlagsError', code: 'toString' })],
    ['undefined', undefined],
    ['a string', 'oops'],
  ])('is left to the host for %s', (_case, error) => {
    expect(errorReply(error, NOWHERE)).toBeUndefined();
  });
});

describe('a 400 of the member endpoints', () => {
  it.each(['addMember', 'changeMemberRole', 'removeMember'])('of %s is a list of messages', (action) => {
    const details = [{ message: 'must be integer', path: '/roleId' }, { message: 'nothing else' }];
    const reply = replyAt(action, new FlagsError('invalid_input', 'Bad.', details));
    expect(reply?.status).toBe(400);
    expect(JSON.parse(reply?.text ?? '')).toEqual([{ msg: '/roleId must be integer' }, { msg: 'nothing else' }]);
  });

  it('has the documented texts', () => {
    const exists = replyAt('addMember', new FlagsError('member_exists', 'x'));
    const lastOwner = replyAt('removeMember', new FlagsError('last_owner', 'x'));
    expect(JSON.parse(exists?.text ?? '')).toEqual([{ msg: 'User already has access to project=shop' }]);
    expect(JSON.parse(lastOwner?.text ?? '')).toEqual([{ msg: 'A project must have at least one owner.' }]);
  });

  it('have the common body for other statuses', () => {
    const reply = replyAt('addMember', new FlagsError('role_not_found', 'No such role.'));
    expect(reply?.status).toBe(404);
    expect(JSON.parse(reply?.text ?? '')).toMatchObject({ code: 'role_not_found' });
  });
});
