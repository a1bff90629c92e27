import request from 'supertest';
import { ROUTES } from '../../src/routes/all-routes.js';
import { createHostApp, type HostApp } from '../host-app.js';

const ORIGIN = 'https://shop.example.org';
const rows = ROUTES.map((route) => [`${route.method} ${route.path}`, route] as const);

describe.each([
  ['every origin', { origins: '*' }, '*'],
  ['one origin', { origins: [ORIGIN] }, ORIGIN],
] as const)('with %s allowed', (_, cors, allowed) => {
  let host: HostApp;

  beforeAll(async () => {
    host = await createHostApp({ router: { auth: 'token', cors } });
  });

  afterAll(() => host.flags.close());

  it.each(rows)(
    'pages of others may use the frontend API and OFREP alone, without cookies: %s',
    async (_name, route) => {
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
    },
  );
});
