import type { NewToken } from '@flags/core';
import { until } from '../../../test/until.js';
import { listen as listenToStream } from '../../http/test/client/event-client.js';
import type { Follower } from '../src/index.js';
import { createOn, endAll, follow, type Listening, listen, type Root, serve, startRoot } from './servers.js';

let root: Root;
beforeEach(async () => {
  root = await startRoot();
  await createOn(root.flags, 'checkout');
});
afterEach(async () => {
  await endAll();
  await root.end();
});

async function newToken(input: Partial<NewToken> = {}): Promise<string> {
  const name = `token ${Math.random()}`;
  return (await root.flags.tokens.create({ name, kind: 'client', environment: 'production', ...input })).secret;
}

/** The status of a request with a token. */
async function statusOf({ url }: Pick<Listening, 'url'>, secret: string): Promise<number> {
  const response = await fetch(`${url}/api/client/features`, { headers: { authorization: secret } });
  await response.arrayBuffer();
  return response.status;
}

describe('a token of a caller', () => {
  it('is admitted within the scope of the follower only', async () => {
    await root.flags.createProject({ id: 'shop', name: 'Shop' });
    const token = await newToken({ project: 'shop' });
    const follower = await follow({ url: root.url, token });
    const kindOf = async (input: Partial<NewToken>) => (await follower.verifyToken(await newToken(input)))?.kind;
    expect(await kindOf({ project: 'shop' })).toBe('client');
    expect(await kindOf({ project: 'shop', kind: 'frontend' })).toBe('frontend');
    expect(await kindOf({ project: 'default' })).toBeUndefined();
    expect(await kindOf({ project: '*' })).toBeUndefined();
    expect(await kindOf({ projects: ['shop', 'default'] })).toBeUndefined();
    expect(await kindOf({ project: 'shop', environment: 'development' })).toBeUndefined();
    const admin = await root.flags.tokens.create({ name: 'admin', kind: 'admin' });
    expect(await follower.verifyToken(admin.secret)).toBeUndefined();
    expect(await follower.verifyToken('x'.repeat(1000))).toBeUndefined();
  });

  it('ends with its streams when it is deleted at the root, one and two followers down', async () => {
    const first = await follow(root);
    const servedFirst = await serve(first);
    const second = await follow({ url: servedFirst.url, token: await newToken() });
    const servedSecond = await serve(second);
    const secret = await newToken();
    for (const served of [servedFirst, servedSecond]) {
      expect(await statusOf(served, secret)).toBe(200);
      const stream = await listenToStream(`${served.url}/api/client/streaming`, { authorization: secret });
      expect(stream.status).toBe(200);
      streams.push(stream);
    }
    await root.flags.tokens.delete({ token: secret });
    await until(() => streams.every((stream) => stream.hasEnded()));
    expect(await statusOf(servedFirst, secret)).toBe(401);
    expect(await statusOf(servedSecond, secret)).toBe(401);
  });
  const streams: Awaited<ReturnType<typeof listenToStream>>[] = [];

  it('stays valid while the server is away, until it expires, and for offlineTokens at most', async () => {
    let time = Date.now();
    const times = { tokenCheck: 50 };
    const follower = await follow(root, { offlineTokens: 3_600_000 }, { now: () => time, times });
    const [lasting, expiring, deleted] = [
      await newToken(),
      await newToken({ expiresAt: new Date(time + 60_000).toISOString() }),
      await newToken(),
    ];
    for (const secret of [lasting, expiring, deleted]) expect(await follower.verifyToken(secret)).toBeDefined();
    const never = await newToken();
    await root.stop();
    await until(() => !follower.status().connected);
    await root.flags.tokens.delete({ token: deleted });
    time += 61_000;
    expect(await follower.verifyToken(lasting)).toBeDefined();
    expect(await follower.verifyToken(deleted)).toBeDefined();
    expect(await follower.verifyToken(expiring)).toBeUndefined();
    await expect(follower.verifyToken(never)).rejects.toMatchObject({ code: 'upstream_unavailable' });

    const again = await serve(root.flags, root.port);
    await until(async () => (await follower.verifyToken(deleted)) === undefined);
    expect(await follower.verifyToken(lasting)).toBeDefined();
    await again.stop();
    await until(() => !follower.status().connected);
    time += 3_600_001;
    await expect(follower.verifyToken(lasting)).rejects.toMatchObject({ code: 'upstream_unavailable' });
  });

  it('is asked for together with others, and remembered while it is unknown', async () => {
    let asked: string[][] = [];
    const proxy = await listen(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += chunk;
      if (request.url === '/edge/validate') asked.push(JSON.parse(body).tokens);
      const { authorization = '', accept = '' } = request.headers;
      const answer = await fetch(`${root.url}${request.url}`, {
        method: request.method ?? 'GET',
        headers: { authorization, accept, 'content-type': 'application/json', 'unleash-client-spec': '5.2.0' },
        ...(body !== '' && { body }),
      });
      response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' });
      for await (const chunk of answer.body ?? []) response.write(chunk);
      response.end();
    });
    let time = Date.now();
    const times = { tokenCheck: 1e6, unknownToken: 10_000 };
    const follower = await follow({ ...root, url: proxy.url }, {}, { times, now: () => time });
    asked = [];
    const invented = Array.from({ length: 1000 }, (_, at) => `default:production.${at}`);
    const answers = await Promise.allSettled(invented.map((secret) => follower.verifyToken(secret)));
    const refused = answers.filter(({ status }) => status === 'rejected').length;
    // One request is on its way with up to 100, and 100 wait for the next.
    expect(refused).toBeGreaterThanOrEqual(800);
    expect(refused).toBeLessThanOrEqual(900);
    expect(asked.every((batch) => batch.length <= 100)).toBe(true);
    const before = asked.length;
    const [first = ''] = asked.flat();
    expect(await follower.verifyToken(first)).toBeUndefined();
    expect(asked).toHaveLength(before);
    time += 10_001;
    expect(await follower.verifyToken(first)).toBeUndefined();
    expect(asked).toHaveLength(before + 1);

    // Callers with the same token share one question.
    const secret = await newToken();
    await Promise.all(Array.from({ length: 500 }, () => follower.verifyToken(secret)));
    expect(asked.flat().filter((one) => one === secret)).toHaveLength(1);
  });
});

