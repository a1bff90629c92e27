import { type Follower, followFlags } from '@flags/follower';
import { serve } from '../serve.js';
import { until } from '../until.js';
import { atMost, type Finding, figure, none } from '../verdict.js';
import { startClient } from './answers.js';
import { ENVIRONMENT } from './specified-flags.js';
import type { UnleashServer } from './unleash-process.js';

const POLL = 2_000;
/** Unleash repeats its answers for up to a second. */
const SERVER_CACHE = 1_000;
const FLAG = 'benchmark-of-followers';
const FEATURES = '/api/admin/projects/default/features';
const CHANGES = 5;

/** A flag changes, is counted, and is served behind a follower until its token is deleted. */
export async function checkConnection(server: UnleashServer): Promise<readonly Finding[]> {
  await server.ask(`POST ${FEATURES}`, { name: FLAG, type: 'release' });
  const strategy = { name: 'default', parameters: {}, constraints: [] };
  await server.ask(`POST ${FEATURES}/${FLAG}/environments/${ENVIRONMENT}/strategies`, strategy);
  const token = await server.createToken({ type: 'client', environment: ENVIRONMENT });
  const errors: string[] = [];
  const follower = await followFlags({
    url: server.url,
    token,
    pollInterval: POLL,
    usage: { interval: 1_000, application: 'follower' },
    onError: (error) => errors.push(`${error}`),
    onProblem: () => undefined,
  });
  const served = await serve(follower);
  try {
    const changes: number[] = [];
    for (let change = 0; change < CHANGES; change++)
      changes.push(await timeOfChange(server, follower, change % 2 === 0));
    return [
      atMost(
        `${CHANGES} changes seen (poll of ${POLL} ms ± 20 %): the slowest`,
        Math.max(...changes),
        POLL * 1.2 + SERVER_CACHE,
      ),
      ...(await checkMetrics(server, follower, served.url)),
      ...(await checkTokens(server, served.url)),
      none('errors that the follower reports', errors),
    ];
  } finally {
    await served.close();
    await follower.close();
  }
}

/** Measured from the answer of the admin API. */
async function timeOfChange(server: UnleashServer, follower: Follower, enabled: boolean): Promise<number> {
  const { ok, status } = await server.ask(
    `POST ${FEATURES}/${FLAG}/environments/${ENVIRONMENT}/${enabled ? 'on' : 'off'}`,
  );
  if (!ok) throw new Error(`Unleash does not switch a flag: ${status}`);
  return (await until(() => follower.isEnabled(FLAG) === enabled, 60_000)) ?? Number.POSITIVE_INFINITY;
}

/** Evaluations of the follower, and of an SDK behind it, arrive in Unleash and are counted once. */
async function checkMetrics(server: UnleashServer, follower: Follower, url: string): Promise<readonly Finding[]> {
  const [own, behind] = [37, 23];
  const before = (await countsOf(server)).get('follower') ?? 0;
  for (let call = 0; call < own; call++) follower.isEnabled(FLAG);
  const client = await startClient(url, await server.createToken({ type: 'client', environment: ENVIRONMENT }));
  for (let call = 0; call < behind; call++) client.isEnabled(FLAG);
  await client.flushMetrics();
  client.destroy();
  // The polling checks above were counted too, so the follower's count may be higher, and is stable at the end.
  const counts = await until(async () => {
    const found = await countsOf(server);
    return (found.get('follower') ?? 0) >= before + own && (found.get('sdk') ?? 0) >= behind;
  }, 30_000);
  const found = await countsOf(server);
  return [
    atMost(
      'counts of the follower and of an SDK behind it have arrived after',
      counts ?? Number.POSITIVE_INFINITY,
      15_000,
    ),
    {
      fact: `counts of an SDK behind the follower, of ${behind} evaluations`,
      figure: `${found.get('sdk') ?? 0}`,
      aim: `${behind}`,
      holds: found.get('sdk') === behind,
    },
  ];
}

/** Evaluations of the flag by application. */
async function countsOf(server: UnleashServer): Promise<ReadonlyMap<string, number>> {
  const { body } = await server.ask(`GET /api/admin/client-metrics/features/${FLAG}/raw`);
  const { data = [] } = Object(body) as { data?: { appName: string; yes: number; no: number }[] };
  const counts = new Map<string, number>();
  for (const { appName, yes, no } of data) counts.set(appName, (counts.get(appName) ?? 0) + Number(yes) + Number(no));
  return counts;
}

