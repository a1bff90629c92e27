import { once } from 'node:events';
import { createServer, type IncomingMessage, request as requestOfNode, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { RequestHandler } from 'express';
import request from 'supertest';
import { withFakeTime } from '../../../core/test/fake-time.js';
import type { CorsOptions } from '../../src/options.js';
import { ROUTES } from '../../src/routes.js';
import { everythingIn } from '../contract/everything.js';
import { EXPRESS_VERSIONS } from '../express-versions.js';
import { createHostApp, FLAGS, type HostApp } from '../host-app.js';

describe('requests of other origins', () => {
  const TRUSTED = 'https://admin.example.org';
  const COOKIE = { cookie: 'session=ada' };

  /** Every write that a signed-in user's cookies would permit. */
  const writes = ROUTES.filter(
    ({ method, access }) => method !== 'GET' && (access === 'admin' || access === 'client'),
  ).map((route) => [`${route.method} ${route.path}`, route] as const);

  /** The headers of a browser, or of another client, beside the cookies. */
  type Headers = Readonly<Record<string, string>>;

  const OTHERS: readonly (readonly [string, Headers])[] = [
    ['another site', { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }],
    ['a page of another port, which is the same site', { 'sec-fetch-site': 'same-site', origin: 'http://127.0.0.1:1' }],
    ['another site, whatever Origin says', { 'sec-fetch-site': 'cross-site' }],
    ['something that browsers do not say', { 'sec-fetch-site': 'same-origin, cross-site' }],
    ['nothing in the header', { 'sec-fetch-site': '' }],
    ['an old browser at another site', { origin: 'https://evil.example' }],
    ['an old browser at another port', { origin: 'http://127.0.0.1:1' }],
    ['a sandboxed page', { origin: 'null' }],
    ['an invalid origin', { origin: '127.0.0.1' }],
  ];

  let host: HostApp;
  let server: Server;
  let port: number;

  interface Sent {
    readonly method: string;
    readonly path: string;
    readonly headers?: Headers;
    readonly body?: string;
  }

  /** Adds only `Host` to the given headers. */
  async function send({ method, path, headers = {}, body }: Sent) {
    const asked = requestOfNode({ port, host: '127.0.0.1', method, path, headers, agent: false });
    asked.on('error', () => undefined);
    asked.end(body);
    const [response] = (await once(asked, 'response')) as [IncomingMessage];
    let text = '';
    for await (const chunk of response.setEncoding('utf8')) text += chunk;
    return { status: response.statusCode, code: text.startsWith('{') ? JSON.parse(text).code : undefined };
  }

  beforeEach(async () => {
    host = await createHostApp({
      router: {
        auth: async ({ headers }) => {
          const token = await host.flags.verifyToken(headers.authorization ?? '');
          return token ?? (headers.cookie === COOKIE.cookie ? { name: 'ada' } : null);
        },
        authorize: (_actor, action) => action !== 'createProject',
        trustedOrigins: [TRUSTED],
      },
    });
    server = createServer(host.app).listen(0, '127.0.0.1');
    await once(server, 'listening');
    port = (server.address() as AddressInfo).port;
  });

  afterEach(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await host.flags.close();
  });

  describe('a write with the cookies of a user', () => {
    it.each(writes)('is refused from other origins, and changes nothing: %s', async (_, { method, path }) => {
      const before = await everythingIn(host.flags);
      const target = { method, path: path.replaceAll(/:\w+/g, 'x') };
      for (const [, headers] of OTHERS) {
        expect(await send({ ...target, headers: { ...COOKIE, ...headers } })).toEqual({
          status: 403,
          code: 'cross_origin',
        });
      }
      expect(await everythingIn(host.flags)).toEqual(before);
    });

    it.each<[string, () => Headers]>([
      ['no browser', () => ({})],
      ['a page of its own', () => ({ 'sec-fetch-site': 'same-origin', origin: `http://127.0.0.1:${port}` })],
      ['a page of its own, in an old browser', () => ({ origin: `http://127.0.0.1:${port}` })],
      ['a page of its own behind a proxy that ends TLS', () => ({ origin: `https://127.0.0.1:${port}` })],
      ['the user alone', () => ({ 'sec-fetch-site': 'none' })],
      ['a trusted origin', () => ({ 'sec-fetch-site': 'cross-site', origin: TRUSTED })],
      ['a page behind a proxy that rewrites Host', () => ({ origin: TRUSTED, host: 'backend:8080' })],
      ['the default port of a host without one', () => ({ host: 'a.example', origin: 'http://a.example' })],
    ])('passes from %s', async (_, headers) => {
      const body = JSON.stringify({ name: 'checkout' });
      expect(await send({ method: 'POST', path: FLAGS, headers: { ...COOKIE, ...headers() }, body })).toMatchObject({
        status: 201,
      });
    });

    it('is refused for requests without a preflight: a Blob without a type, and a plain form', async () => {
      const flag = { project: 'default', flag: 'checkout', environment: 'production' };
      await host.flags.createFlag(flag, { name: 'checkout' });
      await host.flags.addStrategy(flag, { name: 'default' });
      const page = { ...COOKIE, 'sec-fetch-site': 'same-site', origin: 'http://localhost:3000' };
      const token = JSON.stringify({ tokenName: 'mine', type: 'admin' });
      const blob = { method: 'POST', path: '/api/admin/api-tokens', headers: page, body: token };
      expect(await send(blob)).toMatchObject({ code: 'cross_origin' });
      const form = { ...page, 'content-type': 'application/x-www-form-urlencoded' };
      const on = `${FLAGS}/checkout/environments/production/on`;
      expect(await send({ method: 'POST', path: on, headers: form, body: 'a=b' })).toMatchObject({
        code: 'cross_origin',
      });
      expect((await host.flags.tokens.list()).items).toEqual([]);
      expect((await host.flags.getFlag(flag)).environments).toContainEqual(
        expect.objectContaining({ name: 'production', enabled: false }),
      );
    });

    it('is refused after its authentication, and before its permission and its body', async () => {
      const page = { 'sec-fetch-site': 'cross-site' };
      const path = '/api/admin/projects';
      expect(await send({ method: 'POST', path, headers: page })).toMatchObject({ code: 'unauthenticated' });
      expect(await send({ method: 'POST', path, headers: COOKIE, body: '{' })).toMatchObject({ code: 'forbidden' });
      const endless = { ...COOKIE, ...page, 'content-length': '1000' };
      const asked = requestOfNode({ port, host: '127.0.0.1', method: 'POST', path, headers: endless, agent: false });
      asked.on('error', () => undefined);
      // The router waits some seconds for the rest of a body that it refuses, so that its client can read the reply.
      await withFakeTime(async (pass) => {
        let response: IncomingMessage | undefined;
        asked.on('response', (received) => {
          response = received;
        });
        asked.flushHeaders();
        while (response === undefined) await pass(100);
        expect(response.statusCode).toBe(403);
      });
      asked.destroy();
    });
  });

  describe('requests of other origins', () => {
    const page = { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' };

    it('may read, which their pages cannot see, and evaluate', async () => {
      for (const [method, path] of [
        ['GET', FLAGS],
        ['HEAD', FLAGS],
        ['OPTIONS', FLAGS],
        ['POST', '/api/frontend'],
        ['POST', '/ofrep/v1/evaluate/flags'],
      ] as const) {
        const headers = { ...COOKIE, ...page, 'content-type': 'application/json' };
        expect(await send({ method, path, body: method === 'POST' ? '{}' : '', headers })).toMatchObject({
          status: 200,
        });
      }
    });

    it('may write with an API token in Authorization, which no browser sends by itself', async () => {
      const { secret } = await host.flags.tokens.create({ name: 'ops', kind: 'admin' });
      const body = JSON.stringify({ name: 'checkout' });
      const headers = { ...page, authorization: secret };
      expect(await send({ method: 'POST', path: FLAGS, headers, body })).toMatchObject({ status: 201 });
      for (const authorization of ['unknown', 'Basic YWRhOmFkYQ==']) {
        const forged = { ...COOKIE, ...page, authorization };
        expect(await send({ method: 'POST', path: FLAGS, headers: forged, body })).toMatchObject({
          code: 'cross_origin',
        });
      }
    });
  });

  describe('a router without authentication', () => {
    let open: HostApp;
    let openServer: Server;

    beforeEach(async () => {
      open = await createHostApp({ router: { auth: 'none', allowedHosts: ['flags.example.org', 'b.example.org:81'] } });
      openServer = createServer(open.app).listen(0, '127.0.0.1');
      await once(openServer, 'listening');
      port = (openServer.address() as AddressInfo).port;
    });

    afterEach(async () => {
      openServer.closeAllConnections();
      await new Promise((resolve) => openServer.close(resolve));
      await open.flags.close();
    });

    describe('counts the usage that a page of another origin reports', () => {
      const page = { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' };
      const time = new Date().toISOString();
      const report = JSON.stringify({
        appName: 'invented',
        instanceId: 'i',
        bucket: { start: time, stop: time, toggles: { checkout: { yes: 1, no: 0 } } },
      });
      const registration = JSON.stringify({ appName: 'invented', strategies: [], started: time, interval: 1 });
      const SENT = [
        ['/api/frontend/client/metrics', report],
        ['/api/frontend/client/register', registration],
        ['/ofrep/v1/evaluate/flags', '{"context":{"targetingKey":"7"}}'],
      ] as const;
      const applications = async () => (await open.flags.applications.list()).items.map(({ name }) => name);

      it.each(SENT)('only with a JSON content type, for which browsers ask first: %s', async (path, body) => {
        // A Blob without a type, and a form: browsers send them from any page.
        for (const headers of [page, { ...page, 'content-type': 'text/plain' }]) {
          expect(await send({ method: 'POST', path, headers, body })).toMatchObject({ code: 'cross_origin' });
        }
        expect(await applications()).toEqual([]);
        const headers = { ...page, 'content-type': 'application/json; charset=utf-8' };
        expect((await send({ method: 'POST', path, headers, body })).status).toBe(200);
        const own = { 'sec-fetch-site': 'same-origin' };
        expect((await send({ method: 'POST', path, headers: own, body })).status).toBe(200);
      });

      it.each(['/api/client/metrics', '/api/client/metrics/bulk', '/api/client/register'])(
        'never at %s, which pages do not use',
        async (path) => {
          const headers = { ...page, 'content-type': 'application/json' };
          expect(await send({ method: 'POST', path, headers, body: report })).toMatchObject({ code: 'cross_origin' });
        },
      );
    });

    const METHODS = ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE'];

    it.each([
      'localhost',
      'LOCALHOST:4242',
      'app.localhost:80',
      '127.0.0.1',
      '10.0.0.7:8080',
      '[::1]:4242',
      'flags',
      'flags:4242',
      'flags.example.org',
      'FLAGS.example.org:1234',
      'b.example.org:81',
    ])('is reached as %s', async (name) => {
      for (const path of [FLAGS, '/api/client/features', '/api/frontend']) {
        expect((await send({ method: 'GET', path, headers: { host: name } })).status).toBe(200);
      }
    });

    it.each([
      'evil.example',
      'evil.example:4242',
      'b.example.org',
      'localhost.evil.example',
      '127.0.0.1.evil.example',
      '[::1].evil.example',
      '0x7f.1',
      'a b',
    ])('is not reached by a name that may be rebound, by any method: %j', async (name) => {
      for (const method of METHODS) {
        const { status, code } = await send({ method, path: FLAGS, headers: { host: name } });
        expect([status, method === 'HEAD' ? 'host_not_allowed' : code]).toEqual([403, 'host_not_allowed']);
      }
    });

    it('refuses writes of pages of other origins', async () => {
      const headers = { 'sec-fetch-site': 'same-site', origin: 'http://localhost:3000' };
      expect(await send({ method: 'POST', path: FLAGS, headers })).toEqual({ status: 403, code: 'cross_origin' });
    });
  });
});

describe('CORS of clients', () => {
  const SHOP = 'https://shop.example.org';
  const PREFLIGHT = {
    origin: SHOP,
    'access-control-request-method': 'GET',
    'access-control-request-headers': 'authorization,if-none-match',
  };

  const corsHeaders = (headers: Readonly<Record<string, string>>) =>
    Object.keys(headers).filter((name) => name.startsWith('access-control-'));

  describe.each(EXPRESS_VERSIONS)('requests of other origins, on Express $major', (version) => {
    const createApp = (cors?: CorsOptions) =>
      createHostApp({ version, router: { auth: 'token', ...(cors && { cors }) } });

    it('are allowed to configured origins, also if they are refused', async () => {
      const { app, flags } = await createApp({ origins: [SHOP] });
      const { secret } = await flags.tokens.create({ name: 'page', kind: 'frontend', environment: 'production' });
      const granted = await request(app).get('/api/frontend').set({ origin: SHOP, authorization: secret }).expect(200);
      const refused = await request(app).get('/api/frontend').set('origin', SHOP).expect(401);
      for (const { headers } of [granted, refused]) {
        expect(headers).toMatchObject({
          'access-control-allow-origin': SHOP,
          'access-control-expose-headers': 'ETag',
          vary: expect.stringContaining('Origin'),
        });
      }
    });

    it('send preflights without a token', async () => {
      const { app } = await createApp({ origins: [SHOP] });
      for (const path of ['/api/frontend', '/api/frontend/client/metrics']) {
        const { headers, text } = await request(app).options(path).set(PREFLIGHT).expect(204);
        expect(text).toBe('');
        expect(headers).toMatchObject({
          'access-control-allow-origin': SHOP,
          'access-control-allow-methods': 'GET, HEAD, POST',
          'access-control-allow-headers': 'authorization,if-none-match',
          vary: 'Origin, Access-Control-Request-Headers',
        });
      }
    });

    it('keep the Vary header of the host, and have no content length without a body', async () => {
      const varies: RequestHandler = (_request, response, next) => {
        response.vary('Accept-Encoding');
        next();
      };
      const router = { auth: 'none', cors: { origins: [SHOP] } } as const;
      const { app } = await createHostApp({ version, router, before: [varies] });
      const { headers } = await request(app).options('/api/frontend').set(PREFLIGHT).expect(204);
      expect(headers.vary).toBe('Accept-Encoding, Origin, Access-Control-Request-Headers');
      expect(headers).not.toHaveProperty('content-length');
    });

    it('are refused for other origins', async () => {
      const { app } = await createApp({ origins: [SHOP] });
      for (const origin of [
        'https://evil.example.org',
        'null',
        `${SHOP}.evil.example.org`,
        'http://shop.example.org',
      ]) {
        const preflight = await request(app)
          .options('/api/frontend')
          .set({ ...PREFLIGHT, origin });
        const { headers } = await request(app).get('/api/frontend').set({ origin });
        for (const one of [preflight.headers, headers]) {
          expect(corsHeaders(one)).toEqual([]);
          expect(one.vary).toContain('Origin');
        }
      }
    });

    it('are allowed to all origins by *', async () => {
      const { app } = await createApp({ origins: '*' });
      const { headers } = await request(app).options('/api/frontend').set(PREFLIGHT).expect(204);
      expect(headers['access-control-allow-origin']).toBe('*');
    });

    it('are allowed only for the frontend API, and only if configured', async () => {
      const { app } = await createApp({ origins: '*' });
      const { app: bare } = await createApp();
      const answers = [
        await request(app).get('/api/client/features').set('origin', SHOP),
        await request(app).options('/api/admin/projects').set(PREFLIGHT),
        await request(app).options('/api/client/features').set(PREFLIGHT),
        await request(bare).options('/api/frontend').set(PREFLIGHT),
        await request(bare).get('/api/frontend').set('origin', SHOP),
      ];
      for (const { headers } of answers) {
        expect(corsHeaders(headers)).toEqual([]);
        expect(headers.vary).toBeUndefined();
      }
    });
  });
});

describe('CORS on every route', () => {
  const ORIGIN = 'https://shop.example.org';
  const rows = ROUTES.map((route) => [`${route.method} ${route.path}`, route] as const);

  describe.each([
    ['every origin', { origins: '*' }, '*'],
    ['one origin', { origins: [ORIGIN] }, ORIGIN],
  ] as const)('a router with %s allowed', (_, cors, allowed) => {
    let host: HostApp;

    beforeAll(async () => {
      host = await createHostApp({ router: { auth: 'token', cors } });
    });

    afterAll(() => host.flags.close());

    it.each(rows)('permits other pages the frontend API and OFREP only, without cookies: %s', async (_name, route) => {
      const path = route.path.replaceAll(/:\w+/g, 'x');
      const isForPages = route.access === 'frontend' || route.access === 'ofrep';
      const preflight = { origin: ORIGIN, 'access-control-request-method': route.method };
      const verb = route.method.toLowerCase() as 'get';
      const answers = [
        await request(host.app).options(path).set(preflight),
        await request(host.app)[verb](path).set(preflight),
      ];
      for (const { headers } of answers) {
        expect(headers['access-control-allow-origin']).toBe(isForPages ? allowed : undefined);
        expect(headers['access-control-allow-credentials']).toBeUndefined();
      }
    });
  });
});
