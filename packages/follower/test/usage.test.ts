import type { UsagePeriod } from '@flags/core';
import { until } from '../../../test/until.js';
import type { Follower } from '../src/index.js';
import {
  closeAll,
  createOn,
  endAll,
  follow,
  type Listening,
  listen,
  PRODUCTION,
  type Root,
  serve,
  startRoot,
} from './servers.js';

let root: Root;
beforeEach(async () => {
  root = await startRoot({ usage: { interval: 0 } });
  await createOn(root.flags, 'checkout');
});
afterEach(async () => {
  await endAll();
  await root.end();
});

async function usageAtRoot(): Promise<readonly UsagePeriod[]> {
  const { items } = await root.flags.usage.list({ hours: 48 });
  return items.filter(({ yes, no }) => yes + no > 0);
}

const report = (
  application: string,
  counts: Record<string, { yes: number; no: number; variants?: Record<string, number> }>,
) => {
  const now = new Date().toISOString();
  return { application, start: now, stop: now, counts };
};

it('counts own evaluations and the reports of clients once at the root, by application', async () => {
  await root.flags.setVariants({ ...PRODUCTION, flag: 'checkout' }, [{ name: 'blue' }]);
  const follower = await follow(root, { usage: { interval: 0, application: 'edge', instance: 'edge-1' } });
  for (let at = 0; at < 5; at++) follower.isEnabled('checkout');
  follower.getVariant('checkout', { userId: '7' });
  follower.isEnabled('chekout');
  const served = await serve(follower);
  const { secret } = await root.flags.tokens.create({ name: 'web', kind: 'client', environment: 'production' });
  const post = async (path: string, body: object, headers = {}) => {
    const sent = { authorization: secret, 'content-type': 'application/json', ...headers };
    const response = await fetch(`${served.url}${path}`, { method: 'POST', headers: sent, body: JSON.stringify(body) });
    expect(response.status).toBe(202);
  };
  const [start, stop] = [new Date().toISOString(), new Date().toISOString()];
  const registration = {
    appName: 'shop',
    instanceId: 'shop-1',
    strategies: ['default'],
    started: start,
    interval: 1000,
  };
  await post('/api/client/register', registration);
  const toggles = { checkout: { yes: 3, no: 1, variants: { blue: 3, invented: 9 } } };
  await post('/api/client/metrics', { appName: 'shop', instanceId: 'shop-1', bucket: { start, stop, toggles } });
  const metric = {
    appName: 'shop',
    featureName: 'checkout',
    environment: 'production',
    timestamp: stop,
    yes: 10,
    no: 0,
  };
  const bulk = { applications: [], metrics: [metric] };
  await post('/api/client/metrics/bulk', bulk, { 'idempotency-key': 'one' });
  await post('/api/client/metrics/bulk', bulk, { 'idempotency-key': 'one' });
  await follower.close();

  const rows = (await usageAtRoot()).map(({ flag, application, environment, yes, no, variants }) => {
    return { flag, application, environment, yes, no, variants: Object.fromEntries(variants) };
  });
  expect(rows).toEqual([
    { flag: 'checkout', application: 'edge', environment: 'production', yes: 6, no: 0, variants: { blue: 1 } },
    { flag: 'checkout', application: 'shop', environment: 'production', yes: 13, no: 1, variants: { blue: 3 } },
  ]);
  const shop = await root.flags.applications.get({ application: 'shop' });
  expect(shop).toMatchObject({ strategies: ['default'] });
  expect(shop.instances.map(({ id }) => id)).toContain('shop-1');
  expect((await root.flags.applications.get({ application: 'edge' })).seenFlags).toEqual(['checkout', 'chekout']);
});

it('adds up over levels, and counts once although answers are lost', async () => {
  // Passes requests on, and loses the answers of every first report.
  const seen = new Map<string, number>();
  const proxy = await listen(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const { authorization = '', accept = '', 'idempotency-key': id } = request.headers as Record<string, string>;
    const answer = await fetch(`${root.url}${request.url}`, {
      method: request.method ?? 'GET',
      headers: { authorization, accept, 'content-type': 'application/json', ...(id && { 'idempotency-key': id }) },
      ...(body !== '' && { body }),
    });
    if (id) {
      seen.set(id, (seen.get(id) ?? 0) + 1);
      if (seen.get(id) === 1) return void response.destroy();
    }
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' });
    for await (const chunk of answer.body ?? []) response.write(chunk);
    response.end();
  });
  const first = await follow({ ...root, url: proxy.url }, { usage: { interval: 50, application: 'first' } });
  const served = await serve(first);
  const second = await follow(
    { url: served.url, token: root.token },
    { usage: { interval: 50, application: 'second' } },
  );
  for (let at = 0; at < 100; at++) {
    first.isEnabled('checkout');
    second.isEnabled('checkout');
    if (at % 10 === 0) await new Promise(setImmediate);
  }
  await second.close();
  const sum = async () => (await usageAtRoot()).map(({ application, yes }) => [application, yes]);
  await until(async () => JSON.stringify(await sum()) === '[["first",100],["second",100]]');
  expect(Math.max(...seen.values())).toBeGreaterThan(1);
  await closeAll();
  expect(await sum()).toEqual([
    ['first', 100],
    ['second', 100],
  ]);
});

