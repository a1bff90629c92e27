import { memoryStorage, type NewToken } from '@flags/core';
import request from 'supertest';
import { until } from '../../../../test/until.js';
import { type EventClient, listen } from '../client/event-client.js';
import { type LiveServer, type LiveServerOptions, startLiveServer } from '../client/live-server.js';
import { manualHeartbeats } from '../client/manual-heartbeats.js';
import { EVALUATE, switchOn } from './states.js';

const STREAM = '/ofrep/v1/event-stream';
const PRODUCTION = { project: 'default', flag: 'checkout', environment: 'production' };

describe('an event stream', () => {
  const { interval, beat } = manualHeartbeats();
  const servers: LiveServer[] = [];
  const clients: EventClient[] = [];

  async function start(options: LiveServerOptions = {}): Promise<LiveServer> {
    const router = { auth: 'none', heartbeatInterval: interval, ...options.router } as const;
    const server = await startLiveServer({ ...options, router: router as NonNullable<LiveServerOptions['router']> });
    servers.push(server);
    await switchOn(server.flags, 'checkout');
    return server;
  }

  afterEach(async () => {
    for (const client of clients.splice(0)) client.leave();
    for (const server of servers.splice(0)) await server.stop();
  });

  async function join(url: string, headers: Readonly<Record<string, string>> = {}): Promise<EventClient> {
    const client = await listen(url, headers);
    clients.push(client);
    return client;
  }

  /** Joins, and waits for the event with which each connection begins. */
  async function joined(url: string): Promise<EventClient> {
    const client = await join(url);
    expect(client.status).toBe(200);
    await until(() => client.messages.length === 1);
    return client;
  }

  async function createPage({ flags }: LiveServer, input: Partial<NewToken> = {}): Promise<string> {
    const name = `page ${Math.random()}`;
    return (await flags.tokens.create({ name, kind: 'frontend', environment: 'production', ...input })).secret;
  }

  /** The address that a page with this token gets. */
  async function addressOf({ url }: LiveServer, secret: string): Promise<string> {
    const { body } = await request(url).post(EVALUATE).set('authorization', secret).send({}).expect(200);
    return `${url}${body.eventStreams[0].endpoint.requestUri}`;
  }

  it('begins with one event, and has one for each change of its environment', async () => {
    const { flags, url } = await start();
    const [page, other] = [await join(`${url}${STREAM}`), await joined(`${url}${STREAM}?environment=development`)];
    expect(page.headers).toMatchObject({ 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' });
    await until(() => page.messages.length === 1);
    const etag = expect.stringMatching(/^[0-9a-f-]{36}$/);
    expect(page.messages).toMatchObject([{ event: 'message', data: { type: 'refetchEvaluation', etag } }]);
    await flags.disable(PRODUCTION);
    await until(() => page.messages.length === 2);
    expect(page.messages[1]).toEqual(page.messages[0]);
    await flags.enable({ ...PRODUCTION, environment: 'development' }).catch(() => undefined);
    await flags.segments.create({ name: 'beta', constraints: [] });
    // A segment may concern each environment.
    await until(() => page.messages.length === 3 && other.messages.length === 2);
    beat();
    await until(() => page.heartbeats() === 1);
  });

  it('merges the changes of about a second, and sends one after the last', async () => {
    const { flags, url } = await start();
    const page = await joined(`${url}${STREAM}`);
    const startedAt = performance.now();
    for (let round = 0; round < 20; round++) {
      await flags.disable(PRODUCTION);
      await flags.enable(PRODUCTION);
    }
    const sentBefore = page.messages.length;
    const most = 2 + (performance.now() - startedAt) / 800;
    // The first change is sent at once, or with the event of the beginning; the last one within about a second.
    await until(() => page.messages.length > sentBefore);
    expect(page.messages.length - 1).toBeLessThanOrEqual(most);
  });

  it('is open to pages of the origins in `cors`', async () => {
    const origin = 'https://shop.example.org';
    const server = await start({ router: { auth: 'token', cors: { origins: [origin] } } });
    const page = await join(await addressOf(server, await createPage(server)), { origin });
    expect([page.status, page.headers['access-control-allow-origin']]).toEqual([200, origin]);
  });

  it('ends when its token is deleted: before the next event, or at a heartbeat', async () => {
    const server = await start({ router: { auth: 'token' } });
    const secrets = [await createPage(server), await createPage(server)];
    const pages: EventClient[] = [];
    for (const secret of secrets) pages.push(await joined(await addressOf(server, secret)));
    const [first, second] = pages;
    await server.flags.tokens.delete({ token: secrets[0] ?? '' });
    await server.flags.disable(PRODUCTION);
    await until(() => first?.hasEnded() && second?.messages.length === 2);
    expect(first?.messages).toHaveLength(1);
    await server.flags.tokens.delete({ token: secrets[1] ?? '' });
    beat();
    await until(() => second?.hasEnded());
  });

  it('ends with the window after that of its key, and with the expiry of its token', async () => {
    const hour = 3_600_000;
    let time = 12 * hour * 41_000;
    const server = await start({ router: { auth: 'token' }, flags: { now: () => new Date(time) } });
    const expiresAt = new Date(time + 20 * hour).toISOString();
    const lasting = await addressOf(server, await createPage(server));
    const pages = [
      await joined(lasting),
      await joined(await addressOf(server, await createPage(server, { expiresAt }))),
    ];
    const ended = () => pages.map((page) => page.hasEnded());
    time += 20 * hour;
    beat();
    await until(() => pages[1]?.hasEnded());
    time += 4 * hour - 1;
    beat();
    await until(() => (pages[0]?.heartbeats() ?? 0) >= 2);
    expect(ended()).toEqual([false, true]);
    time += 1;
    beat();
    await until(() => pages[0]?.hasEnded());
    expect((await join(lasting)).status).toBe(401);
  });

  it('takes the secret of a token as well, and a key only here', async () => {
    const server = await start({ router: { auth: 'token' } });
    const secret = await createPage(server);
    expect((await join(`${server.url}${STREAM}`, { authorization: secret })).status).toBe(200);
    expect((await join(`${server.url}${STREAM}?key=${encodeURIComponent(secret)}`)).status).toBe(401);
    const key = new URL(await addressOf(server, secret)).searchParams.get('key') ?? '';
    await request(server.url).post(`${EVALUATE}?key=${key}`).send({}).expect(401);
    await request(server.url).post(EVALUATE).set('authorization', key).send({}).expect(401);
    await request(server.url).get(`/api/frontend?key=${key}`).expect(401);
    await request(server.url).get(`/api/client/streaming?key=${key}`).expect(401);
  });

  it('asks for the permission of the evaluation', async () => {
    const asked: string[] = [];
    const authorize = (_: unknown, action: string) => {
      asked.push(action);
      return action === 'resolveFlags';
    };
    const { url } = await start({ router: { auth: 'none', authorize } });
    await joined(`${url}${STREAM}`);
    expect(asked).toEqual(['resolveFlags']);
  });

  it('ends with the router, and is refused then', async () => {
    const { url, router } = await start();
    const page = await joined(`${url}${STREAM}`);
    router.close();
    await until(() => page.hasEnded());
    await request(url).get(STREAM).expect(503);
    await request(url).get(`${STREAM}?environment=mars`).expect(503);
  });

  it('refuses an unknown environment', async () => {
    const { url } = await start();
    const { body } = await request(url).get(`${STREAM}?environment=mars`).expect(404);
    expect(body.code).toBe('environment_not_found');
  });

  it('leads to the change on a node that does not have it yet', async () => {
    const storage = memoryStorage();
    const [one, other] = [
      await start({ flags: { storage } }),
      await startLiveServer({ flags: { storage, pollInterval: 0 } }),
    ];
    servers.push(other);
    const page = await joined(`${one.url}${STREAM}`);
    await one.flags.disable(PRODUCTION);
    const { etag } = page.messages[0]?.data ?? {};
    const valueAt = async ({ url }: LiveServer, query = '') =>
      (await request(url).post(`${EVALUATE}${query}`).send({}).expect(200)).body.flags[0].value;
    expect([await valueAt(one, `?flagConfigEtag=${etag}`), await valueAt(other)]).toEqual([false, true]);
    expect(await valueAt(other, `?flagConfigEtag=${etag}`)).toBe(false);
  });
});
