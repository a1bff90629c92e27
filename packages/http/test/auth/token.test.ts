import type { TokenKind } from '@flags/core';
import request from 'supertest';
import { EXPRESS_VERSIONS } from '../express-versions.js';
import { createHostApp, FLAGS } from '../host-app.js';

const REGISTRATION = { appName: 'web', strategies: [], started: '2026-01-01T10:00:00Z', interval: 1000 };

async function createGuardedApp(version = EXPRESS_VERSIONS[1]) {
  let now = new Date('2026-01-01T10:00:00Z');
  const host = await createHostApp({
    ...(version && { version }),
    router: { auth: 'token' },
    flags: { now: () => now },
  });
  const createSecret = async (kind: TokenKind, expiresAt: string | null = null, ...names: string[]) => {
    const environment = kind === 'admin' ? {} : { environment: 'production' };
    return (await host.flags.createToken({ name: names.pop() ?? `the ${kind}`, kind, expiresAt, ...environment }))
      .secret;
  };
  return { ...host, createSecret, setNow: (time: string) => (now = new Date(time)) };
}

describe.each(EXPRESS_VERSIONS)('API tokens, on Express $major', (version) => {
  it('accept the bare token and the scheme Bearer, in any case', async () => {
    const { app, createSecret } = await createGuardedApp(version);
    const secret = await createSecret('admin');
    for (const header of [secret, `Bearer ${secret}`, `bearer ${secret}`, `BEARER   ${secret}`]) {
      await request(app).get(FLAGS).set('Authorization', header).expect(200);
    }
  });

  it.each<[string, string | undefined]>([
    ['no header', undefined],
    ['an empty header', ''],
    ['a scheme alone', 'Bearer'],
    ['an unknown token', '*:*.0123456789'],
    ['another scheme', 'Basic YWRhOmFkYQ=='],
    ['the name of an inherited member', '__proto__'],
    ['a very long token', 'x'.repeat(8000)],
  ])('answers 401 to %s', async (_case, header) => {
    const { app, faults } = await createGuardedApp(version);
    const attempt = request(app).get(FLAGS);
    const { status, headers, body } = await (header === undefined ? attempt : attempt.set('Authorization', header));
    expect(status).toBe(401);
    expect(headers['www-authenticate']).toBe('Bearer');
    expect(body).toMatchObject({ name: 'AuthenticationRequired', code: 'unauthenticated' });
    expect(faults).toEqual([]);
  });
});

describe('API tokens', () => {
  it('are refused from the moment they expire or are deleted', async () => {
    const { app, flags, createSecret, setNow } = await createGuardedApp();
    const expiring = await createSecret('admin', '2026-01-01T11:00:00Z');
    const deleted = await createSecret('admin', null, 'deleted');
    await request(app).get(FLAGS).set('Authorization', expiring).expect(200);
    await request(app).get(FLAGS).set('Authorization', deleted).expect(200);

    setNow('2026-01-01T11:00:00Z');
    await flags.deleteToken({ token: deleted });

    await request(app).get(FLAGS).set('Authorization', expiring).expect(401);
    await request(app).get(FLAGS).set('Authorization', deleted).expect(401);
  });

  it.each<[TokenKind, number, number]>([
    ['admin', 200, 403],
    ['client', 403, 202],
    ['frontend', 403, 403],
  ])('of kind %s get %i from the administration and %i from the client API', async (kind, admin, client) => {
    const { app, createSecret } = await createGuardedApp();
    const secret = await createSecret(kind);
    await request(app).get(FLAGS).set('Authorization', secret).expect(admin);
    await request(app).post('/api/client/register').set('Authorization', secret).send(REGISTRATION).expect(client);
  });

  it('of the wrong kind are refused with the required kind', async () => {
    const { app, createSecret } = await createGuardedApp();
    const { body } = await request(app)
      .get(FLAGS)
      .set('Authorization', await createSecret('client'))
      .expect(403);
    expect(body).toMatchObject({ name: 'NoAccessError', code: 'forbidden' });
    expect(body.message).toContain('admin');
  });

  it('are the actors of their changes', async () => {
    const { app, flags, createSecret } = await createGuardedApp();
    await request(app)
      .post(FLAGS)
      .set('Authorization', await createSecret('admin'))
      .send({ name: 'checkout' })
      .expect(201);
    const { events } = await flags.listEvents({ flag: 'checkout' });
    expect(events).toMatchObject([{ type: 'flag-created', actor: 'the admin' }]);
  });

  it('are required before any other check', async () => {
    const { app } = await createGuardedApp();
    await request(app).post(FLAGS).set('content-type', 'application/json').send('{').expect(401);
    await request(app).put(FLAGS).expect(401);
    await request(app).get('/api/admin/nothing').expect(401);
    await request(app).get('/api/client/nothing').expect(401);
    await request(app).get('/api/admin/projects/%E0').expect(401);
    await request(app).post(FLAGS).set('content-length', '99999999').expect(401);
  });
});

describe('without authentication', () => {
  it('everyone may do everything, as anonymous', async () => {
    const { app, flags } = await createHostApp({ router: { auth: 'none' } });
    await request(app).post(FLAGS).set('Authorization', 'whatever').send({ name: 'checkout' }).expect(201);
    await request(app).post('/api/client/register').send(REGISTRATION).expect(202);
    expect((await flags.listEvents({ flag: 'checkout' })).events).toMatchObject([{ actor: 'anonymous' }]);
  });
});
