import { createServer, type IncomingMessage } from 'node:http';
import type { Flags, NewToken } from '@flags/core';
import fc from 'fast-check';
import request from 'supertest';
import { type Actor, createFlagsApi, toFetchHandler, toNodeHandler } from '../../src/index.js';
import { EXPRESS_5, EXPRESS_VERSIONS } from '../express-versions.js';
import { createHostApp, type HostApp, type HostOptions } from '../host-app.js';
import { EVALUATE, switchOn } from './states.js';

const HOUR = 3_600_000;
const STREAM = '/ofrep/v1/event-stream';
const PUBLIC = 'https://flags.example.org';

interface Address {
  readonly type: string;
  readonly endpoint: { readonly origin?: string; readonly requestUri: string };
  readonly inactivityDelaySec: number;
}

/** The headers of a page of the same origin, in a browser. */
const SAME_ORIGIN = { origin: PUBLIC, 'sec-fetch-site': 'same-origin' };

describe('the address of an event stream', () => {
  let host: HostApp;
  let time: number;

  async function start(options: HostOptions<{ readonly name: string }> = {}): Promise<void> {
    time = 12 * HOUR * 41_000;
    host = await createHostApp({ ...options, flags: { now: () => new Date(time), pollInterval: 0 } });
    await switchOn(host.flags, 'checkout');
  }
  afterEach(() => host.flags.close());

  function evaluate(headers: Readonly<Record<string, string>> = {}, path = EVALUATE) {
    return request(host.app).post(path).set(headers).send({ context: {} });
  }

  async function addressFor(headers: Readonly<Record<string, string>> = {}, path = EVALUATE) {
    const { body } = await evaluate(headers, path).expect(200);
    return (body.eventStreams as readonly Address[] | undefined)?.[0];
  }

  async function create(input: Partial<NewToken> = {}): Promise<string> {
    const name = `page ${Math.random()}`;
    return (await host.flags.tokens.create({ name, kind: 'frontend', environment: 'production', ...input })).secret;
  }

  describe('with a token', () => {
    it.each(['authorization', 'x-api-key'])('has a key in place of the secret, by %s', async (header) => {
      await start({ router: { auth: 'token' } });
      const secret = await create();
      expect(await addressFor({ [header]: secret })).toEqual({
        type: 'sse',
        endpoint: { requestUri: expect.stringMatching(/^\/ofrep\/v1\/event-stream\?key=[\w-]+\.[\w-]{43}$/) },
        inactivityDelaySec: 30,
      });
      expect(JSON.stringify(await addressFor({ [header]: secret }))).not.toContain(secret.slice(-10));
    });

    it('is the same in one window of 12 hours, and the ETag of the reply changes with it', async () => {
      await start({ router: { auth: 'token' } });
      const authorization = await create();
      const first = await evaluate({ authorization }).expect(200);
      const etag = first.headers.etag ?? '';
      time += 12 * HOUR - 1;
      await evaluate({ authorization, 'if-none-match': etag }).expect(304);
      time += 1;
      const second = await evaluate({ authorization, 'if-none-match': etag }).expect(200);
      expect(second.body.flags).toEqual(first.body.flags);
      expect(second.body.eventStreams).not.toEqual(first.body.eventStreams);
    });

    it('has a key for people and tokens, too', async () => {
      await start({ sessions: { auth: { session: () => ({ name: 'ada' }), tokens: true } } });
      const address = await addressFor({ authorization: await create() });
      expect(address?.endpoint.requestUri).toMatch(/\?key=/);
    });

    it('is in the bulk evaluation only', async () => {
      await start();
      const { body } = await evaluate({}, `${EVALUATE}/checkout`).expect(200);
      expect(body).not.toHaveProperty('eventStreams');
    });
  });

  it('has no key without authentication, and the environment that the request names', async () => {
    await start();
    expect((await addressFor())?.endpoint).toEqual({ requestUri: STREAM });
    const { requestUri } = (await addressFor({}, `${EVALUATE}?environment=development&other=1`))?.endpoint ?? {};
    expect(requestUri).toBe(`${STREAM}?environment=development`);
  });

  it('has the origin of a page of the same origin, whose provider may have a relative baseUrl', async () => {
    await start();
    expect((await addressFor(SAME_ORIGIN))?.endpoint).toEqual({ origin: PUBLIC, requestUri: STREAM });
    // Browsers send no `Sec-Fetch-Site` over plain http.
    const plain = { origin: 'http://localhost', host: 'localhost' };
    expect((await addressFor(plain))?.endpoint).toEqual({ origin: 'http://localhost', requestUri: STREAM });
    for (const other of [
      { origin: PUBLIC, 'sec-fetch-site': 'same-site' },
      { origin: 'null', 'sec-fetch-site': 'same-origin' },
      { origin: 'https://elsewhere.example.org', host: 'localhost' },
    ]) {
      expect((await addressFor(other))?.endpoint).toEqual({ requestUri: STREAM });
    }
  });

  it("is there with a host's function only if a browser can open it", async () => {
    await start({ router: { auth: () => ({ name: 'ada' }) } });
    expect((await addressFor(SAME_ORIGIN))?.endpoint).toEqual({ origin: PUBLIC, requestUri: STREAM });
    for (const headers of [
      { ...SAME_ORIGIN, authorization: 'Bearer of-the-host' },
      { ...SAME_ORIGIN, 'x-api-key': 'of-the-host' },
      { origin: PUBLIC, 'sec-fetch-site': 'cross-site' },
      { origin: PUBLIC, 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'none' },
      {},
    ]) {
      expect(await addressFor(headers)).toBeUndefined();
    }
  });

  it("has no key with a host's function that returns a token", async () => {
    let token: Awaited<ReturnType<Flags['verifyToken']>>;
    await start({ router: { auth: () => token } });
    token = await host.flags.verifyToken(await create());
    expect((await addressFor(SAME_ORIGIN))?.endpoint).toEqual({ origin: PUBLIC, requestUri: STREAM });
  });

  it('is left out with `ofrepStreams: false`', async () => {
    await start({ router: { auth: 'none', ofrepStreams: false } });
    const { body } = await evaluate().expect(200);
    expect(body).not.toHaveProperty('eventStreams');
    expect(() => createFlagsApi(host.flags, { auth: 'none', ofrepStreams: 'no' as never })).toThrow(
      'ofrepStreams must be true or false',
    );
  });

  describe('behind mounts and proxies', () => {
    const prefixed = { 'x-forwarded-prefix': '/shop/' };

    it.each(EXPRESS_VERSIONS)('is the path of the request, with mounts, on Express $major', async (version) => {
      await start({ version, mount: '/internal/flags' });
      const paths = [
        ['/internal/flags/ofrep/v1/evaluate/flags', '/internal/flags/ofrep/v1/event-stream'],
        ['/Internal/flags/OFREP/v1/Evaluate/flags/?a=/evaluate/flags', '/Internal/flags/OFREP/v1/event-stream'],
        ['/internal/flags/ofrep/v1//evaluate//flags', '/internal/flags/ofrep/v1/event-stream'],
      ] as const;
      for (const [path, stream] of paths) {
        expect((await addressFor({}, path))?.endpoint.requestUri).toBe(stream);
        const opened = await request(host.app).head(stream).expect(200);
        expect(opened.headers['content-type']).toBe('text/event-stream');
      }
    });

    it.each(EXPRESS_VERSIONS)('has X-Forwarded-Prefix of trusted proxies only, on Express $major', async (version) => {
      await start({ version, mount: '/flags' });
      const path = `/flags${EVALUATE}`;
      expect((await addressFor(prefixed, path))?.endpoint.requestUri).toBe(`/flags${STREAM}`);
      host.app.set('trust proxy', 'loopback');
      expect((await addressFor(prefixed, path))?.endpoint.requestUri).toBe(`/shop/flags${STREAM}`);
      host.app.set('trust proxy', '10.0.0.0/8');
      expect((await addressFor(prefixed, path))?.endpoint.requestUri).toBe(`/flags${STREAM}`);
    });

    it('has the prefix that the other adapters are told', async () => {
      await start();
      const api = createFlagsApi<Actor, IncomingMessage>(host.flags, { auth: 'none' });
      const handler = toNodeHandler(api, {
        basePath: '/flags',
        prefix: ({ headers }) => headers['x-forwarded-prefix'] as string,
      });
      const server = createServer((incoming, response) => void handler(incoming, response));
      const { body } = await request(server).post(`/flags${EVALUATE}`).set(prefixed).send({}).expect(200);
      expect(body.eventStreams[0].endpoint.requestUri).toBe(`/shop/flags${STREAM}`);

      const fetched = toFetchHandler(createFlagsApi(host.flags, { auth: 'none' }), {
        basePath: '/flags',
        prefix: ({ headers }) => headers.get('x-forwarded-prefix') ?? undefined,
      });
      const headers = { 'content-type': 'application/json', ...prefixed };
      const sent = new Request(`http://localhost/flags${EVALUATE}`, { method: 'POST', headers, body: '{}' });
      const reply = (await (await fetched(sent)).json()) as { readonly eventStreams: readonly Address[] };
      expect(reply.eventStreams[0]?.endpoint.requestUri).toBe(`/shop/flags${STREAM}`);
    });

    it('is left out if the host has rewritten the path', async () => {
      const rewrite = (incoming: { url: string; originalUrl: string }, _: unknown, next: () => void) => {
        incoming.url = EVALUATE;
        next();
      };
      await start({ version: EXPRESS_5, before: [rewrite as never] });
      expect(await addressFor({}, '/my/own/path')).toBeUndefined();
    });

    it('never names another host, whatever a prefix or a path says', async () => {
      await start();
      host.app.set('trust proxy', true);
      const piece = fc.constantFrom(
        '/',
        '//',
        '\\',
        '..',
        'a',
        '%2f',
        ':',
        '@',
        'evil.example.org',
        '?',
        '#',
        ',',
        ' ',
      );
      const text = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join(''));
      await fc.assert(
        fc.asyncProperty(text, async (prefix) => {
          const address = await addressFor({ 'x-forwarded-prefix': prefix });
          const url = new URL(address?.endpoint.requestUri ?? '', PUBLIC);
          expect(url.origin).toBe(PUBLIC);
          expect(url.pathname.endsWith(STREAM)).toBe(true);
        }),
      );
    });
  });
});
