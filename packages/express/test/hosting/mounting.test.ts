import { createFlags, memoryStorage } from '@flags/core';
import request from 'supertest';
import { EXPRESS_4, EXPRESS_5, EXPRESS_VERSIONS } from '../../../http/test/express-versions.js';
import { createHostApp, FLAGS } from '../../../http/test/host-app.js';
import { createFlagsRouter } from '../../src/index.js';

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
    const flags = await createFlags({ storage: memoryStorage() });
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

  it('serves beside others of its kind, each with its own flags, options and mount path', async () => {
    const shop = await createFlags({ storage: memoryStorage() });
    const blog = await createFlags({ storage: memoryStorage() });
    const app = version
      .express()
      .use('/shop', createFlagsRouter(shop, { auth: 'none' }))
      .use('/blog', createFlagsRouter(blog, { auth: () => null }));
    await request(app).post(`/shop${FLAGS}`).send({ name: 'checkout' }).expect(201);
    await request(app).post(`/blog${FLAGS}`).send({ name: 'comments' }).expect(401);
    expect(await blog.listFlags({ project: 'default' })).toEqual([]);
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
    'may put a parser of Express %i before the router, in an application of Express %i',
    async (_parser, _app, inner, outer) => {
      const flags = await createFlags({ storage: memoryStorage() });
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
