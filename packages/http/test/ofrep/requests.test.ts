import type { NewToken } from '@flags/core';
import { inputSchemas } from '@flags/core/integration/http';
import request from 'supertest';
import { openApiDocument } from '../../src/openapi/openapi-document.js';
import { GROUPS } from '../../src/routes.js';
import { createDocumentedCheck, type DocumentedCheck } from '../contract/documented.js';
import { EXPRESS_VERSIONS_IN_LENGTH } from '../express-versions.js';
import { createHostApp, type HostApp } from '../host-app.js';
import { EVALUATE, switchOn } from './states.js';

describe('hostile requests by OFREP', () => {
  const NAMES = ['__proto__', 'constructor', 'toString', '%00', 'a%2fb', '%F0%9F%98%80', 'x'.repeat(5000)];

  const CONTEXTS = [
    '{"sessionId":[[["deep"]]],"userId":null}',
    '{"userId":{"valueOf":1,"toString":1},"currentTime":{"valueOf":"x"}}',
    '{"currentTime":"not a time"}',
    '{"currentTime":1e308}',
    '{"__proto__":{"userId":"ada"},"constructor":1,"properties":{"__proto__":{"a":1}}}',
    '{"properties":[1,2]}',
    '{"properties":"text"}',
    `{"userId":"${'x'.repeat(65_000)}"}`,
    '{"remoteAddress":"::ffff:999.1.1.1","sessionId":-0}',
  ];

  const BODIES: readonly (readonly [string, string])[] = [
    ['{"context":null}', 'INVALID_CONTEXT'],
    ['{"context":"ada"}', 'INVALID_CONTEXT'],
    ['{"context":[]}', 'INVALID_CONTEXT'],
    ['[]', 'INVALID_CONTEXT'],
    ['', 'INVALID_CONTEXT'],
    ['{"context":{"targetingKey":7}}', 'INVALID_CONTEXT'],
    ['{"context":{"targetingKey":{"toString":"x"}}}', 'INVALID_CONTEXT'],
    ['{"context":{"targetingKey":[[["deep"]]]}}', 'INVALID_CONTEXT'],
    ['"text"', 'INVALID_CONTEXT'],
    ['{', 'PARSE_ERROR'],
    [`{"context":${'['.repeat(1000)}${']'.repeat(1000)}}`, 'PARSE_ERROR'],
  ];

  describe.each(EXPRESS_VERSIONS_IN_LENGTH)('OFREP, on Express $major', (version) => {
    let host: HostApp;
    let checkDocumented: DocumentedCheck | undefined;

    beforeEach(async () => {
      host = await createHostApp({ version });
      await switchOn(host.flags, 'checkout', {
        users: 'ada',
        payload: { type: 'json', value: '{"__proto__":{"a":1}}' },
      });
      const { settings } = host.flags;
      checkDocumented ??= createDocumentedCheck(
        openApiDocument({ groups: GROUPS, schemas: inputSchemas(settings), settings, auth: 'none' }),
      );
    });

    afterEach(async () => {
      expect(host.faults).toEqual([]);
      await host.flags.close();
    });

    const post = async (path: string, body: string) => {
      const response = await request(host.app).post(path).set('content-type', 'application/json').send(body);
      checkDocumented?.({ method: 'POST', path, response });
      return response;
    };

    it.each(CONTEXTS.map((context) => [context.slice(0, 60), context] as const))(
      'accepts the context %s',
      async (_, context) => {
        for (const path of [EVALUATE, `${EVALUATE}/checkout`]) {
          expect((await post(path, `{"context":${context}}`)).status).toBe(200);
        }
        expect({}).not.toHaveProperty('userId');
      },
    );

    it.each(BODIES)('refuses the body %.40s with %s', async (body, errorCode) => {
      const one = await post(`${EVALUATE}/checkout`, body);
      expect([one.status, one.body]).toEqual([400, { key: 'checkout', errorCode, errorDetails: expect.any(String) }]);
      const all = await post(EVALUATE, body);
      expect([all.status, all.body]).toEqual([400, { errorCode, errorDetails: expect.any(String) }]);
    });

    it.each(NAMES.map((name) => [name.slice(0, 20), name] as const))('replies 404 for the flag %s', async (_, name) => {
      const { status, body } = await post(`${EVALUATE}/${name}`, '{}');
      expect([status, body]).toMatchObject([404, { key: decodeURIComponent(name), errorCode: 'FLAG_NOT_FOUND' }]);
    });

    it('refuses a name that cannot be decoded', async () => {
      const { status, body } = await post(`${EVALUATE}/%zz`, '{}');
      expect([status, body]).toEqual([
        400,
        { key: '', errorCode: 'INVALID_CONTEXT', errorDetails: expect.any(String) },
      ]);
    });

    it('replies 404 for other paths, and 405 for other methods', async () => {
      const { app } = host;
      for (const path of ['/ofrep', '/ofrep/v1/configuration', '/ofrep/v2/evaluate/flags', `${EVALUATE}/a/b`]) {
        const { body } = await request(app).post(path).expect(404);
        expect(body).toMatchObject({ name: 'NotFoundError', code: 'not_found' });
      }
      for (const path of [EVALUATE, `${EVALUATE}/checkout`]) {
        const { body, headers } = await request(app).get(path).expect(405);
        expect([body.code, headers.allow]).toEqual(['method_not_allowed', 'POST']);
      }
    });
  });
});

