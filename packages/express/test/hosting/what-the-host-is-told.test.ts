import request from 'supertest';
import { EXPRESS_VERSIONS } from '../../../http/test/express-versions.js';
import { createHostApp, FLAGS } from '../../../http/test/host-app.js';

const PROJECT = '/api/admin/projects/:projectId';

describe.each(EXPRESS_VERSIONS)('of a request on Express $major the host is told', (version) => {
  it.each([
    ['get', `${FLAGS}/a%20b`, `${PROJECT}/features/:featureName`, { projectId: 'default', featureName: 'a b' }],
    ['head', `${FLAGS}/`, `${PROJECT}/features`, { projectId: 'default' }],
    ['get', '/api/client/features', '/api/client/features', {}],
  ] as const)('by which route %s %s is answered, and its parameters', async (method, path, route, params) => {
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
    'parameters in an ordinary object, at %s',
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

  it('nothing of a route where there is none', async () => {
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