it('keeps counts while the server is away, in the hour in which they were evaluated', async () => {
  const follower = await follow(root, { usage: { interval: 20 } });
  await root.stop();
  const hourAgo = new Date(Date.now() - 3_600_000).toISOString();
  const old = { application: 'shop', start: hourAgo, stop: hourAgo, counts: { checkout: { yes: 2, no: 0 } } };
  await follower.reportMetrics(old);
  const recent = report('shop', { checkout: { yes: 1, no: 0 } });
  await follower.reportMetrics(recent);
  await until(() => !follower.status().connected);
  await follower.reportMetrics(old);
  await serve(root.flags, root.port);
  // The counts arrive in two batches.
  await until(async () => (await usageAtRoot()).reduce((sum, { yes }) => sum + yes, 0) === 5);
  const rows = (await usageAtRoot()).map(({ hour, yes }) => ({ hour, yes }));
  expect(rows).toEqual([
    { hour: `${hourAgo.slice(0, 13)}:00:00.000Z`, yes: 4 },
    { hour: `${recent.stop.slice(0, 13)}:00:00.000Z`, yes: 1 },
  ]);
});

describe('the bounds', () => {
  const counts = { yes: 1, no: 0 };

  it('drops the oldest rows beyond 10,000 while the server is away, and says so', async () => {
    const follower = await follow(root, { usage: { interval: 20 } });
    await root.stop();
    await until(() => !follower.status().connected);
    const start = Date.now() - 100 * 3_600_000;
    for (let hour = 0; hour < 100; hour++) {
      const stop = new Date(start + hour * 3_600_000).toISOString();
      for (let app = 0; app < 110; app++) {
        await follower.reportMetrics({ application: `app-${app}`, start: stop, stop, counts: { checkout: counts } });
      }
    }
    const { dropped } = follower.status();
    expect(dropped?.usage).toBeGreaterThanOrEqual(1000);
    expect(dropped?.usage).toBeLessThanOrEqual(3000);
  });

  it('admits only so many invented names and applications, so that honest ones have their place at the root', async () => {
    const follower: Follower = await follow(root);
    const origin = { reporter: { token: 'page', isPublic: true }, environment: 'production' };
    for (let at = 0; at < 1000; at++) {
      await follower.reportMetrics(report(`invented-${at}`, { checkout: counts, [`invented-${at}`]: counts }), origin);
    }
    const names = Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`name-${at}`, counts]));
    await follower.reportMetrics(report('invented-0', names), origin);
    await follower.reportMetrics(report('honest', { checkout: counts }), {
      reporter: { token: 'web', isPublic: false },
    });
    expect(follower.status().dropped).toMatchObject({ reports: 900, names: 900 + 901 });
    await follower.close();
    const rows = await usageAtRoot();
    const applications = new Set(rows.map(({ application }) => application));
    expect(applications.size).toBe(102);
    expect(applications).toContain('honest');
    // The counts of flags are never lost.
    expect(rows.reduce((sum, { yes }) => sum + yes, 0)).toBe(1001);
    expect(rows.find(({ application }) => application === 'other')?.yes).toBe(900);
  });

  it('refuses what the engine refuses', async () => {
    const follower = await follow(root);
    const wrong = { application: '', start: 1, stop: 0, counts: {} };
    await expect(follower.reportMetrics(wrong)).rejects.toMatchObject({ code: 'invalid_input' });
    await expect(follower.verifyTokens(Array(101).fill('x'))).rejects.toMatchObject({ code: 'invalid_input' });
    await follower.close();
    await expect(follower.reportMetrics(report('shop', {}))).rejects.toMatchObject({ code: 'closed' });
    expect(follower.isEnabled('checkout')).toBe(true);
  });
});

it('reports to a server without a bulk route, one application at a time', async () => {
  const taken: { path: string; body: { appName: string; bucket: { toggles: object } } }[] = [];
  const registrations: object[] = [];
  const without: Listening = await listen(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const path = request.url ?? '';
    if (path.endsWith('/bulk')) registrations.push(...JSON.parse(body).applications);
    if (path.endsWith('/register')) registrations.push(JSON.parse(body));
    if (path === '/api/client/streaming' || path.endsWith('/bulk')) return void response.writeHead(404).end();
    if (path.startsWith('/api/client/metrics') || path.endsWith('/register')) {
      taken.push({ path, body: JSON.parse(body) });
      return void response.writeHead(202).end();
    }
    const { authorization = '' } = request.headers;
    const answer = await fetch(`${root.url}${path}`, {
      method: request.method ?? 'GET',
      headers: { authorization, 'content-type': 'application/json', 'unleash-client-spec': '5.2.0' },
      ...(body !== '' && { body }),
    });
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text());
  });
  const follower = await follow({ ...root, url: without.url }, { usage: { interval: 0, application: 'edge' } });
  follower.isEnabled('checkout');
  await follower.reportMetrics(report('shop', { checkout: { yes: 2, no: 1 } }));
  await follower.close();
  expect(taken.map(({ path, body }) => [path, body.appName])).toEqual([
    ['/api/client/register', 'edge'],
    ['/api/client/metrics', 'shop'],
    ['/api/client/metrics', 'edge'],
  ]);
  // Unleash refuses a registration without these, in both forms.
  const required = { appName: 'edge', started: expect.stringMatching(/^\d{4}-.+Z$/), interval: expect.any(Number) };
  expect(registrations).toEqual([expect.objectContaining(required), expect.objectContaining(required)]);
  expect(taken[1]?.body.bucket.toggles).toEqual({ checkout: { yes: 2, no: 1, variants: {} } });
});
