import request from 'supertest';
import { EXPRESS_VERSIONS } from '../../../http/test/express-versions.js';
import { createHostApp, FLAGS } from '../../../http/test/host-app.js';

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
    ['post', '/api/admin/archive/features', ['DELETE', 'GET', 'HEAD']],
    ['get', '/api/client/metrics', ['POST']],
    ['get', '/ofrep/v1/evaluate/flags', ['POST']],
    ['propfind', '/api/admin/events', ['GET', 'HEAD']],
    ['put', '/api/admin/openapi.json', ['GET', 'HEAD']],
  ] as const)('answer 405 to %s %s, and allow %j', async (method, path, allowed) => {
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

  it('do not mind a trailing slash, nor the case of the fixed parts', async () => {
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
    'take the flag name %s',
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
