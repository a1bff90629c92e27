import { type FlagsStorage, memoryStorage } from '@flags/core';
import type { RequestHandler } from 'express';
import helmet from 'helmet';
import request from 'supertest';
import { until } from '../../../../test/until.js';
import { type LiveServer, startLiveServer } from '../../../http/test/client/live-server.js';
import { openRaw } from '../../../http/test/connections/raw-requests.js';
import { askRaw } from '../../../http/test/contract/raw-client.js';
import { EXPRESS_VERSIONS } from '../../../http/test/express-versions.js';
import { createHostApp, FLAGS } from '../../../http/test/host-app.js';

describe('neighbours', () => {
  const REGISTRATION = { appName: 'web', strategies: [], started: '2026-01-01T10:00:00Z', interval: 1000 };

  interface SentHead {
    readonly headers: Readonly<Record<string, string>>;
    readonly res: { readonly rawHeaders: readonly string[] };
  }

  /** Like rate limiters: counts by address, reports in headers, refuses with 429. */
  function rateLimiter(limit: number): RequestHandler {
    const counts = new Map<string | undefined, number>();
    return (req, res, next) => {
      const count = (counts.get(req.ip) ?? 0) + 1;
      counts.set(req.ip, count);
      res.setHeader('RateLimit-Remaining', Math.max(0, limit - count));
      if (count <= limit) next();
      else res.status(429).send('Too many requests.');
    };
  }

  describe.each(EXPRESS_VERSIONS)('the router in a host on Express $major', (version) => {
    it("keeps helmet's headers, whatever it answers", async () => {
      const { app } = await createHostApp({ version, before: [helmet()] });
      for (const path of [FLAGS, `${FLAGS}/unknown`, '/api/admin/nothing']) {
        const { headers } = await request(app).get(path);
        expect(headers['content-security-policy']).toContain("default-src 'self'");
        expect(headers['x-content-type-options']).toBe('nosniff');
        expect(headers['content-type']).toBe('application/json; charset=utf-8');
        expect(headers['x-powered-by']).toBeUndefined();
      }
    });

    it("adds to helmet's headers what it would send alone, each header once", async () => {
      const alone = await createHostApp({ version });
      const helmeted = await createHostApp({ version, before: [helmet()] });
      for (const path of [FLAGS, `${FLAGS}/unknown`, '/api/admin/nothing', '/api/client/features', '/api/frontend']) {
        const own = await request(alone.app).get(path);
        const { res, headers } = (await request(helmeted.app).get(path)) as unknown as SentHead;
        const { date: _date, 'x-powered-by': _poweredBy, ...expected } = own.headers;
        expect(headers).toMatchObject(expected);
        const names = res.rawHeaders.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());
        expect(names).toEqual([...new Set(names)]);
      }
    });

    it('forbids type guessing and caching, unless the host has set its own headers', async () => {
      const { app } = await createHostApp({ version });
      const own = await request(app).get(FLAGS);
      expect(own.headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'cache-control': 'private, no-cache' });
      const says: RequestHandler = (_req, res, next) => {
        res.setHeader('cache-control', 'private, max-age=5');
        next();
      };
      const host = await createHostApp({ version, before: [says] });
      expect((await request(host.app).get(FLAGS)).headers['cache-control']).toBe('private, max-age=5');
    });

    it('forbids caching of secrets, whatever the host sets', async () => {
      const says: RequestHandler = (_req, res, next) => {
        res.setHeader('cache-control', 'public, max-age=60');
        next();
      };
      const { app } = await createHostApp({ version, before: [says] });
      const created = request(app).post('/api/admin/api-tokens').send({ tokenName: 'ops', type: 'admin' });
      expect((await created.expect(201)).headers['cache-control']).toBe('no-store');
    });

    it('works behind a rate limiter', async () => {
      const { app } = await createHostApp({ version, before: [rateLimiter(2)] });
      const { headers } = await request(app).post(FLAGS).send({ name: 'checkout' }).expect(201);
      expect(headers['ratelimit-remaining']).toBe('1');
      await request(app).get(FLAGS).expect(200);
      await request(app).get(FLAGS).expect(429, 'Too many requests.');
    });

    it.each<[boolean, string]>([
      [true, '203.0.113.9'],
      [false, '127.0.0.1'],
    ])("reads a client's address by the host's trust proxy %s", async (trust, address) => {
      const { app } = await createHostApp({ version });
      app.set('trust proxy', trust);
      await request(app)
        .post('/api/client/register')
        .set('X-Forwarded-For', '203.0.113.9')
        .send(REGISTRATION)
        .expect(202);
      const { body } = await request(app).get('/api/admin/metrics/applications/web').expect(200);
      expect(body.instances[0].clientIp).toContain(address);
    });

    it('is not changed by settings for JSON, queries, routes and ETags', async () => {
      const plain = await createHostApp({ version });
      const { app } = await createHostApp({ version });
      app.set('json spaces', 2);
      app.set('json replacer', () => 'x');
      app.set('query parser', () => ({ limit: { $gt: '' } }));
      app.set('case sensitive routing', true);
      app.set('strict routing', true);
      app.disable('etag');

      for (const path of ['/api/admin/metrics/applications?strategyName=a', '/API/admin/projects/default/features/']) {
        const expected = await request(plain.app).get(path).expect(200);
        const { text, headers } = await request(app).get(path).expect(200);
        expect({ text, etag: headers.etag }).toEqual({ text: expected.text, etag: expected.headers.etag });
      }
    });

    it('sends nothing when the host has answered meanwhile', async () => {
      const impatient: RequestHandler = (_req, res, next) => {
        next();
        res.status(503).send('Timeout.');
      };
      const { app, faults } = await createHostApp({ version, before: [impatient] });
      await request(app).get(FLAGS).expect(503, 'Timeout.');
      await request(app).post(FLAGS).send('{').expect(503);
      expect(faults).toEqual([]);
    });

    it('passes faults unchanged to its error handler', async () => {
      const fault = new Error('disk full');
      const storage = memoryStorage();
      let broken = false;
      const list: FlagsStorage['list'] = (query) => (broken ? Promise.reject(fault) : storage.list(query));
      const { app, faults } = await createHostApp({ version, flags: { storage: { ...storage, list } } });
      broken = true;
      await request(app).get('/api/admin/projects').expect(500);
      expect(faults).toEqual([fault]);
    });
  });
});

