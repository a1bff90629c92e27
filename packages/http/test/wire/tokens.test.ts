import request from 'supertest';
import { createHostApp } from '../host-app.js';

const TOKENS = '/api/admin/api-tokens';

describe('API tokens on the wire', () => {
  it('show their secret once, when they are created', async () => {
    const { app, flags } = await createHostApp({ flags: { now: () => new Date('2026-01-01T10:00:00Z') } });
    const { body } = await request(app)
      .post(TOKENS)
      .send({ tokenName: 'web', type: 'client', project: 'default', environment: 'production' })
      .expect(201);
    const { secret, ...shown } = body;
    expect(shown).toEqual({
      id: expect.any(String),
      tokenName: 'web',
      username: 'web',
      type: 'client',
      project: 'default',
      projects: ['default'],
      environment: 'production',
      createdAt: '2026-01-01T10:00:00.000Z',
      expiresAt: null,
      lastUsedAt: null,
    });
    expect(secret).toMatch(/^default:production\./);
    expect(await flags.verifyToken(secret)).toMatchObject({ name: 'web', kind: 'client' });

    const list = await request(app).get(TOKENS).expect(200);
    expect(list.body).toEqual({ tokens: [shown] });
  });

  it.each([
    [
      { username: 'ops', type: 'ADMIN' },
      { tokenName: 'ops', type: 'admin', project: '*', environment: '*' },
    ],
    [
      { tokenName: 'ops', type: 'Admin', project: '*', environment: '*' },
      { tokenName: 'ops', type: 'admin' },
    ],
    [
      { username: 'old', tokenName: 'new', type: 'FRONTEND', projects: ['default'], environment: 'development' },
      { tokenName: 'new', type: 'frontend', projects: ['default'] },
    ],
    [
      {
        tokenName: 'web',
        type: 'CLIENT',
        environment: 'production',
        expiresAt: '2126-01-01T00:00:00Z',
        secret: 'mine',
      },
      {
        project: '*',
        expiresAt: '2126-01-01T00:00:00.000Z',
        secret: expect.stringMatching(/^\*:production\.[0-9a-f]{48}$/),
      },
    ],
    [
      { tokenName: 'web', type: 'client' },
      { environment: 'production', secret: expect.stringMatching(/^\*:production\./) },
    ],
    [
      { tokenName: 'web', type: 'client', projects: ['shop', 'default'] },
      { project: 'shop', projects: ['shop', 'default'], secret: expect.stringMatching(/^\[\]:production\./) },
    ],
  ])('are created from %j', async (input, expected) => {
    const { app, flags } = await createHostApp();
    await flags.createProject({ id: 'shop', name: 'Shop' });
    const { body } = await request(app).post(TOKENS).send(input).expect(201);
    expect(body).toMatchObject(expected);
  });

  it.each([
    [{}, ['/tokenName', '/type']],
    [{ tokenName: '', type: 'root', expiresAt: 'never' }, ['/expiresAt', '/tokenName', '/type']],
    [{ tokenName: 'web', type: 'client', environment: '*' }, ['/environment']],
    [{ tokenName: 'web', type: 'client', environment: 'production', projects: [] }, ['/projects']],
    [{ tokenName: 'web', type: 'admin', environment: 'production' }, ['/environment']],
    [[], ['']],
  ])('are refused from %j', async (input, paths) => {
    const { app, flags } = await createHostApp();
    const { body } = await request(app).post(TOKENS).send(input).expect(400);
    expect(body.details.map(({ path }: { path: string }) => path).sort()).toEqual(paths);
    expect(await flags.listTokens()).toEqual([]);
  });

  it('are deleted by their id or by their secret', async () => {
    const { app, flags } = await createHostApp();
    const one = await flags.createToken({ name: 'one', kind: 'admin' });
    const two = await flags.createToken({ name: 'two', kind: 'admin' });
    await request(app).delete(`${TOKENS}/${one.token.id}`).expect(200, '');
    await request(app)
      .delete(`${TOKENS}/${encodeURIComponent(two.secret)}`)
      .expect(200, '');
    expect(await flags.listTokens()).toEqual([]);
    await request(app).delete(`${TOKENS}/${one.token.id}`).expect(404);
  });
});
