import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { brotliCompressSync } from 'node:zlib';
import type { StrategyInput, TokenKind } from '@flags/core';
import { array, assert, asyncProperty, constantFrom, oneof, string, tuple } from 'fast-check';
import request from 'supertest';
import { until } from '../../../../test/until.js';
import { permissionOf } from '../../src/actions.js';
import { kindsFor } from '../../src/auth/auth.js';
import { ROUTES } from '../../src/routes.js';
import { createHostApp } from '../host-app.js';
import { listen } from './event-client.js';
import { startLiveServer } from './live-server.js';
import { createOn } from './states.js';

describe('the frontend API', () => {
  const PRODUCTION = { project: 'default', flag: 'checkout', environment: 'production' };

  async function createConstrained(contextName: string, values: readonly string[]) {
    const host = await createHostApp();
    await host.flags.createFlag({ project: 'default' }, { name: 'checkout' });
    await host.flags.addStrategy(PRODUCTION, {
      name: 'default',
      constraints: [{ contextName, operator: 'IN', values }],
    });
    await host.flags.enable(PRODUCTION);
    const isOn = async (query: string) => {
      const { body } = await request(host.app).get(`/api/frontend${query}`).expect(200);
      return body.toggles.length === 1;
    };
    return { ...host, isOn };
  }

  describe('a long answer', () => {
    const COUNT = 400;

    it('is written while it is generated: it has neither an ETag nor a Content-Length', async () => {
      const { app, flags } = await createHostApp();
      const payload = { type: 'string', value: 'p'.repeat(3000) };
      await flags.definitions.import({
        version: 1,
        flags: Array.from({ length: COUNT }, (_, at) => ({
          name: `flag-${at + 1000}`,
          project: 'default',
          environments: { production: { enabled: true, strategies: [{ name: 'default' }] } },
          variants: [{ name: 'blue', payload }],
        })),
      } as never);
      for (const ask of [
        () => request(app).get('/api/frontend?userId=7'),
        () =>
          request(app)
            .post('/api/frontend')
            .send({ context: { userId: '7' } }),
      ]) {
        const { headers, body } = await ask().expect(200);
        expect(headers['content-length']).toBeUndefined();
        expect(body.toggles).toHaveLength(COUNT);
        expect(body.toggles.at(-1)).toMatchObject({ name: `flag-${COUNT + 999}`, variant: { payload } });
        expect(headers).not.toHaveProperty('etag');
      }
      await flags.disable({ project: 'default', flag: 'flag-1000', environment: 'production' });
      const changed = await request(app).get('/api/frontend?userId=7');
      expect([changed.status, changed.body.toggles.length]).toEqual([200, COUNT - 1]);
      await flags.close();
    });
  });

  describe('the size of a context', () => {
    const properties = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`p${at}`, 'v']));
    const ROUTES_OF_CONTEXTS = [
      ['/api/frontend', (context: object) => ({ context })],
      ['/ofrep/v1/evaluate/flags', (context: object) => ({ context })],
      ['/ofrep/v1/evaluate/flags/checkout', (context: object) => ({ context })],
      ['/api/admin/playground', (context: object) => ({ environment: 'production', context })],
    ] as const;

    it.each(ROUTES_OF_CONTEXTS)('is at most 64 KiB and 1,000 properties: %s', async (path, envelope) => {
      const { app, flags } = await createHostApp();
      await createOn(flags, { name: 'checkout' });
      const contextOf = (count: number) =>
        path.startsWith('/ofrep') ? properties(count) : { properties: properties(count) };
      const ask = (context: object) => request(app).post(path).send(envelope(context));
      await ask(contextOf(1000)).expect(200);
      await ask(contextOf(1001)).expect(400);
      await ask(properties(1001)).expect(400);
      if (!path.startsWith('/ofrep')) {
        await ask({ ...properties(500), properties: properties(500) }).expect(200);
        await ask({ ...properties(501), properties: { ...properties(499), x: 1, y: 1, z: 1 } }).expect(200);
        await ask({ ...properties(999), properties: { x: 1, y: 1 } }).expect(400);
      }
      const { body } = await ask({ userId: 'x'.repeat(65_536) }).expect(413);
      expect(body).toMatchObject({ code: 'payload_too_large', message: expect.stringContaining('65536 bytes') });
      await ask({ userId: 'x'.repeat(65_000) }).expect(200);
      await flags.close();
    });

    it('counts decompressed bytes and query parameters', async () => {
      const { app, flags } = await createHostApp();
      const body = brotliCompressSync(JSON.stringify({ context: { userId: 'x'.repeat(1_000_000) } }));
      expect(body.length).toBeLessThan(1000);
      const headers = { 'content-type': 'application/json', 'content-encoding': 'br' };
      const sent = request(app).post('/api/frontend').set(headers);
      sent.write(body as never);
      await sent.expect(413);
      const query = Array.from({ length: 1001 }, (_, at) => `properties[${at.toString(36)}]`).join('&');
      expect(query.length).toBeLessThan(16_384);
      await request(app).get(`/api/frontend?${query}`).expect(400);
      const fields = Array.from({ length: 1001 }, (_, at) => `q${at.toString(36)}=`).join('&');
      await request(app).get(`/api/frontend?${fields}`).expect(400);
      await flags.close();
    });
  });

  describe('the context of a browser', () => {
    it.each([
      ['userId', 'userId=x'],
      ['sessionId', 'sessionId=x'],
      ['remoteAddress', 'remoteAddress=x'],
      ['environment', 'environment=x'],
      ['appName', 'appName=x'],
      ['plan', 'properties[plan]=x'],
      ['plan', 'properties%5Bplan%5D=x'],
      ['__proto__', 'properties[__proto__]=x'],
      ['a][b', 'properties[a][b]=x'],
      // Unknown members are properties, as in Unleash.
      ['plan', 'plan=x'],
      ['plan', 'plan=y&properties[plan]=x'],
      ['__proto__', '__proto__=x'],
      ['constructor', 'constructor=x'],
      ['a[b]', 'a[b]=x'],
      ['plan', 'plan=x&userId=7&currentTime=2026-01-01'],
    ])('has %s by %s', async (field, query) => {
      const { flags, isOn } = await createConstrained(field, ['x']);
      expect([await isOn(`?${query}`), await isOn('')]).toEqual([true, false]);
      await flags.close();
    });

    it('joins the values of a field that the query repeats, as lists are joined', async () => {
      const { flags, isOn } = await createConstrained('roles', ['a,b']);
      expect(await isOn('?roles=a&roles=b')).toBe(true);
      await flags.close();
    });

    const LISTS = [
      ['a list', ['a', 'b'], 'a,b'],
      ['nested lists', [['a'], [1, null]], 'a,1,'],
      ['an object', { a: 1 }, '[object Object]'],
      ['true', true, 'true'],
      ['a number', 7, '7'],
    ] as const;

    it.each(LISTS)('reads %s as OFREP does, in the properties and beside them', async (_type, sent, text) => {
      for (const name of ['roles', '__proto__', 'toString']) {
        const { app, flags } = await createConstrained(name, [text]);
        const { body: ofrep } = await request(app)
          .post('/ofrep/v1/evaluate/flags/checkout')
          .set('content-type', 'application/json')
          .send(`{"context":{${JSON.stringify(name)}:${JSON.stringify(sent)}}}`);
        expect([name, ofrep.value]).toEqual([name, true]);
        const field = `{${JSON.stringify(name)}:${JSON.stringify(sent)}}`;
        for (const context of [field, `{"properties":${field}}`]) {
          const ask = (path: string, body: string) =>
            request(app).post(path).set('content-type', 'application/json').send(body).expect(200);
          const { body } = await ask('/api/frontend', `{"context":${context}}`);
          expect([context, body.toggles.length]).toEqual([context, 1]);
          const { body: why } = await ask('/api/admin/playground', `{"environment":"production","context":${context}}`);
          expect([context, why.features[0]?.enabled]).toEqual([context, true]);
          const preview = `{"changes":[{"op":"updateFlag","ref":{"project":"default","flag":"checkout"},"input":{"stale":true}}],"environment":"production","contexts":[${context}]}`;
          const { body: seen } = await ask('/api/admin/changes/preview', preview);
          expect([context, seen.flags[0]?.before.enabled]).toEqual([context, 1]);
        }
        await flags.close();
      }
    });

    it('reads null as absent, and refuses a list where one value is meant', async () => {
      const { app, flags } = await createConstrained('plan', ['null']);
      const { body } = await request(app)
        .post('/api/frontend')
        .send({ context: { plan: null } })
        .expect(200);
      expect(body.toggles).toEqual([]);
      await request(app)
        .post('/api/frontend')
        .send({ context: { userId: ['7'] } })
        .expect(400);
      await flags.close();
    });

    it('has the address of the request unless it names one', async () => {
      const { flags, isOn } = await createConstrained('remoteAddress', ['127.0.0.1', '::1']);
      expect([await isOn(''), await isOn('?remoteAddress=192.0.2.1')]).toEqual([true, false]);
      await flags.close();
    });

    it.each([
      ['remoteAddress', { IPs: '127.0.0.1' }],
      ['flexibleRollout', { rollout: 100, stickiness: 'remoteAddress' }],
    ])('has the IPv4 address of an IPv4 client of a server that listens on IPv6: %s', async (name, parameters) => {
      const { app, flags } = await createHostApp();
      const server = app.listen(0, '::');
      try {
        await once(server, 'listening');
        const place = { project: 'default', flag: 'checkout', environment: 'production' };
        await flags.createFlag(place, { name: 'checkout' });
        const constraints = [{ contextName: 'remoteAddress', operator: 'IN', values: ['127.0.0.1'] }] as const;
        await flags.addStrategy(place, { name, parameters, constraints } as StrategyInput);
        await flags.enable(place);
        const { port } = server.address() as AddressInfo;
        const api = `http://127.0.0.1:${port}/api`;
        const { toggles } = (await (await fetch(`${api}/frontend`)).json()) as { toggles: readonly object[] };
        expect(toggles).toHaveLength(1);
        const registration = { appName: 'web', strategies: [], started: '2026-01-01T00:00:00Z', interval: 1000 };
        await fetch(`${api}/client/register`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(registration),
        });
        const { instances } = await flags.applications.get({ application: 'web' });
        expect(instances.map(({ clientIp }) => clientIp)).toEqual(['127.0.0.1']);
      } finally {
        server.close();
        await flags.close();
      }
    });

    it('is evaluated in the environment of the token, whatever environment it names', async () => {
      const { flags, isOn } = await createConstrained('environment', ['development']);
      expect([await isOn('?environment=development'), await isOn('?environment=production')]).toEqual([true, false]);
      await flags.close();
    });

    it('never crashes the server, whatever it contains', async () => {
      const { app, flags, faults } = await createHostApp();
      await createOn(flags, { name: 'checkout' });
      const name = oneof(
        constantFrom(
          'userId',
          'properties',
          'properties[',
          'properties[]',
          'properties[[]]',
          '__proto__',
          'currentTime',
        ),
        string({ unit: 'grapheme', maxLength: 10 }),
      );
      const value = oneof(
        constantFrom('', '[object Object]', '\u0000', 'x'.repeat(2000)),
        string({ unit: 'grapheme' }),
      );
      const property = asyncProperty(array(tuple(name, value), { maxLength: 5 }), async (pairs) => {
        const query = pairs.map((pair) => pair.map((text) => encodeURIComponent(text)).join('=')).join('&');
        const { status } = await request(app).get(`/api/frontend?${query}`);
        expect([200, 400]).toContain(status);
      });
      await assert(property, { numRuns: 100 });
      expect(faults).toEqual([]);
      await flags.close();
    }, 60_000);

    it.each(['%', '&&&=', 'properties[x', 'properties[x]]=1', 'a=%ff%fe', '=', '?', '[]=1'])(
      'never crashes the server with the query %s',
      async (query) => {
        const { app, flags, faults } = await createHostApp();
        expect((await request(app).get(`/api/frontend?${query}`)).status).toBe(200);
        expect(faults).toEqual([]);
        await flags.close();
      },
    );
  });

  describe('the answers for a browser', () => {
    it('have an ETag of their content', async () => {
      const { app, flags } = await createHostApp();
      await createOn(flags, { name: 'checkout' });
      const { etag } = (await request(app).get('/api/frontend?userId=7')).headers;
      await request(app).get('/api/frontend?userId=7').set('if-none-match', `${etag}`).expect(304);
      await flags.disable(PRODUCTION);
      await request(app).get('/api/frontend?userId=7').set('if-none-match', `${etag}`).expect(200);
      await flags.close();
    });

    it('do not count as usage, because browsers report their usage', async () => {
      const { app, flags } = await createHostApp();
      await createOn(flags, { name: 'checkout' });
      await request(app).get('/api/frontend').expect(200);
      await flags.close();
      const again = await createHostApp();
      expect((await again.flags.usage.count()).lastHour.size).toBe(0);
      await again.flags.close();
    });
  });
});