describe('tokens by OFREP', () => {
  describe('OFREP', () => {
    let host: HostApp;

    beforeEach(async () => {
      host = await createHostApp({ router: { auth: 'token' } });
      await switchOn(host.flags, 'checkout');
    });

    afterEach(() => host.flags.close());

    const ask = async (path: string, token: NewToken) => {
      const name = `${token.name} ${(await host.flags.tokens.list()).items.length}`;
      const { secret } = await host.flags.tokens.create({ ...token, name });
      return request(host.app).post(path).set('authorization', secret).send({});
    };

    it.each([EVALUATE, `${EVALUATE}/checkout`])('accepts tokens of servers and of browsers at %s', async (path) => {
      for (const kind of ['client', 'frontend'] as const) {
        const { status, body } = await ask(path, { name: kind, kind, environment: 'production' });
        expect([status, body.flags?.[0]?.value ?? body.value]).toEqual([200, true]);
      }
    });

    it.each([EVALUATE, `${EVALUATE}/checkout`, '/ofrep/nothing'])('refuses other tokens at %s', async (path) => {
      const { status, body } = await ask(path, { name: 'admin', kind: 'admin' });
      expect([status, body.code]).toEqual([403, 'forbidden']);
      expect(body.message).toContain('client or frontend');
      expect((await request(host.app).post(path)).status).toBe(401);
    });

    it('evaluates in the environment of the token', async () => {
      const token = { name: 'web', kind: 'client', environment: 'development' } as const;
      const { body } = await ask(`${EVALUATE}/checkout?environment=production`, token);
      expect(body).toMatchObject({ value: false, reason: 'DISABLED' });
    });

    it('hides the metadata of a flag that is off from a frontend token', async () => {
      await host.flags.setVariants({ project: 'default', flag: 'checkout' }, [{ name: 'secret' }]);
      await switchOn(host.flags, 'other', { users: 'nobody' });
      const frontend = { name: 'web', kind: 'frontend', environment: 'development' } as const;
      const off = { key: 'checkout', value: false, reason: 'DISABLED' };
      expect((await ask(`${EVALUATE}/checkout`, frontend)).body).toEqual(off);
      expect((await ask(EVALUATE, frontend)).body.flags).toEqual([off, { ...off, key: 'other' }]);
      const other = await ask(`${EVALUATE}/other`, { ...frontend, environment: 'production' });
      expect(other.body).toEqual({ ...off, key: 'other', reason: 'UNKNOWN' });
      const on = await ask(`${EVALUATE}/checkout`, { ...frontend, environment: 'production' });
      expect(on.body).toMatchObject({ value: true, variant: 'secret', metadata: { project: 'default' } });
      // A hash of the configuration would confirm guesses of it.
      expect(on.body.metadata).not.toHaveProperty('version');
      const client = await ask(`${EVALUATE}/checkout`, { ...frontend, kind: 'client' });
      expect(client.body).toMatchObject({ ...off, metadata: { project: 'default' } });
    });

    it.each(['client', 'frontend'] as const)(
      'hides the value of a flag that is off from the kind %s where its variants have payloads',
      async (kind) => {
        const { flags } = host;
        const payload = { type: 'string', value: '#00f' } as const;
        await switchOn(flags, 'color', { payload, users: 'ada' });
        await switchOn(flags, 'strategic', { users: 'ada' });
        const strategic = { project: 'default', flag: 'strategic', environment: 'production' };
        const variants = [
          { name: 'blue', weightType: 'variable', weight: 1000, stickiness: 'default', payload },
        ] as const;
        await flags.addStrategy(strategic, { name: 'userWithId', parameters: { userIds: 'bob' }, variants });
        const token = { name: 'web', kind, environment: 'production' } as const;
        const { body } = await ask(EVALUATE, token);
        const metadata = kind === 'client' ? { metadata: expect.objectContaining({ enabled: false }) } : {};
        const off = (key: string) => ({ key, reason: 'UNKNOWN', ...metadata });
        expect(body.flags).toEqual([expect.objectContaining({ key: 'checkout' }), off('color'), off('strategic')]);
        expect((await ask(`${EVALUATE}/color`, token)).body).toEqual(off('color'));
        const elsewhere = await ask(`${EVALUATE}/color`, { ...token, environment: 'development' });
        expect(elsewhere.body).toEqual({ ...off('color'), reason: 'DISABLED' });
      },
    );

    it('reads the token in X-API-Key, and in Authorization first', async () => {
      const { app, flags } = host;
      const { secret } = await flags.tokens.create({ name: 'web', kind: 'client', environment: 'production' });
      for (const path of [EVALUATE, `${EVALUATE}/checkout`]) {
        await request(app).post(path).set('x-api-key', secret).send({}).expect(200);
        await request(app).post(path).set('x-api-key', 'unknown').send({}).expect(401);
        await request(app).post(path).set('x-api-key', 'unknown').set('authorization', secret).send({}).expect(200);
        await request(app).post(path).set('x-api-key', secret).set('authorization', 'unknown').send({}).expect(401);
      }
    });

    it('does not read X-API-Key elsewhere', async () => {
      const { app, flags } = host;
      for (const [kind, path] of [
        ['client', '/api/client/features'],
        ['frontend', '/api/frontend'],
        ['admin', '/api/admin/projects'],
      ] as const) {
        const { secret } = await flags.tokens.create({ name: kind, kind });
        await request(app).get(path).set('x-api-key', secret).expect(401);
        await request(app).get(path).set('authorization', secret).expect(200);
      }
    });

    it('shows the project of the token only', async () => {
      await host.flags.createProject({ id: 'shop', name: 'Shop' });
      await switchOn(host.flags, 'basket', { project: 'shop' });
      const token = { name: 'web', kind: 'client', environment: 'production', project: 'shop' } as const;
      expect((await ask(EVALUATE, token)).body.flags).toMatchObject([{ key: 'basket' }]);
      expect((await ask(`${EVALUATE}/basket`, token)).status).toBe(200);
      const { status, body } = await ask(`${EVALUATE}/checkout`, token);
      expect([status, body]).toEqual([
        404,
        { key: 'checkout', errorCode: 'FLAG_NOT_FOUND', errorDetails: 'There is no flag checkout for this client.' },
      ]);
    });
  });

  describe('OFREP without tokens', () => {
    it('evaluates in the environment of the query, or else in the default', async () => {
      const { app, flags } = await createHostApp();
      await switchOn(flags, 'checkout');
      const valueAt = async (query: string) => (await request(app).post(`${EVALUATE}/checkout${query}`).send({})).body;
      expect(await valueAt('')).toMatchObject({ value: true });
      expect(await valueAt('?environment=development')).toMatchObject({ value: false });
      expect(await valueAt('?environment=moon')).toMatchObject({ key: 'checkout', errorCode: 'GENERAL' });
      await request(app).post(`${EVALUATE}?environment=moon`).send({}).expect(404);
      await flags.close();
    });

    it('calls authorize with each of its actions', async () => {
      const asked: unknown[] = [];
      const authorize = (_actor: unknown, action: string, project: string | null) => asked.push([action, project]) < 2;
      const { app, flags } = await createHostApp({ router: { auth: 'none', authorize } });
      await request(app).post(EVALUATE).send({}).expect(200);
      await request(app).post(`${EVALUATE}/checkout`).send({}).expect(403);
      expect(asked).toEqual([
        ['resolveFlags', null],
        ['resolveFlag', null],
      ]);
      await flags.close();
    });

    it('is open to pages of configured origins', async () => {
      const origin = 'https://shop.example.org';
      const { app, flags } = await createHostApp({ router: { auth: 'token', cors: { origins: [origin] } } });
      const preflight = { origin, 'access-control-request-method': 'POST' };
      const { headers } = await request(app).options(EVALUATE).set(preflight).expect(204);
      expect(headers['access-control-allow-origin']).toBe(origin);
      expect((await request(app).post(EVALUATE).set({ origin })).headers['access-control-allow-origin']).toBe(origin);
      await flags.close();
    });
  });
});
