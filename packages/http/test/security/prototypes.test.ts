import request from 'supertest';
import { extent } from '../../../../test/extent.js';
import { ROUTES } from '../../src/routes/all-routes.js';
import { EXPRESS_VERSIONS_IN_LENGTH } from '../express-versions.js';
import { createHostApp, type HostApp } from '../host-app.js';

const NAMES = ['__proto__', 'constructor', ...extent({ short: [], full: ['prototype', 'toString', 'hasOwnProperty'] })];
const INHERITED = [Object.prototype, Array.prototype, String.prototype, Function.prototype];

const QUERIES = NAMES.flatMap((name) => [
  `${name}=polluted`,
  `${name}[polluted]=polluted`,
  `properties[${name}]=polluted`,
  `properties[${name}][polluted]=polluted`,
  `constructor[${name}][polluted]=polluted`,
  `userId=${name}&project=${name}&namePrefix=${name}&type=${name}&environment=${name}&strategyName=${name}`,
]);

const BODY =
  '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"name":{"__proto__":{"polluted":1}}}';

describe.each(EXPRESS_VERSIONS_IN_LENGTH)('upon Express $major', (version) => {
  const routes = ROUTES.filter(({ media }) => media === undefined);

  let host: HostApp;

  beforeAll(async () => {
    host = await createHostApp({ version });
  });

  afterAll(() => host.flags.close());

  it.each(routes.map((route) => [`${route.method} ${route.path}`, route] as const))(
    'no prototype is changed by %s',
    async (_, { method, path }) => {
      const { app, faults } = host;
      const before = INHERITED.map((prototype) => Object.getOwnPropertyNames(prototype));
      const verb = method.toLowerCase() as 'post';
      const statuses: number[] = [];
      for (const name of NAMES) {
        const address = path.replaceAll(/:\w+/g, encodeURIComponent(name));
        const asked = request(app)[verb](address).set({
          'if-match': name,
          'if-none-match': name,
          'last-event-id': name,
          'x-forwarded-for': name,
          cookie: name,
        });
        if (method !== 'GET') asked.set('content-type', 'application/json').send(BODY);
        statuses.push((await asked).status);
      }
      if (method === 'GET')
        for (const query of QUERIES) statuses.push((await request(app).get(`${path}?${query}`)).status);
      expect(statuses.filter((status) => status >= 500)).toEqual([]);
      expect(faults).toEqual([]);
      expect(INHERITED.map((prototype) => Object.getOwnPropertyNames(prototype))).toEqual(before);
      expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    },
  );
});
