import { array, assert, asyncProperty, constantFrom, integer, nat, option, string } from 'fast-check';
import { extent } from '../../../../test/extent.js';
import { MEMORY, SQLITE } from '../../../core/test/storage-kinds.js';
import { EXPRESS_4, EXPRESS_5 } from '../express-versions.js';
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
import { REQUESTS } from './requests.js';

const anyRequest = constantFrom(...REQUESTS);
const anyWrite = constantFrom(...REQUESTS.filter(({ route }) => route.body !== undefined));
const anyPatch = constantFrom(...REQUESTS.filter(({ route }) => route.method === 'PATCH'));

const SERVERS = [
  { storage: MEMORY, version: EXPRESS_5, numRuns: extent({ short: 40, full: 500 }) },
  { storage: SQLITE, version: EXPRESS_4, numRuns: extent({ short: 10, full: 100 }) },
] as const;
const JSON_TYPE = ['content-type', 'application/json'] as const;

describe.each(SERVERS)('a server on $storage.name', ({ storage, version, numRuns }) => {
  let server: HostileServer;

  beforeEach(async () => {
    server = await startHostileServer(version, storage);
  });

  afterEach(async () => {
    await server.expectAlive().finally(server.stop);
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
    await assert(property, { numRuns, examples: [['OPTIONS', '/api/admin/projects/', '%', null]] });
  }, 120_000);

  it('withstands any headers', async () => {
    const property = asyncProperty(anyRequest, hostileHeaders, async ({ request }, headers) => {
      const { method, path, body } = request;
      await server.attack({ method, path, headers, body: JSON.stringify(body) ?? '' });
    });
    await assert(property, { numRuns });
  }, 120_000);

  it('withstands a content length above the body length when the client disconnects', async () => {
    const property = asyncProperty(anyWrite, integer({ min: 1, max: 2 ** 53 - 1 }), async ({ request }, missing) => {
      const { method, path, body } = request;
      const text = JSON.stringify(body) ?? '';
      const headers = [JSON_TYPE, ['content-length', `${text.length + missing}`]] as const;
      await server.attack({ method, path, headers, body: text }, 'leave');
    });
    await assert(property, { numRuns });
  }, 120_000);

  it('withstands a content length that is too small or invalid', async () => {
    const property = asyncProperty(anyWrite, nat(), option(nonsenseLength), async ({ request }, cut, nonsense) => {
      const { method, path, body } = request;
      const text = JSON.stringify(body ?? { userId: 2 });
      const length = nonsense ?? `${1 + (cut % (text.length - 1))}`;
      const headers = [JSON_TYPE, ['content-length', length]] as const;
      const { status } = await server.attack({ method, path, headers, body: text });
      expect(status).toBeGreaterThanOrEqual(400);
    });
    await assert(property, { numRuns });
  }, 120_000);
});
