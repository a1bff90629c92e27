import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { memoryStorage, openFlags } from '@flags/core';
import request from 'supertest';
import { EXPRESS_4, EXPRESS_5, EXPRESS_VERSIONS } from '../../../http/test/express-versions.js';
import { createHostApp, FLAGS } from '../../../http/test/host-app.js';
import { createFlagsRouter } from '../../src/index.js';
import { requestRaw } from './raw-path.js';

describe('mounting', () => {
  describe.each(EXPRESS_VERSIONS)('the router, on Express $major', (version) => {
    it.each(['/', '/internal', '/tenants/:projectId/flags'])('serves under %s', async (mount) => {
      const { app } = await createHostApp({ version, mount });
      const at = mount === '/' ? '' : mount.replace(':projectId', 'acme');
      await request(app).post(`${at}${FLAGS}`).send({ name: 'checkout' }).expect(201);
      const { body } = await request(app).get(`${at}${FLAGS}/checkout?x=1`).expect(200);
      expect(body).toMatchObject({ name: 'checkout', project: 'default' });
      await request(app).get(`${at}/api/admin/nothing`).expect(404).expect('content-type', /json/);
    });

    it('serves within a router of the host', async () => {
      const flags = await openFlags({ storage: memoryStorage() });
      const outer = version.express.Router();
      outer.use('/v1', createFlagsRouter(flags, { auth: 'none' }));
      const app = version.express().use('/internal', outer);
      await request(app).post(`/internal/v1${FLAGS}`).send({ name: 'checkout' }).expect(201);
    });

    it('lets requests for other paths pass, with their bodies unread', async () => {
      const { app } = await createHostApp({ version, router: { auth: 'token' } });
      app.post('/api/administrators', version.express.json(), (req, res) => {
        res.json(req.body);
      });
      app.use((req, res) => {
        res.status(404).send(`host: ${req.url}`);
      });
      await request(app).post('/api/administrators').send({ name: 'Ada' }).expect(200, { name: 'Ada' });
      for (const path of ['/', '/api', '/api/', '/api/clients', '/nothing?x=%E0', '/%E0', '/x/api/admin']) {
        await request(app).get(path).expect(404, `host: ${path}`);
      }
    });

    it('serves beside other routers, each with its own flags, options and mount path', async () => {
      const shop = await openFlags({ storage: memoryStorage() });
      const blog = await openFlags({ storage: memoryStorage() });
      const app = version
        .express()
        .use('/shop', createFlagsRouter(shop, { auth: 'none' }))
        .use('/blog', createFlagsRouter(blog, { auth: () => null }));
      await request(app).post(`/shop${FLAGS}`).send({ name: 'checkout' }).expect(201);
      await request(app).post(`/blog${FLAGS}`).send({ name: 'comments' }).expect(401);
      expect((await blog.listFlags({ project: 'default' })).items).toEqual([]);
    });

    it('leaves the settings of the application alone', async () => {
      const untouched = version.express();
      const { app } = await createHostApp({ version });
      await request(app).get(FLAGS).expect(200);
      const comparable = ({ settings }: { readonly settings: object }) => JSON.stringify(settings);
      expect(comparable(app as unknown as { settings: object })).toBe(
        comparable(untouched as unknown as { settings: object }),
      );
    });
  });

  describe('a host with both versions of Express', () => {
    it.each([
      [4, 5, EXPRESS_4, EXPRESS_5],
      [5, 4, EXPRESS_5, EXPRESS_4],
    ])(
      'may have a parser of Express %i before the router, in an application of Express %i',
      async (_parser, _app, inner, outer) => {
        const flags = await openFlags({ storage: memoryStorage() });
        const app = outer.express();
        app.use(inner.express.json(), createFlagsRouter(flags, { auth: 'none' }));
        await request(app).post(FLAGS).send({ name: 'checkout' }).expect(201);
        const patch = [{ op: 'replace', path: '/stale', value: true }];
        const { body } = await request(app)
          .patch(`${FLAGS}/checkout`)
          .set('content-type', 'application/json-patch+json')
          .send(JSON.stringify(patch))
          .expect(200);
        expect(body.stale).toBe(true);
        await request(app).get('/api/admin/nothing').expect(404);
        await request(app).options(FLAGS).expect(200);
      },
    );
  });
});