describe('the own token', () => {
  it.each([
    ['a check of tokens', { tokenCheck: 100 }, 0],
    ['a report of usage', { tokenCheck: 1e6 }, 50],
  ])('ends all streams at once when %s finds it refused', async (_, times, interval) => {
    // Without heartbeats, the root says nothing through the stream.
    const quiet = { auth: 'token', heartbeatInterval: 2 ** 31 - 1 } as const;
    const silent = await serve(root.flags, 0, quiet);
    const token = await newToken();
    const follower = await follow(
      { url: silent.url, token },
      { usage: { interval } },
      { times: { silence: 1e6, ...times } },
    );
    const [withTokens, open] = [await serve(follower, 0, quiet), await serve(follower, 0, { ...quiet, auth: 'none' })];
    const path = '/api/client/streaming';
    const streams = [
      await listenToStream(`${withTokens.url}${path}`, { authorization: await newToken() }),
      await listenToStream(`${open.url}${path}`, {}),
    ];
    expect(streams.map(({ status }) => status)).toEqual([200, 200]);
    await root.flags.tokens.delete({ token });
    follower.isEnabled('checkout');
    await until(() => streams.every((stream) => stream.hasEnded()));
    expect(() => follower.following.assertServing()).toThrow(expect.objectContaining({ code: 'upstream_unavailable' }));
    expect(follower.isEnabled('checkout')).toBe(true);
  });

  it('ends serving when the server refuses it, and not evaluation', async () => {
    const token = await newToken();
    const follower: Follower = await follow({ url: root.url, token });
    const served = await serve(follower);
    const secret = await newToken();
    const stream = await listenToStream(`${served.url}/api/client/streaming`, { authorization: secret });
    expect(await statusOf(served, secret)).toBe(200);
    await root.flags.tokens.delete({ token });
    // The server checks the token before each change, or at its heartbeat.
    await createOn(root.flags, 'banner');
    await until(() => stream.hasEnded());
    await until(async () => (await statusOf(served, secret)) === 503);
    expect(follower.status()).toMatchObject({ state: 'stale', error: { code: 'unauthenticated' } });
    expect(follower.isEnabled('checkout')).toBe(true);
  });
});
