import { gzipSync } from 'node:zlib';
import { extent } from '../../../../test/extent.js';
import { MEMORY } from '../../../core/test/storage-kinds.js';
import { ACTIONS, permissionOf } from '../../src/actions.js';
import { ROUTES } from '../../src/routes.js';
import { EXPRESS_5 } from '../express-versions.js';
import { actionOf } from './endpoints.js';
import { type HostileServer, startHostileServer } from './hostile-server.js';
import { WRITTEN_ROWS } from './rows/all-rows.js';

const MEBIBYTE = 1024 * 1024;

const BODIES: readonly (readonly [string, string | Uint8Array])[] = [
  ['a mebibyte of brackets', '['.repeat(MEBIBYTE)],
  ['half a mebibyte of lists in lists', '['.repeat(MEBIBYTE / 2) + ']'.repeat(MEBIBYTE / 2)],
  ['objects in objects, 100,000 deep', `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`],
  ['a name in names, 100,000 deep', `{"name":${'['.repeat(100_000)}${']'.repeat(100_000)}}`],
  ['a patch of depth', `[{"op":"add","path":"/description","value":${'['.repeat(5000)}${']'.repeat(5000)}}]`],
  ['numbers beyond numbers', '{"name":1e400,"parameters":{"rollout":1e400},"weight":-1e999}'],
  ['a number of 100,000 digits', `{"name":"a","interval":${'9'.repeat(100_000)}}`],
  ['duplicate keys, of which the last is bad', '{"name":"good-name","name":"bad name"}'],
  ['a prototype', '{"__proto__":{"name":"inherited"},"constructor":{"prototype":{"polluted":true}}}'],
  ['a prototype with a name in it', '{"__proto__":{"polluted":true}}'],
  ['a lone surrogate', '{"name":"\\ud800","appName":"\\udfff","description":"\\ud800"}'],
  ['NUL characters', '{"name":"a\\u0000b","appName":"\\u0000"}'],
  ['NUL bytes', Buffer.from('{"name":"a\0b"}\0\0')],
  ['a byte order mark', Buffer.from([0xef, 0xbb, 0xbf, 0x7b])],
  ['UTF-16', Buffer.from('{"name":"a"}', 'utf16le')],
  ['bytes that are not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d])],
  ['a toJSON', '{"toJSON":1,"valueOf":2,"name":{"toString":"x"}}'],
  ['a thenable', '{"then":"x","name":{"then":{}}}'],
  ['an endless name', `{"name":"${'x'.repeat(MEBIBYTE - 100)}"}`],
  ['10,000 variants', JSON.stringify(Array.from({ length: 10_000 }, (_, n) => ({ name: `v${n}` })))],
  [
    '10,000 operations',
    JSON.stringify(Array.from({ length: 10_000 }, () => ({ op: 'test', path: '/type', value: 1 }))),
  ],
  ['copies that double', doubling()],
  ['a truncated text', '{"name":"a'],
  ['nothing but space', '   \n\t '],
];

/** A patch in which each operation would copy the results of all earlier ones. */
function doubling(): string {
  const copy = Array.from({ length: 60 }, () => ({ op: 'copy', from: '/constraints', path: '/constraints/-' }));
  return JSON.stringify([{ op: 'replace', path: '/constraints', value: [] }, ...copy]);
}

/** Without the routes of people: the server has only tokens, so it refuses them before it reads a body. */
const SENT = ROUTES.filter(({ body, action }) => {
  const permission = permissionOf(action);
  return body !== undefined && permission !== undefined && !('people' in ACTIONS[permission]);
});
const WRITES = SENT.map(({ action }) => {
  const row = WRITTEN_ROWS.find(({ endpoint, expect }) => actionOf(endpoint) === action && !expect.code);
  return { action, method: row?.request.method ?? '', path: row?.request.path ?? '' };
});

/** In short, each body is sent to every third route; the next body to the next ones. */
const ROUTES_PER_BODY = extent({ short: 3, full: 1 });
const routesOf = (body: number) => WRITES.filter((_, at) => at % ROUTES_PER_BODY === body % ROUTES_PER_BODY);

describe('a server', () => {
  let server: HostileServer;

  beforeEach(async () => {
    server = await startHostileServer(EXPRESS_5, MEMORY);
  });

  afterEach(() => server.expectAlive().finally(server.stop));

  it.each(BODIES.map(([name, body], index) => [name, body, routesOf(index)] as const))(
    'survives %s, at every route',
    async (_, body, routes) => {
      for (const { method, path } of routes) {
        await server.attack({ method, path, headers: [['content-type', 'application/json']], body });
      }
      expect(Object.keys(Object.prototype)).toEqual([]);
    },
    60_000,
  );

  it.each(BODIES)(
    'survives %s from a client that disconnects halfway',
    async (_, body) => {
      const bytes = Buffer.from(body);
      for (const { method, path } of WRITES.slice(0, 4)) {
        const headers = [
          ['content-type', 'application/json'],
          ['content-length', `${bytes.length * 2}`],
        ] as const;
        await server.attack({ method, path, headers, body: bytes }, 'leave');
      }
    },
    60_000,
  );

  it('survives truncated chunks', async () => {
    for (const body of ['5\r\n{"nam', 'zz\r\n{}\r\n0\r\n\r\n', '2\r\n{}\r\n0\r\n', 'ffffffffff\r\n{}']) {
      for (const { method, path } of WRITES) {
        const headers = [
          ['content-type', 'application/json'],
          ['transfer-encoding', 'chunked'],
        ] as const;
        const { status } = await server.attack({ method, path, headers, body }, 'leave');
        expect(status ?? 400).toBeGreaterThanOrEqual(400);
      }
    }
  }, 60_000);

  it('does not decompress beyond the limit', async () => {
    const bomb = gzipSync(Buffer.from(`{"name":"${' '.repeat(64 * MEBIBYTE)}"}`));
    for (const { method, path } of WRITES) {
      const headers = [
        ['content-type', 'application/json'],
        ['content-encoding', 'gzip'],
      ] as const;
      expect((await server.attack({ method, path, headers, body: bomb })).status).toBe(413);
    }
  }, 60_000);

  it('refuses a body with another compression than its header says', async () => {
    for (const encoding of ['gzip', 'deflate', 'br']) {
      for (const { method, path } of WRITES) {
        const headers = [
          ['content-type', 'application/json'],
          ['content-encoding', encoding],
        ] as const;
        const { status } = await server.attack({ method, path, headers, body: '{"name":"a"}' });
        expect(status).toBe(400);
      }
    }
  }, 60_000);
});
