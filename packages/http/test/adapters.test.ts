import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { type Flags, memoryStorage, openFlags } from '@flags/core';
import request from 'supertest';
import { until } from '../../../test/until.js';
import { createFlagsRouter, type FlagsRouterOptions, flagsMiddleware } from '../../express/src/index.js';
import { accessOf } from '../src/api/create-api.js';
import { createFlagsApi, toFetchHandler, toNodeHandler } from '../src/index.js';
import { ROUTES } from '../src/routes.js';

describe('adapters', () => {
  const FLAGS = '/api/admin/projects/default/features';
  const JSON_HEADERS = { 'content-type': 'application/json' };

  let flags: Flags;
  beforeEach(async () => {
    flags = await openFlags({ storage: memoryStorage() });
  });
  afterEach(() => flags.close());

  function post(body: Uint8Array, headers: Readonly<Record<string, string>> = {}): Request {
    return new Request(`http://localhost${FLAGS}`, { method: 'POST', headers: { ...JSON_HEADERS, ...headers }, body });
  }

  it.each([
    ['toNodeHandler', toNodeHandler],
    ['toFetchHandler', toFetchHandler],
  ])('refuse anything but the API at once: %s', (name, createHandler) => {
    for (const other of [undefined, flags, createFlagsApi]) {
      expect(() => createHandler(other as never)).toThrow(`${name}(createFlagsApi(flags, { auth }))`);
    }
  });

  describe('toFetchHandler', () => {
    it('serves the API below its base path, and answers other paths with 404', async () => {
      const handler = toFetchHandler(createFlagsApi(flags, { auth: 'none' }), { basePath: '/internal/flags/' });
      expect((await handler(new Request(`http://localhost/Internal/flags${FLAGS}`))).status).toBe(200);
      for (const path of [FLAGS, `/internal/flagship${FLAGS}`, '/internal/flags/elsewhere']) {
        const response = await handler(new Request(`http://localhost${path}`));
        expect(response.status).toBe(404);
        expect(await response.json()).toMatchObject({ code: 'not_found' });
      }
    });

    it.each([
      ['192.0.2.1', '192.0.2.1'],
      // As `request.headers.get('x-real-ip')` answers without the header.
      [null, ''],
      [undefined, ''],
    ])('registers clients with the address that the host returns: %s', async (address, shown) => {
      const handler = toFetchHandler(createFlagsApi(flags, { auth: 'none' }), { ip: () => address });
      const register = {
        appName: 'web',
        instanceId: 'web-1',
        strategies: [],
        started: '2026-01-01T10:00:00Z',
        interval: 1000,
      };
      const init = { method: 'POST', headers: JSON_HEADERS, body: JSON.stringify(register) };
      expect((await handler(new Request('http://localhost/api/client/register', init))).status).toBe(202);
      const { instances } = await flags.applications.get({ application: 'web' });
      expect(instances).toMatchObject([{ id: 'web-1', clientIp: shown }]);
    });

    it('reads compressed bodies, and holds the limit after decompression', async () => {
      const handler = toFetchHandler(createFlagsApi(flags, { auth: 'none', bodyLimit: 1000 }));
      const body = (bytes: number) => gzipSync(JSON.stringify({ name: 'checkout', description: 'x'.repeat(bytes) }));
      const gzip = { 'content-encoding': 'gzip' };
      expect((await handler(post(body(5000), gzip))).status).toBe(413);
      expect((await handler(post(body(10).subarray(0, 20), gzip))).status).toBe(400);
      expect((await handler(post(body(10), gzip))).status).toBe(201);
    });

    it('passes the Request to functions of the host, and rejects with their errors', async () => {
      const seen: unknown[] = [];
      const fault = new Error('The session store is down.');
      const auth = (native: Request) => {
        seen.push(native);
        throw fault;
      };
      const sent = new Request(`http://localhost${FLAGS}`);
      await expect(toFetchHandler(createFlagsApi(flags, { auth }))(sent)).rejects.toBe(fault);
      expect(seen).toEqual([sent]);
    });

    it('answers HEAD with the Content-Length of GET, without a body', async () => {
      const handler = toFetchHandler(createFlagsApi(flags, { auth: 'none' }));
      const got = await handler(new Request(`http://localhost${FLAGS}`));
      const head = await handler(new Request(`http://localhost${FLAGS}`, { method: 'HEAD' }));
      expect(head.headers.get('content-length')).toBe(got.headers.get('content-length'));
      expect([head.body, head.status]).toEqual([null, 200]);
    });

    it('has the CORS headers of a request once', async () => {
      const origin = 'https://shop.example.org';
      const handler = toFetchHandler(createFlagsApi(flags, { auth: 'none', cors: { origins: [origin] } }));
      const { headers } = await handler(new Request('http://localhost/api/frontend', { headers: { origin } }));
      expect([headers.get('access-control-allow-origin'), headers.get('vary')]).toEqual([origin, 'Origin']);
    });

    it('streams changes, and ends when the API closes', async () => {
      const api = createFlagsApi(flags, { auth: 'none' });
      const response = await toFetchHandler(api)(new Request('http://localhost/api/client/streaming'));
      const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
      let heard = '';
      const hear = async (part: string) => {
        while (!heard.includes(part)) heard += (await reader?.read())?.value ?? '';
      };
      await hear('unleash-connected');
      await flags.createFlag({ project: 'default' }, { name: 'later' });
      await hear('"later"');
      api.close();
      expect(await reader?.read()).toMatchObject({ done: true });
    });

    it('stops a stream when its request is aborted', async () => {
      const controller = new AbortController();
      const handler = toFetchHandler(createFlagsApi(flags, { auth: 'none' }));
      const { signal } = controller;
      const response = await handler(new Request('http://localhost/api/client/streaming', { signal }));
      const reader = response.body?.getReader();
      await reader?.read();
      controller.abort();
      await expect(reader?.read()).rejects.toThrow('cut off');
    });

    it('writes a long document completely, at the pace of its reader', async () => {
      const count = 6000;
      for (let n = 0; n < count; n++)
        await flags.createFlag({ project: 'default' }, { name: `flag-${n}`.padEnd(90, 'x') });
      const handler = toFetchHandler(createFlagsApi(flags, { auth: 'none' }));
      const response = await handler(new Request('http://localhost/api/admin/export'));
      expect(response.headers.has('content-length')).toBe(false);
      const exported = (await response.json()) as { readonly flags: readonly unknown[] };
      expect(exported.flags).toHaveLength(count);

      const left = await handler(new Request('http://localhost/api/admin/export'));
      await left.body?.cancel();
    });
  });

  describe('toNodeHandler', () => {
    it('calls next for other paths and with errors of the host', async () => {
      const fault = new Error('The session store is down.');
      const auth = () => {
        throw fault;
      };
      const handler = toNodeHandler(createFlagsApi(flags, { auth }), { basePath: '/flags' });
      const told: unknown[] = [];
      const listener: RequestListener = (req, res) =>
        void handler(req, res, (error) => {
          told.push(error);
          res.end('host');
        });
      await request(createServer(listener)).get('/shop').expect(200, 'host');
      await request(createServer(listener)).get(`/flags${FLAGS}`).expect(200, 'host');
      expect(told).toEqual([undefined, fault]);
    });

    it('answers thousands of requests of one connection in many turns of the event loop', async () => {
      const handler = toNodeHandler(createFlagsApi(flags, { auth: 'none' }));
      let turn = 0;
      const perTurn = new Map<number, number>();
      const server = createServer((req, res) => {
        void handler(req, res).then(() => perTurn.set(turn, (perTurn.get(turn) ?? 0) + 1));
      }).listen(0, '127.0.0.1');
      await once(server, 'listening');
      let isOver = false;
      const nextTurn = () => {
        turn++;
        if (!isOver) setImmediate(nextTurn);
      };
      nextTurn();
      const { port } = server.address() as AddressInfo;
      await (await fetch(`http://127.0.0.1:${port}${FLAGS}`)).text();
      const socket = connect(port, '127.0.0.1');
      socket.write(`GET ${FLAGS} HTTP/1.1\r\nhost: localhost\r\n\r\n`.repeat(3000));
      let answers = 0;
      for await (const chunk of socket) {
        answers += `${chunk}`.split('HTTP/1.1 200').length - 1;
        if (answers >= 2990) break;
      }
      isOver = true;
      server.closeAllConnections();
      server.close();
      expect(Math.max(...perTurn.values())).toBeLessThanOrEqual(64);
    });

    it('does not read on while some dozen requests with bodies of one connection wait', async () => {
      const waiting: (() => void)[] = [];
      const api = createFlagsApi(flags, {
        auth: () => ({ name: 'ada' }),
        authorize: () => new Promise<boolean>((resolve) => waiting.push(() => resolve(false))),
      });
      const server = createServer(toNodeHandler(api)).listen(0, '127.0.0.1');
      await once(server, 'listening');
      const body = JSON.stringify({ name: 'beta', description: 'x'.repeat(9000), constraints: [] });
      const head = `POST /api/admin/segments HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n`;
      const REQUESTS = 300;
      const text = `${head}content-length: ${body.length}\r\n\r\n${body}`.repeat(REQUESTS);
      let answers = 0;
      const socket = connect((server.address() as AddressInfo).port, '127.0.0.1', () => void socket.write(text));
      socket.on('data', (chunk) => {
        answers += chunk.toString('latin1').split('HTTP/1.1 403 ').length - 1;
      });
      let most = 0;
      // One is released at a time, and only when no more arrive.
      for (let released = 0; released < REQUESTS; released++) {
        let known = 0;
        await until(() => {
          const isOver = waiting.length > 0 && waiting.length === known;
          known = waiting.length;
          return isOver;
        });
        most = Math.max(most, waiting.length);
        waiting.shift()?.();
        if (most > 64) break;
      }
      for (const release of waiting) release();
      socket.destroy();
      await new Promise((resolve) => server.close(resolve));
      expect(most).toBeGreaterThan(30);
      expect(most).toBeLessThan(64);
      expect(answers).toBeGreaterThan(250);
    });

    it('replies 404 and 500 without next', async () => {
      const fault = new Error('The session store is down.');
      const auth = () => {
        throw fault;
      };
      const told: unknown[] = [];
      const handler = toNodeHandler(createFlagsApi(flags, { auth }), {
        onUnexpectedError: (error) => told.push(error),
      });
      const server = createServer((req, res) => void handler(req, res));
      await request(server).get('/shop').expect(404);
      const { text } = await request(server).get(FLAGS).expect(500);
      expect(text).not.toContain('session');
      expect(told).toEqual([fault]);
    });

    it('ends the stream of a client that disconnects', async () => {
      const api = createFlagsApi(flags, { auth: 'none' });
      const handler = toNodeHandler(api, { ip: () => '192.0.2.1' });
      let closed = false;
      const server = createServer((req, res) => {
        res.on('close', () => {
          closed = true;
        });
        void handler(req, res);
      }).listen(0, '127.0.0.1');
      await once(server, 'listening');
      const controller = new AbortController();
      const { port } = server.address() as AddressInfo;
      const { signal } = controller;
      const response = await fetch(`http://127.0.0.1:${port}/api/client/streaming`, { signal });
      expect(response.status).toBe(200);
      controller.abort();
      await until(() => closed);
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    });
  });
});

