import { array, assert, asyncProperty, constantFrom, integer, oneof, string } from 'fast-check';
import { ROUTES } from '../../src/routes/all-routes.js';
import { STORAGES } from './contract-host.js';
import { actionOf } from './endpoints.js';
import { type HostileServer, startHostileServer } from './hostile-server.js';
import {
  anyMethod,
  hostileBody,
  hostileHeaders,
  hostilePatch,
  hostileSegment,
  maybeBody,
  nonsenseLength,
} from './hostile-values.js';
import { WRITTEN_ROWS } from './rows/all-rows.js';

/** One request to every route that succeeds in some state. */
const REQUESTS = ROUTES.flatMap((route) => {
  const row = WRITTEN_ROWS.find(({ endpoint, expect }) => actionOf(endpoint) === route.action && !expect.code);
  return row === undefined ? [] : [{ route, request: row.request }];
});
const anyRequest = constantFrom(...REQUESTS);
const anyWrite = constantFrom(...REQUESTS.filter(({ route }) => route.body !== undefined));
const anyPatch = constantFrom(...REQUESTS.filter(({ route }) => route.method === 'PATCH'));

const RUNS = { memory: 250, SQLite: 40 } as const;
const JSON_TYPE = ['content-type', 'application/json'] as const;

describe.each(STORAGES)('a server on %s', (storage) => {
  const numRuns = RUNS[storage];
  let server: HostileServer;

  beforeEach(async () => {
    server = await startHostileServer(storage);
  });

  afterEach(async () => {
    await server.expectAlive();
    await server.stop();
  });

  it('withstands any body', async () => {
    const property = asyncProperty(anyWrite, hostileBody, async ({ request }, body) => {
      await server.attack({ method: request.method, path: request.path, headers: [JSON_TYPE], body });
    });
    await assert(property, { numRuns });
  }, 120_000);

  it('withstands any JSON Patch', async () => {
    const property = asyncProperty(anyPatch, hostilePatch, async ({ request }, body) => {
      await server.attack({ method: request.method, path: request.path, headers: [JSON_TYPE], body });
      expect(Object.keys(Object.prototype)).toEqual([]);
    });
    await assert(property, { numRuns });
  }, 120_000);

  it('withstands any name in an address', async () => {
    const property = asyncProperty(
      anyRequest,
      array(hostileSegment, { minLength: 5, maxLength: 5 }),
      async (sample, names) => {
        const rest = [...names];
        const path = sample.route.path.replaceAll(/:\w+/g, () => rest.pop() ?? 'x');
        const { method, body } = sample.request;
        await server.attack({ method, path, headers: [JSON_TYPE], body: JSON.stringify(body) ?? '' });
      },
    );
    await assert(property, { numRuns });
  }, 120_000);

  it('withstands any address and method', async () => {
    const tail = string({ unit: 'grapheme-ascii', maxLength: 40 }).map((text) => text.replaceAll(/[\s#]/g, '/'));
    const head = constantFrom(
      '/api/admin/',
      '/api/client/',
      '/api/frontend',
      '/ofrep/v1/evaluate/flags/',
      '/api/admin/projects/',
      '/api/admin/projects/default/features/',
      '//',
      '/',
    );
    const property = asyncProperty(anyMethod, head, tail, maybeBody, async (method, start, end, body) => {
      await server.attack({ method, path: `${start}${end}`, headers: [JSON_TYPE], body: body ?? '' });
    });
    await assert(property, { numRuns });
  }, 120_000);

  it('withstands any headers', async () => {
    const property = asyncProperty(anyRequest, hostileHeaders, async ({ request }, headers) => {
      const { method, path, body } = request;
      await server.attack({ method, path, headers, body: JSON.stringify(body) ?? '' });
    });
    await assert(property, { numRuns });
  }, 120_000);

  it('withstands lengths that are more than what comes, of clients that go away', async () => {
    const property = asyncProperty(anyWrite, integer({ min: 1, max: 2 ** 53 - 1 }), async ({ request }, missing) => {
      const { method, path, body } = request;
      const text = JSON.stringify(body) ?? '';
      const headers = [JSON_TYPE, ['content-length', `${text.length + missing}`]] as const;
      await server.attack({ method, path, headers, body: text }, 'leave');
    });
    await assert(property, { numRuns });
  }, 120_000);

  it('withstands lengths that are less than what comes, or none', async () => {
    const length = oneof(integer({ min: 1, max: 10 }).map(String), nonsenseLength);
    const property = asyncProperty(anyWrite, length, async ({ request }, wrong) => {
      const { method, path, body = { name: 'a long enough text' } } = request;
      const headers = [JSON_TYPE, ['content-length', wrong]] as const;
      await server.attack({ method, path, headers, body: JSON.stringify(body) });
    });
    await assert(property, { numRuns });
  }, 120_000);
});