describe('methods', () => {
  const methodsIn = (header: string | undefined) => header?.split(/,\s*/).sort();

  describe.each(EXPRESS_VERSIONS)('paths and methods, on Express $major', (version) => {
    it.each([
      '/api/admin',
      '/api/admin/',
      '/api/admin/nothing',
      '/api/admin/projects/default/nothing',
      `${FLAGS}/checkout/environments`,
      '/api/admin//projekts',
      '/api/client',
      '/api/client/nothing',
      '/api/frontend/nothing',
      '/ofrep/v1/configuration',
      '/API/Admin/nothing',
    ])('answer 404 as JSON to %s', async (path) => {
      const { app } = await createHostApp({ version });
      for (const attempt of [request(app).get(path), request(app).post(path), request(app).propfind(path)]) {
        const { body } = await attempt.expect(404);
        expect(body).toMatchObject({ name: 'NotFoundError', code: 'not_found' });
      }
    });

    it.each([
      ['delete', '/api/admin/projects', ['GET', 'HEAD', 'POST']],
      ['patch', '/api/admin/projects/default', ['DELETE', 'GET', 'HEAD', 'PUT']],
      ['post', `${FLAGS}/checkout/`, ['DELETE', 'GET', 'HEAD', 'PATCH', 'PUT']],
      ['get', `${FLAGS}/checkout/clone`, ['POST']],
      ['head', `${FLAGS}/checkout/clone`, ['POST']],
      ['get', `${FLAGS}/checkout/environments/production/on`, ['POST']],
      ['post', '/api/admin/archive/features', ['GET', 'HEAD']],
      ['get', '/api/client/metrics', ['POST']],
      ['get', '/ofrep/v1/evaluate/flags', ['POST']],
      ['propfind', '/api/admin/events', ['GET', 'HEAD']],
      ['put', '/api/admin/openapi.json', ['GET', 'HEAD']],
    ] as const)('answer 405 to %s %s, and list %j', async (method, path, allowed) => {
      const { app } = await createHostApp({ version });
      const { headers, body } = await request(app)[method](path).expect(405);
      expect(methodsIn(headers.allow)).toEqual(allowed);
      if (method !== 'head') expect(body).toMatchObject({ name: 'MethodNotAllowedError', code: 'method_not_allowed' });
    });

    it('answer OPTIONS as Express does, without authentication', async () => {
      const { app } = await createHostApp({ version, router: { auth: 'token' } });
      const { headers } = await request(app).options(FLAGS).expect(200);
      expect(methodsIn(headers.allow)).toEqual(['GET', 'HEAD', 'POST']);
    });

    it('leave OPTIONS of unknown paths to the host', async () => {
      const { app } = await createHostApp({ version });
      app.use((_req, res) => {
        res.status(204).end();
      });
      await request(app).options('/api/admin/nothing').expect(204);
    });

    it('answer HEAD as GET, without the body', async () => {
      const { app } = await createHostApp({ version });
      const get = await request(app).get(FLAGS).expect(200);
      const head = await request(app).head(FLAGS).expect(200);
      expect(head.text).toBeUndefined();
      for (const name of ['etag', 'content-length', 'content-type']) expect(head.headers[name]).toBe(get.headers[name]);
      await request(app).head(`${FLAGS}/unknown`).expect(404);
    });

    it('ignore a trailing slash, and the case of the fixed parts', async () => {
      const { app } = await createHostApp({ version });
      await request(app).post(`${FLAGS}/`).send({ name: 'checkout' }).expect(201);
      await request(app).get('/API/Admin/Projects/default/FEATURES/checkout/').expect(200);
      await request(app).get(`${FLAGS}/CHECKOUT`).expect(404);
    });

    it.each(['%E0', '%', '%zz', 'a%C3'])('answer 400 to the escape %s', async (name) => {
      const { app, faults } = await createHostApp({ version });
      for (const path of [`${FLAGS}/${name}`, `/api/admin/projects/${name}`, `/api/admin/${name}`]) {
        const { body } = await request(app).get(path).expect(400);
        expect(body).toMatchObject({ name: 'ValidationError', code: 'invalid_input' });
        await request(app).options(path).expect(400);
      }
      const { body } = await request(app).post(`/api/admin/projects/${name}/users/1/roles/4`).expect(400);
      expect(body).toEqual([{ msg: expect.stringContaining('decoded') }]);
      expect(faults).toEqual([]);
    });

    it.each(["a-b_c.d!e~f*g'h(i)", '__proto__', 'constructor', 'toString', 'features', 'revive'])(
      'accept the flag name %s',
      async (name) => {
        const { app } = await createHostApp({ version });
        await request(app).post(FLAGS).send({ name }).expect(201);
        const { body } = await request(app).get(`${FLAGS}/${name}`).expect(200);
        expect(body.name).toBe(name);
        await request(app)
          .delete(`${FLAGS}/${encodeURIComponent(name)}`)
          .expect(202);
        await request(app).delete(`/api/admin/archive/${name}`).expect(200);
      },
    );
  });
});

describe('repeated slashes', () => {
  describe.each(EXPRESS_VERSIONS)('repeated slashes in a path, on Express $major', (version) => {
    it.each([
      ['/', '/api//client/features'],
      ['/', '//api/client/features'],
      ['/', '/api/client///features//'],
      ['/', '//api//admin/projects//default/features?limit=1'],
      ['/flags', '/flags//api/client/features'],
      ['/flags', '/flags/api//client/features?project=a'],
    ])('are treated as one: mounted at %s, %s', async (mount, path) => {
      const flags = await openFlags({ storage: memoryStorage() });
      const router = createFlagsRouter(flags, { auth: 'none' });
      const server = createServer(version.express().use(mount, router)).listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      const { status, body } = await requestRaw(port, path);
      server.close();
      await flags.close();
      expect([status, JSON.parse(body)]).toEqual([200, expect.objectContaining({ features: [] })]);
    });
  });

  describe('the router without Express', () => {
    it('throws an error that says what to write', async () => {
      const flags = await openFlags({ storage: memoryStorage() });
      const router = createFlagsRouter(flags, { auth: 'none' }) as unknown as (
        request: Partial<IncomingMessage>,
        response: Partial<ServerResponse>,
      ) => void;
      expect(() => router({ url: '/api/client/features', method: 'GET', headers: {} }, {})).toThrow(
        'createServer(express().use(router))',
      );
      await flags.close();
    });
  });
});