describe('scopes of tokens', () => {
  const KINDS: readonly TokenKind[] = ['admin', 'client', 'frontend'];
  const PLACES = ROUTES.filter(({ action }) => permissionOf(action)).flatMap(({ action, access, method, path }) =>
    KINDS.filter((kind) => !kindsFor(access).includes(kind)).map((kind) => ({ kind, action, access, method, path })),
  );
  const namesIn = ({ body }: { body: { features?: { name: string }[]; toggles?: { name: string }[] } }) =>
    (body.features ?? body.toggles ?? []).map(({ name }) => name);

  describe('a token', () => {
    it('is refused by every route of another kind', async () => {
      const { app, flags } = await createHostApp({ router: { auth: 'token' } });
      const secrets = new Map<TokenKind, string>();
      for (const kind of KINDS) {
        const environment = kind === 'admin' ? {} : { environment: 'production' };
        secrets.set(kind, (await flags.tokens.create({ name: kind, kind, ...environment })).secret);
      }
      for (const { kind, access, method, path } of PLACES) {
        const attempt = request(app)[method.toLowerCase() as 'get'](path.replaceAll(/:\w+/g, 'x'));
        const { status, body } = await attempt.set('authorization', secrets.get(kind) ?? '');
        expect([kind, method, path, status, body.code]).toEqual([kind, method, path, 403, 'forbidden']);
        expect(body.message).toContain(kindsFor(access).join(' or '));
      }
      await flags.close();
    });

    it('shows only its own project and environment, whatever the request names', async () => {
      const { app, flags } = await createHostApp({ router: { auth: 'token' } });
      await flags.createProject({ id: 'shop', name: 'Shop' });
      await createOn(flags, { name: 'checkout' });
      await createOn(flags, { name: 'basket' }, 'shop');
      const scope = { project: 'shop', environment: 'development' };
      const client = (await flags.tokens.create({ name: 'a', kind: 'client', ...scope })).secret;
      const frontend = (await flags.tokens.create({ name: 'b', kind: 'frontend', ...scope, environment: 'production' }))
        .secret;
      const ask = (path: string, secret: string) => request(app).get(path).set('authorization', secret);

      for (const query of ['', '?project=*', '?project=shop&project=default', '?environment=production']) {
        const { body } = await ask(`/api/client/features${query}`, client).expect(200);
        expect(body.features).toMatchObject([{ name: 'basket', enabled: false }]);
        expect(body.query).toEqual({ environment: 'development', project: ['shop'] });
      }
      expect(namesIn(await ask('/api/client/features?project=default', client).expect(200))).toEqual([]);
      await ask('/api/client/features/checkout', client).expect(404);
      await ask('/api/client/features/basket', client).expect(200);
      expect(namesIn(await ask('/api/frontend?environment=development', frontend).expect(200))).toEqual(['basket']);
      await flags.close();
    });

    it('shows several projects, narrowed by the query', async () => {
      const { url, flags, stop } = await startLiveServer({ router: { auth: 'token' } });
      for (const id of ['shop', 'app']) await flags.createProject({ id, name: id });
      await createOn(flags, { name: 'checkout' });
      await createOn(flags, { name: 'basket' }, 'shop');
      await createOn(flags, { name: 'menu' }, 'app');
      const projects = ['shop', 'app'];
      const client = await flags.tokens.create({ name: 'a', kind: 'client', projects });
      const frontend = await flags.tokens.create({ name: 'b', kind: 'frontend', projects });
      const ask = (path: string, { secret }: { readonly secret: string }) =>
        request(url).get(path).set('authorization', secret);

      const { body } = await ask('/api/client/features', client).expect(200);
      expect(body.features).toMatchObject([{ name: 'basket' }, { name: 'menu' }]);
      expect(body.query).toMatchObject({ project: ['app', 'shop'] });
      const asked = await ask('/api/client/features?project=shop&project=default', client);
      expect(namesIn(asked)).toEqual(['basket']);
      await ask('/api/client/features/checkout', client).expect(404);
      expect(namesIn(await ask('/api/frontend', frontend)).sort()).toEqual(['basket', 'menu']);
      const evaluated = await request(url)
        .post('/ofrep/v1/evaluate/flags')
        .set('authorization', frontend.secret)
        .send({});
      expect(evaluated.body.flags).toMatchObject([{ key: 'basket' }, { key: 'menu' }]);
      const stream = await listen(`${url}/api/client/streaming`, { authorization: client.secret });
      await until(() => stream.messages.length > 0);
      await stop();
      expect(stream.messages[0]?.events[0].features).toMatchObject([{ name: 'basket' }, { name: 'menu' }]);
    });

    it('shows only the segments that its flags use', async () => {
      const { app, flags } = await createHostApp({ router: { auth: 'token' } });
      await flags.createProject({ id: 'shop', name: 'Shop' });
      await createOn(flags, { name: 'checkout' });
      await createOn(flags, { name: 'basket' }, 'shop');
      const { id } = await flags.segments.create({ name: 'ours', constraints: [] });
      const production = { project: 'default', flag: 'checkout', environment: 'production' };
      await flags.addStrategy(production, { name: 'default', segments: [id] });
      const segmentsFor = async (project: string) => {
        const token = await flags.tokens.create({ name: project, kind: 'client', project, environment: 'production' });
        const asked = request(app).get('/api/client/features').set('unleash-client-spec', '5.1.0');
        return (await asked.set('authorization', token.secret)).body.segments;
      };
      expect(await segmentsFor('default')).toMatchObject([{ id }]);
      expect(await segmentsFor('shop')).toEqual([]);
      await flags.close();
    });

    it('streams its project and environment only', async () => {
      const { url, flags, stop } = await startLiveServer({ router: { auth: 'token' } });
      await flags.createProject({ id: 'shop', name: 'Shop' });
      await createOn(flags, { name: 'checkout' });
      await createOn(flags, { name: 'basket' }, 'shop');
      const token = await flags.tokens.create({
        name: 'web',
        kind: 'client',
        project: 'shop',
        environment: 'production',
      });
      const client = await listen(`${url}/api/client/streaming?project=*`, { authorization: token.secret });
      await until(() => client.messages.length > 0);
      await stop();
      expect(client.messages[0]?.events[0].features).toMatchObject([{ name: 'basket' }]);
    });
  });

  describe.each(['none', 'host'])('a request without tokens (%s)', (mode) => {
    const auth = mode === 'none' ? 'none' : () => ({ name: 'ada' });

    it('reads the environment from the query, otherwise uses the default', async () => {
      const { app, flags } = await createHostApp({ router: { auth }, flags: { environment: 'development' } });
      await createOn(flags, { name: 'checkout' });
      const enabledAt = async (query: string) => {
        const { body } = await request(app).get(`/api/client/features${query}`).expect(200);
        return [body.query.environment, body.features[0].enabled];
      };
      expect(await enabledAt('')).toEqual(['development', false]);
      expect(await enabledAt('?environment=production')).toEqual(['production', true]);
      for (const path of ['/api/client/features', '/api/client/features/checkout', '/api/client/streaming']) {
        const { body } = await request(app).get(`${path}?environment=moon`).expect(404);
        expect(body.code).toBe('environment_not_found');
      }
      await request(app).get('/api/client/features?environment=a&environment=b').expect(400);
      expect(namesIn(await request(app).get('/api/frontend?environment=production').expect(200))).toEqual([]);
      await flags.close();
    });
  });
});
