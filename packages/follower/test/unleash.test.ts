import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { until } from '../../../test/until.js';
import { listen as listenToStream } from '../../http/test/client/event-client.js';
import { endAll, follow, type Listening, listen, type Root, serve, startRoot } from './servers.js';

afterEach(endAll);

const OWN = '*:production.of-the-follower';

interface Asked {
  readonly path: string;
  readonly authorization: string;
  readonly etag: string | undefined;
}

/**
 * A server like Unleash 8.2: it has no stream, its open check of tokens goes on to confirm deleted ones, and its client routes
 * refuse them.
 */
async function startUnleash() {
  const deleted = new Set<string>();
  const asked: Asked[] = [];
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await text(request);
    const { authorization = '', 'if-none-match': etag } = request.headers;
    const send = (status: number, content: unknown, headers = {}) =>
      void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(content));
    switch (request.url) {
      case '/edge/validate': {
        if (authorization !== '') return send(403, {});
        asked.push({ path: request.url, authorization, etag });
        const known = (JSON.parse(body).tokens as string[]).filter((token) => !token.includes('unknown'));
        const typeOf = (token: string) =>
          token.startsWith('*:*.') ? 'admin' : token.includes('page') ? 'frontend' : 'client';
        return send(200, { tokens: known.map((token) => ({ token, type: typeOf(token), projects: ['*'] })) });
      }
      case '/api/client/features':
      case '/api/frontend':
        asked.push({ path: request.url, authorization, etag });
        if (deleted.has(authorization)) return send(401, {});
        if (etag === '"1"') return void response.writeHead(304, { etag }).end();
        return send(200, { version: 2, features: [], toggles: [] }, { etag: '"1"' });
      default:
        // It wants a token before it looks for the path.
        return send(request.url?.startsWith('/api/client') ? 404 : 401, {});
    }
  };
  const server = await listen((request, response) => void handle(request, response));
  return { ...server, deleted, asked };
}

/** Sends a request on to another server. */
async function forward({ url }: Listening, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method = 'GET', headers } = request;
  const { authorization = '', accept = '', 'content-type': type = 'application/json' } = headers;
  const body = method === 'GET' ? undefined : await text(request);
  try {
    const init = { method, headers: { authorization, accept, 'content-type': type }, ...(body && { body }) };
    const answer = await fetch(`${url}${request.url}`, init);
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' });
    for await (const chunk of answer.body ?? []) response.write(chunk);
    response.end();
  } catch {
    response.destroy();
  }
}