describe('errors for the host', () => {
  const PROJECT = '/api/admin/projects/:projectId';

  describe.each(EXPRESS_VERSIONS)("the host's auth function on Express $major", (version) => {
    it.each([
      ['get', `${FLAGS}/a%20b`, `${PROJECT}/features/:featureName`, { projectId: 'default', featureName: 'a b' }],
      ['head', `${FLAGS}/`, `${PROJECT}/features`, { projectId: 'default' }],
      ['get', '/api/client/features', '/api/client/features', {}],
    ] as const)('receives the route that answers %s %s, and its parameters', async (method, path, route, params) => {
      const told: unknown[] = [];
      const auth = ({ route, params }: { readonly route?: unknown; readonly params?: object }) => {
        told.push({ route, params: { ...params } });
        return { name: 'ada' };
      };
      const { app } = await createHostApp({ version, router: { auth } });
      await request(app)[method](path);
      expect(told).toEqual([{ route: { path: route }, params }]);
    });

    it.each([FLAGS, `${FLAGS}/a%20b`, '/api/client/features'])(
      'receives parameters as an ordinary object, at %s',
      async (path) => {
        const prototypes: unknown[] = [];
        const auth = ({ params }: { readonly params: object }) => {
          prototypes.push(Object.getPrototypeOf(params));
          return { name: 'ada' };
        };
        const { app } = await createHostApp({ version, router: { auth } });
        await request(app).get(path);
        expect(prototypes).toEqual([Object.prototype]);
      },
    );

    it('receives no route where none matches', async () => {
      const routes: unknown[] = [];
      const auth = ({ route }: { readonly route?: unknown }) => {
        routes.push(route);
        return { name: 'ada' };
      };
      const { app } = await createHostApp({ version, router: { auth } });
      await request(app).get('/api/admin/nothing').expect(404);
      expect(routes).toEqual([undefined]);
    });
  });
});

describe('fake timers', () => {
  describe.each(EXPRESS_VERSIONS)("the router with the host's fake timers, on Express $major", (version) => {
    let server: LiveServer;

    beforeEach(async () => {
      server = await startLiveServer({ version });
      jest.useFakeTimers();
    });

    afterEach(async () => {
      jest.useRealTimers();
      await server.stop();
    });

    it('answers reads and changes', async () => {
      expect(await askRaw(server.port, { method: 'GET', path: FLAGS })).toMatchObject({ status: 200 });
      const headers = [['content-type', 'application/json']] as const;
      const creation = { method: 'POST', path: FLAGS, headers, body: '{"name":"checkout"}' };
      expect(await askRaw(server.port, creation)).toMatchObject({ status: 201 });
    });

    it('streams changes', async () => {
      const client = await openRaw(server.port);
      client.write('GET /api/client/streaming HTTP/1.1\r\nhost: localhost\r\n\r\n');
      await until(() => client.received().includes('hydration'));
      await server.flags.createFlag({ project: 'default' }, { name: 'checkout' });
      await until(() => client.received().includes('checkout'));
      client.breakOff();
    });
  });
});