describe('options', () => {
  describe('the options', () => {
    it.each<[string, unknown]>([
      ['no options', undefined],
      ['no auth', {}],
      ['an unknown auth', { auth: 'open' }],
      ['auth null', { auth: null }],
      ['an authorize that is not a function', { auth: 'none', authorize: true }],
      ['an onError that is not a function', { auth: 'none', onError: 'log' }],
      ['a describeUsers that is not a function', { auth: 'none', describeUsers: {} }],
      ['a body limit of 0', { auth: 'none', bodyLimit: 0 }],
      ['a body limit with a unit', { auth: 'none', bodyLimit: '1mb' }],
      ['other origins that are not named', { auth: 'none', cors: {} }],
      ['one origin that is not in a list', { auth: 'none', cors: { origins: 'https://shop.example.org' } }],
      [
        'an origin with a slash, which no browser sends',
        { auth: 'none', cors: { origins: ['https://a.example.org/'] } },
      ],
      ['an origin without a scheme', { auth: 'none', cors: { origins: ['shop.example.org'] } }],
      ['sessions without tokens', { auth: { session: () => null } }],
      ['sessions that are not a function', { auth: { session: true, tokens: true } }],
      ['a trusted origin with a path', { auth: 'none', trustedOrigins: ['https://a.example.org/'] }],
      ['a trusted origin that is not in a list', { auth: 'none', trustedOrigins: 'https://a.example.org' }],
      ['an allowed host with a scheme', { auth: 'none', allowedHosts: ['https://a.example.org'] }],
      ['no time between heartbeats', { auth: 'none', heartbeatInterval: 0 }],
      ['more time between heartbeats than a timer has', { auth: 'none', heartbeatInterval: 2 ** 31 }],
    ])('refuses %s', async (_case, options) => {
      const flags = await openFlags({ storage: memoryStorage() });
      expect(() => createFlagsRouter(flags, options as FlagsRouterOptions)).toThrow(TypeError);
    });

    it('are refused with the closest name when misspelt', async () => {
      const flags = await openFlags({ storage: memoryStorage() });
      const options = { auth: 'none', onerror: () => undefined } as unknown as FlagsRouterOptions;
      expect(() => createFlagsRouter(flags, options)).toThrow(
        new TypeError('createFlagsRouter has no option onerror; did you mean onError?'),
      );
      const middleware = () => flagsMiddleware(flags, () => ({}), { enviroment: 'production' } as object);
      expect(middleware).toThrow(new TypeError('flagsMiddleware has no option enviroment; did you mean environment?'));
    });
  });

  describe('flags', () => {
    it.each<[string, unknown, string]>([
      ['a promise of flags', openFlags({ storage: memoryStorage() }), 'await openFlags(…)'],
      ['nothing', undefined, 'as its first argument'],
      ['openFlags uncalled', openFlags, 'await openFlags(…)'],
      ['the options', { auth: 'none' }, 'as its first argument'],
    ])('are refused at once when they are %s', (_case, flags, words) => {
      const given = flags as Flags;
      expect(() => createFlagsRouter(given, { auth: 'none' })).toThrow(TypeError);
      expect(() => createFlagsRouter(given, { auth: 'none' })).toThrow(words);
      expect(() => flagsMiddleware(given, () => ({}))).toThrow(words);
    });

    it('are refused by the middleware in an environment that does not exist, before the first request', async () => {
      const flags = await openFlags({ storage: memoryStorage() });
      expect(() => flagsMiddleware(flags, () => ({}), { environment: 'moon' })).toThrow('There is no environment moon');
      expect(() => flagsMiddleware(flags, undefined as never)).toThrow('a function that returns the context');
    });
  });
});

describe('the rows', () => {
  it('have unique actions', () => {
    const actions = ROUTES.map(({ action }) => action);
    expect(new Set(actions).size).toBe(actions.length);
  });

  it('have unique methods and paths', () => {
    const places = ROUTES.map(({ method, path }) => `${method} ${path}`);
    expect(new Set(places).size).toBe(places.length);
  });

  it.each(ROUTES.map((row) => [row.action, row] as const))('declare for %s the access of its path', (_action, row) => {
    expect(accessOf(row.path)).toBe(row.access);
  });

  it.each(ROUTES.map((row) => [row.action, row] as const))(
    'use for %s path syntax that Express 4 and 5 share',
    (_, row) => {
      expect(row.path).toMatch(/^(?:\/(?::[A-Za-z]+|[a-z\d.-]+))+$/);
    },
  );
});