describe('a token that an Unleash has deleted', () => {
  async function statusOf({ url }: Listening, path: string, authorization: string): Promise<number> {
    const response = await fetch(`${url}${path}`, { headers: { authorization } });
    await response.arrayBuffer();
    return response.status;
  }

  it.each([
    ['/api/client/features', '*:production.sdk'],
    ['/api/frontend', '*:production.page'],
  ])('ends with its streams, because %s refuses it', async (path, secret) => {
    const unleash = await startUnleash();
    const follower = await follow({ url: unleash.url, token: OWN });
    const served = await serve(follower);
    expect(await statusOf(served, path, secret)).toBe(200);
    const stream = await listenToStream(`${served.url}/ofrep/v1/event-stream`, { authorization: secret });
    expect(stream.status).toBe(200);
    const ofToken = () => unleash.asked.filter(({ authorization }) => authorization === secret);
    await until(() => ofToken().length >= 3);
    expect(ofToken()[0]).toEqual({ path, authorization: secret, etag: undefined });
    expect(ofToken()[1]).toEqual({ path, authorization: secret, etag: '"1"' });
    expect(await statusOf(served, path, secret)).toBe(200);

    unleash.deleted.add(secret);
    await until(() => stream.hasEnded());
    expect(await statusOf(served, path, secret)).toBe(401);
    // The check of tokens still confirms it after it is no longer remembered as unknown.
    const before = ofToken().length;
    await until(async () => {
      expect(await statusOf(served, path, secret)).toBe(401);
      return ofToken().length > before;
    });
    // Deleted by mistake, and given again.
    unleash.deleted.delete(secret);
    await until(async () => (await statusOf(served, path, secret)) === 200);
  });

  it('is asked for with at most 19 others at a time, in turn', async () => {
    const unleash = await startUnleash();
    const secrets = Array.from({ length: 50 }, (_, at) => `*:production.sdk-${at}`);
    const follower = await follow({ url: unleash.url, token: OWN }, { pollInterval: 1e6 });
    for (const secret of secrets) expect(await follower.verifyToken(secret)).toBeDefined();
    const checks = () => unleash.asked.flatMap(({ path }, at) => (path === '/edge/validate' ? [at] : []));
    const before = checks().length;
    await until(() => checks().length >= before + 6);
    // Between two checks of all tokens, which are one request. The first one may have begun before all were known.
    const turns = checks()
      .slice(before, before + 6)
      .map((at) => unleash.asked.slice(at + 1, at + 21));
    const asked = turns.slice(1, 4).map((turn) => turn.map(({ authorization }) => authorization));
    expect(asked.map(({ length }) => length)).toEqual([20, 20, 20]);
    expect(new Set(asked.flat()).size).toBe(50);
    for (const [at, next] of checks()
      .slice(before, before + 5)
      .map((from, nth) => [from, checks()[before + nth + 1] ?? 0])) {
      expect((next ?? 0) - (at ?? 0) - 1).toBe(20);
    }
  });

  it('is not asked for at the client routes of a server with a stream', async () => {
    const root = await startRoot();
    const asked: string[] = [];
    const proxy = await listen((request, response) => {
      asked.push(`${request.url} ${request.headers.authorization}`);
      void forward(root, request, response);
    });
    const follower = await follow({ url: proxy.url, token: root.token });
    const { secret } = await root.flags.tokens.create({ name: 'sdk', kind: 'client', environment: 'production' });
    expect(await follower.verifyToken(secret)).toBeDefined();
    const checks = () => asked.filter((one) => one.startsWith('/edge/validate')).length;
    const before = checks();
    await until(() => checks() >= before + 3);
    expect(asked.filter((one) => one.includes(secret))).toEqual([]);
    await endAll();
    await root.end();
  });
});

describe('the address of the server', () => {
  let root: Root;
  beforeEach(async () => {
    root = await startRoot();
  });
  afterEach(() => root.end());

  it.each(['', '/', '/api', '/api/'])('may be that of an Unleash with %j at its end', async (end) => {
    const unleash = await startUnleash();
    const follower = await follow({ url: `${unleash.url}${end}`, token: OWN });
    expect(follower.status()).toMatchObject({ state: 'current', connected: true });
  });

  it.each(['', '/api'])('may be that of a router with %j at its end', async (end) => {
    const follower = await follow({ url: `${root.url}${end}`, token: root.token });
    expect(follower.status()).toMatchObject({ state: 'current', connected: true });
  });

  it('may be that of a router at a mount that ends with /api', async () => {
    const mounted = await listen((request, response) => {
      if (!request.url?.startsWith('/my/api/')) return void response.writeHead(401).end();
      request.url = request.url.slice('/my/api'.length);
      void forward(root, request, response);
    });
    const follower = await follow({ url: `${mounted.url}/my/api`, token: root.token });
    expect(follower.status()).toMatchObject({ state: 'current', connected: true });
  });

  it('is not blamed for a token: the error says what is wrong with it', async () => {
    const unleash = await startUnleash();
    const { secret } = await root.flags.tokens.create({ name: 'admin', kind: 'admin' });
    const wrong = [
      [unleash.url, '*:*.of-an-administrator', 'forbidden', /^The token is an admin token/],
      [`${unleash.url}/api`, '*:*.unknown', 'forbidden', /^The token is an admin token/],
      [unleash.url, 'user:unknown-0123456789', 'forbidden', /^The token is the personal access token of a user/],
      [`${unleash.url}/api`, 'default:production.unknown', 'unauthenticated', /^The token is unknown or has expired/],
      [unleash.url, '*:production.page', 'forbidden', /of kind client; the token is of kind frontend/],
      [root.url, secret, 'forbidden', /^The token is an admin token/],
      [`${root.url}/api`, secret, 'forbidden', /^The token is an admin token/],
      [`${root.url}/api`, 'default:production.unknown', 'unauthenticated', /client token that is valid there/],
    ] as const;
    for (const [url, token, code, message] of wrong) {
      await expect(follow({ url, token })).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
    }
  });
});
