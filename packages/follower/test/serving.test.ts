import { until } from '../../../test/until.js';
import { listen as listenToStream } from '../../http/test/client/event-client.js';
import type { Follower } from '../src/index.js';
import {
  createOn,
  endAll,
  follow,
  type Listening,
  PRODUCTION,
  type Root,
  serve,
  startRoot,
  untilEnabled,
} from './servers.js';

let root: Root;
let follower: Follower;
let served: Listening;
let client: string;
let frontend: string;
beforeEach(async () => {
  root = await startRoot();
  await createOn(root.flags, 'checkout');
  client = (await root.flags.tokens.create({ name: 'web', kind: 'client', environment: 'production' })).secret;
  frontend = (await root.flags.tokens.create({ name: 'page', kind: 'frontend', environment: 'production' })).secret;
  follower = await follow(root);
  served = await serve(follower);
});
afterEach(async () => {
  await endAll();
  await root.end();
});

const bodyOf = async (url: string, authorization: string, init: RequestInit = {}) => {
  const response = await fetch(url, {
    ...init,
    headers: { authorization, 'content-type': 'application/json', ...init.headers },
  });
  // A follower signs the keys of event streams by itself.
  const body = (await response.text()).replace(/\?key=[^"]+/, '');
  return { status: response.status, depth: response.headers.get('flags-depth'), body: JSON.parse(body) };
};

it('serves every route for SDKs as its server does', async () => {
  await root.flags.setVariants({ ...PRODUCTION, flag: 'checkout' }, [
    { name: 'blue', payload: { type: 'json', value: '{"color":"blue"}' } },
  ]);
  await until(() => follower.getVariant('checkout').name === 'blue');
  const spec = { headers: { 'unleash-client-spec': '5.2.0' } };
  const context = { method: 'POST', body: JSON.stringify({ context: { userId: '7' } }) };
  const requests: readonly (readonly [string, string, RequestInit])[] = [
    ['/api/client/features', client, spec],
    ['/api/client/features', client, {}],
    ['/api/client/features/checkout', client, spec],
    ['/api/frontend?userId=7', frontend, {}],
    ['/api/frontend', frontend, context],
    ['/ofrep/v1/evaluate/flags/checkout', client, context],
    ['/ofrep/v1/evaluate/flags', frontend, context],
  ];
  for (const [path, token, init] of requests) {
    const own = await bodyOf(`${served.url}${path}`, token, init);
    expect({ path, ...own }).toEqual({ path, ...(await bodyOf(`${root.url}${path}`, token, init)), depth: '1' });
    expect(own.status).toBe(200);
  }
});

it('streams to SDKs and to further followers', async () => {
  const stream = await listenToStream(`${served.url}/api/client/streaming`, { authorization: client });
  await until(() => stream.messages.length === 1);
  expect(stream.messages[0]?.events[0].features).toMatchObject([{ name: 'checkout', enabled: true }]);
  const second = await follow({ url: served.url, token: client });
  const third = await serve(second);
  const last = await follow({ url: third.url, token: client });
  await root.flags.disable({ ...PRODUCTION, flag: 'checkout' });
  await untilEnabled(last, 'checkout', false);
  await until(() => stream.messages.length === 2);
  expect([follower, second, last].map(({ following }) => following.depth)).toEqual([1, 2, 3]);

  const fourth = await serve(last);
  await expect(follow({ url: fourth.url, token: client })).rejects.toMatchObject({ code: 'upstream_loop' });
  stream.leave();
});

it('refuses to follow in a circle, and keeps the flags', async () => {
  const second = await follow({ url: served.url, token: client });
  // The first follower now finds the second one where its server was.
  await root.stop();
  const circle = await serve(second, root.port);
  const codeOf = ({ error }: { readonly error?: unknown }) => (error as { readonly code?: string } | undefined)?.code;
  await until(() => ['upstream_unavailable', 'upstream_loop'].includes(codeOf(follower.status()) ?? ''));
  expect(follower.status().state).toBe('stale');
  expect(follower.isEnabled('checkout')).toBe(true);
  expect(second.isEnabled('checkout')).toBe(true);
  await circle.stop();

  const lost = await follow({ url: root.url, token: client }, { startTimeout: 0 });
  await serve(lost, root.port);
  await until(() => codeOf(lost.status()) === 'upstream_loop');
});

it('has no administration', async () => {
  const { status, body } = await bodyOf(`${served.url}/api/admin/projects`, client);
  expect(status).toBe(404);
  expect(body).toMatchObject({ name: 'NotFoundError' });
  expect(JSON.stringify(body)).toContain('follower');
  const tagged = await bodyOf(`${served.url}/api/client/features?tag=simple:team`, client);
  expect(tagged.status).toBe(400);
});

it('serves nobody before it has flags', async () => {
  const away = await follow({ url: 'http://127.0.0.1:9', token: root.token }, { startTimeout: 0 });
  const empty = await serve(away);
  const response = await fetch(`${empty.url}/api/client/features`, { headers: { authorization: client } });
  expect(response.status).toBe(503);
  expect(response.headers.get('retry-after')).not.toBeNull();
  await expect(follow({ url: empty.url, token: root.token }, { startTimeout: 200 })).rejects.toMatchObject({
    code: 'upstream_unavailable',
  });
});