const CLIENT_ROUTE = '/api/client/features';
const FRONTEND_ROUTE = '/api/frontend';

async function checkTokens(server: UnleashServer, url: string): Promise<readonly Finding[]> {
  const client = await server.createToken({ type: 'client', environment: ENVIRONMENT });
  const frontend = await server.createToken({ type: 'frontend', environment: ENVIRONMENT });
  const foreign = await server.createToken({ type: 'client', environment: 'production' });
  const expected: readonly (readonly [string, string, string, number])[] = [
    ['client', client, CLIENT_ROUTE, 200],
    ['frontend', frontend, FRONTEND_ROUTE, 200],
    ['frontend on the client route', frontend, CLIENT_ROUTE, 403],
    ['client of another environment', foreign, CLIENT_ROUTE, 401],
    ['invented', `default:${ENVIRONMENT}.invented`, CLIENT_ROUTE, 401],
  ];
  const wrong: object[] = [];
  for (const [kind, token, route, status] of expected) {
    const answered = await statusOf(url + route, token);
    if (answered !== status) wrong.push({ kind, status, answered });
  }
  const stream = await openStream(url, client);
  const times = await timesOfDeletion(server, {
    client: { secret: client, isRefused: async () => (await statusOf(url + CLIENT_ROUTE, client)) === 401 },
    frontend: { secret: frontend, isRefused: async () => (await statusOf(url + FRONTEND_ROUTE, frontend)) === 401 },
    stream: { secret: client, isRefused: stream.hasEnded },
  });
  stream.close();
  return [
    none(`tokens admitted or refused wrongly behind the follower, of ${expected.length}`, wrong),
    figure('Unleash itself refuses a deleted token after', `${times.server.toFixed(0)} ms`),
    atMost('then the follower refuses the client token after', times.client, 20_000),
    atMost('then the stream of the client token ends after', times.stream, 20_000),
    atMost('then the follower refuses the frontend token after', times.frontend, 20_000),
  ];
}

interface DeletedToken {
  readonly secret: string;
  readonly isRefused: () => boolean | Promise<boolean>;
}

/** Deletes the tokens. The times are after Unleash itself refuses them, which takes newer releases up to a minute. */
async function timesOfDeletion(
  server: UnleashServer,
  tokens: Readonly<Record<'client' | 'frontend' | 'stream', DeletedToken>>,
) {
  for (const secret of new Set(Object.values(tokens).map((token) => token.secret))) await server.deleteToken(secret);
  const start = performance.now();
  const timeOf = async (isTrue: () => boolean | Promise<boolean>) => {
    await until(isTrue, 120_000);
    return performance.now() - start;
  };
  const isGone = async () => (await statusOf(server.url + CLIENT_ROUTE, tokens.client.secret)) === 401;
  const [atServer, client, frontend, stream] = await Promise.all([
    timeOf(isGone),
    timeOf(tokens.client.isRefused),
    timeOf(tokens.frontend.isRefused),
    timeOf(tokens.stream.isRefused),
  ]);
  const after = (time: number) => Math.max(0, time - atServer);
  return { server: atServer, client: after(client), frontend: after(frontend), stream: after(stream) };
}

async function statusOf(url: string, token: string): Promise<number> {
  const response = await fetch(url, { headers: { authorization: token } });
  await response.arrayBuffer();
  return response.status;
}

async function openStream(url: string, token: string) {
  const controller = new AbortController();
  const headers = { authorization: token, accept: 'text/event-stream' };
  const response = await fetch(`${url}/api/client/streaming`, { headers, signal: controller.signal });
  if (response.status !== 200) throw new Error(`The follower serves no stream: ${response.status}`);
  let hasEnded = false;
  const read = async () => {
    const reader = response.body?.getReader();
    while (reader && !(await reader.read()).done);
  };
  void read()
    .catch(() => undefined)
    .finally(() => {
      hasEnded = true;
    });
  return { hasEnded: () => hasEnded, close: () => controller.abort() };
}
