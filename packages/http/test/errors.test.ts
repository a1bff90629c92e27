import { ERROR_CODES, FlagsError, memoryStorage } from '@flags/core';
import { faultyStorage } from '@flags/core/testing';
import request from 'supertest';
import { ERROR_KINDS, errorReply, HttpError } from '../src/messages/errors.js';
import { ROUTES } from '../src/routes.js';
import { EXPRESS_VERSIONS } from './express-versions.js';
import { createHostApp, FLAGS } from './host-app.js';

describe('error replies', () => {
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
      expect(JSON.parse(`${reply?.body}`)).toEqual({
        name,
        code,
        message: 'Do this.',
        details: [{ message: 'Do this.' }],
      });
    });

    it.each(['storage_busy', 'storage_unavailable', 'too_much_contention', 'closed'] as const)(
      'has Retry-After for %s',
      (code) => {
        expect(errorReply(new FlagsError(code, 'Busy.'), NOWHERE)?.headers).toHaveProperty('retry-after');
      },
    );

    it('has every detail with its path', () => {
      const details = [
        { message: 'is required', path: '/name' },
        { message: 'must be boolean', path: '/stale' },
      ];
      const reply = errorReply(new FlagsError('invalid_input', 'Bad.', details), NOWHERE);
      expect(JSON.parse(`${reply?.body}`).details).toEqual(details);
    });

    it.each([
      new HttpError('not_found', `There is nothing at /${'a'.repeat(12_000)}. Look elsewhere.`),
      new FlagsError('flag_not_found', `There is no flag ${'a'.repeat(12_000)}. Look elsewhere.`),
    ])('quotes at most 200 characters of a name or path, and says what to do: $code', (error) => {
      const { message, details } = JSON.parse(`${errorReply(error, NOWHERE)?.body}`);
      expect(message).toMatch(/^There is no(thing at|\sflag) \S{200} Look elsewhere\.$/);
      expect(details).toEqual([{ message }]);
    });

    it('has the headers of a refusal', () => {
      const reply = errorReply(new HttpError('method_not_allowed', 'No.', { allow: 'GET' }), NOWHERE);
      expect(reply).toMatchObject({ status: 405, headers: { allow: 'GET' } });
    });

    it.each<[string, unknown]>([
      ['a fault', new Error('disk')],
      ['a TypeError', new TypeError('bug')],
      ['an HTTP error of the host', Object.assign(new Error('teapot'), { status: 418, expose: true })],
      ['an unknown code', Object.assign(new Error('?'), { name: 'FlagsError', code: 'toString' })],
      ['undefined', undefined],
      ['a string', 'oops'],
    ])('is left to the host for %s', (_case, error) => {
      expect(errorReply(error, NOWHERE)).toBeUndefined();
    });
  });

  describe('the error replies of the member endpoints', () => {
    it.each(['addMember', 'changeMemberRole', 'removeMember'])('are a list of messages for a 400 of %s', (action) => {
      const details = [{ message: 'must be integer', path: '/roleId' }, { message: 'nothing else' }];
      const reply = replyAt(action, new FlagsError('invalid_input', 'Bad.', details));
      expect(reply?.status).toBe(400);
      expect(JSON.parse(`${reply?.body}`)).toEqual([{ msg: '/roleId must be integer' }, { msg: 'nothing else' }]);
    });

    it('have the documented texts', () => {
      const exists = replyAt('addMember', new FlagsError('member_exists', 'x'));
      const lastOwner = replyAt('removeMember', new FlagsError('last_owner', 'x'));
      expect(JSON.parse(`${exists?.body}`)).toEqual([{ msg: 'User already has access to project=shop' }]);
      expect(JSON.parse(`${lastOwner?.body}`)).toEqual([{ msg: 'A project must have at least one owner.' }]);
    });

    it('have the common body for other statuses', () => {
      const reply = replyAt('addMember', new FlagsError('role_not_found', 'No such role.'));
      expect(reply?.status).toBe(404);
      expect(JSON.parse(`${reply?.body}`)).toMatchObject({ code: 'role_not_found' });
    });
  });
});

describe('faults', () => {
  describe.each(EXPRESS_VERSIONS)('onError, on Express $major', (version) => {
    const full = new FlagsError('storage_unavailable', 'The disk is full.', undefined, { cause: new Error('ENOSPC') });

    async function hostWith(onError: (error: FlagsError, request: { readonly originalUrl: string }) => void) {
      const storage = faultyStorage(memoryStorage());
      const host = await createHostApp({ version, flags: { storage }, router: { auth: 'none', onError: onError } });
      storage.inject({ method: 'commit', error: full });
      return host;
    }

    it('receives errors with status 503, with their cause and request', async () => {
      const told: unknown[] = [];
      const { app, faults } = await hostWith((error, { originalUrl }) => told.push([error, originalUrl]));
      await request(app).post(FLAGS).send({ name: 'checkout' }).expect(503);
      expect(told).toEqual([[full, FLAGS]]);
      expect(faults).toEqual([]);
    });

    it('does not receive client errors', async () => {
      const told: unknown[] = [];
      const { app } = await hostWith((error) => told.push(error));
      await request(app).get(`${FLAGS}/nothing`).expect(404);
      await request(app).post(FLAGS).send({ name: '' }).expect(400);
      expect(told).toEqual([]);
    });

    it("passes its own errors to the host's error handler", async () => {
      const bug = new Error('The logger is broken.');
      const { app, faults } = await hostWith(() => {
        throw bug;
      });
      await request(app).post(FLAGS).send({ name: 'checkout' }).expect(500);
      expect(faults).toEqual([bug]);
    });
  });
});
