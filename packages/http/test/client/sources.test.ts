import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { type Flags, FlagsError, memoryStorage, openFlags } from '@flags/core';
import { issueTicket, verifyTicket } from '@flags/core/integration/http';
import type { Express } from 'express';
import request from 'supertest';
import { until } from '../../../../test/until.js';
import { createFlagsRouter } from '../../../express/src/index.js';
import type { FlagsSource } from '../../src/index.js';
import { EXPRESS_5 } from '../express-versions.js';
import { createHostApp } from '../host-app.js';
import { type EventClient, listen } from './event-client.js';

const VALIDATE = '/edge/validate';
const DEFAULT = { project: 'default' };

describe('the check of tokens for other servers', () => {
  async function host() {
    const { app, flags } = await createHostApp({ router: { auth: 'token' } });
    await flags.createProject({ id: 'shop', name: 'Shop' });
    let tokens = 0;
    const secretOf = async (input: Partial<Parameters<Flags['tokens']['create']>[0]>) => {
      const created = { name: `token-${tokens++}`, kind: 'client', environment: 'production', ...input } as const;
      return (await flags.tokens.create(created)).secret;
    };
    const validate = (secret: string, tokens: readonly string[]) =>
      request(app).post(VALIDATE).set('Authorization', secret).send({ tokens });
    return { app, flags, secretOf, validate };
  }

  it('finds client and frontend tokens within the scope of the caller only', async () => {
    const { flags, secretOf, validate } = await host();
    const own = await secretOf({ projects: ['default', 'shop'] });
    const expiresAt = new Date(Date.now() + 60_000).toISOString();
    const page = await secretOf({ kind: 'frontend', project: 'shop', expiresAt });
    const others = [
      await secretOf({ project: '*' }),
      await secretOf({ project: 'shop', environment: 'development' }),
      await secretOf({ kind: 'admin', environment: '*' }),
      'default:production.invented',
    ];
    const { body, headers } = await validate(own, [...others, page, own]).expect(200);
    expect(body).toEqual({
      tokens: [
        { token: page, type: 'frontend', projects: ['shop'], environment: 'production', expiresAt },
        { token: own, type: 'client', projects: ['default', 'shop'], environment: 'production' },
      ],
    });
    expect(headers['cache-control']).toBe('no-store');
    await validate(page, [own]).expect(403);
    await flags.close();
  });

  it('refuses callers that ask for unknown tokens more than ten times in a second, and nobody else', async () => {
    const { flags, secretOf, validate } = await host();
    const [own, other] = [await secretOf({}), await secretOf({})];
    const flood = await Promise.all(
      Array.from({ length: 100 }, (_, index) => validate(own, [own, `default:production.${index}`])),
    );
    const refused = flood.filter(({ status }) => status === 503);
    expect(refused.length).toBeGreaterThan(0);
    expect(refused[0]).toMatchObject({ body: { code: 'overloaded' }, headers: { 'retry-after': '1' } });
    await validate(own, [own, other]).expect(200);
    await validate(other, ['default:production.invented']).expect(200);
    await flags.close();
  });

  it('leaves all other paths under /edge to the application', async () => {
    const { app, flags } = await createHostApp();
    const { body } = await request(app).post('//edge/validate/').send({ tokens: [] }).expect(200);
    expect(body).toEqual({ tokens: [] });
    const { text, headers } = await request(app).get('/edge/other').expect(404);
    expect(text).toContain('Cannot GET');
    expect(headers['flags-depth']).toBeUndefined();
    await flags.close();
  });
});

describe('an API of a follower', () => {
  let flags: Flags;
  let app: Express;
  let router: ReturnType<typeof createFlagsRouter>;
  let refusal: FlagsError | undefined;
  let depth = 1;
  const ended = new Set<(tokenId?: string) => void>();
  const clients: EventClient[] = [];

  /** The members of an engine that a follower has too. */
  function sourceOf(engine: Flags): FlagsSource {
    return {
      settings: engine.settings,
      closing: engine.closing,
      refresh: () => engine.refresh(),
      configuration: (options) => engine.configuration(options),
      onConfigurationChange: (listener) => engine.onConfigurationChange(listener),
      getVariant: (...input) => engine.getVariant(...input),
      forContext: (...input) => engine.forContext(...input),
      verifyToken: (secret) => engine.verifyToken(secret),
      verifyTokens: (secrets) => engine.verifyTokens(secrets),
      registerApplication: (...input) => engine.registerApplication(...input),
      reportMetrics: (...input) => engine.reportMetrics(...input),
      reportMetricsInBulk: (...input) => engine.reportMetricsInBulk(...input),
      following: {
        get depth() {
          return depth;
        },
        assertServing() {
          if (refusal) throw refusal;
        },
        onTokenEnded(listener) {
          ended.add(listener);
          return () => void ended.delete(listener);
        },
        tickets: {
          issue: (token) => issueTicket(engine, token),
          verify: (ticket) => verifyTicket(engine, ticket),
        },
        lag: 1_500,
      },
    };
  }

  async function clientSecret(name = 'sdk') {
    return flags.tokens.create({ name, kind: 'client', environment: 'production' });
  }

  beforeEach(async () => {
    flags = await openFlags({ storage: memoryStorage() });
    router = createFlagsRouter(sourceOf(flags), { auth: 'token', heartbeatInterval: 50 });
    app = EXPRESS_5.express().use(router);
    refusal = undefined;
    depth = 1;
  });

  afterEach(async () => {
    for (const client of clients.splice(0)) client.leave();
    router.close();
    await flags.close();
  });

  it('repeats the event of a change for browsers, because another follower may have it later', async () => {
    await flags.createFlag(DEFAULT, { name: 'checkout' });
    const { secret } = await clientSecret();
    const server = app.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/ofrep/v1/event-stream`;
    const page = await listen(url, { authorization: secret });
    clients.push(page);
    await until(() => page.messages.length === 1);
    await flags.updateFlag({ ...DEFAULT, flag: 'checkout' }, { impressionData: true });
    await until(() => page.messages.length === 3);
    expect(new Set(page.messages.map(({ data }) => data.type))).toEqual(new Set(['refetchEvaluation']));
    server.close();
  });

  it('serves SDKs: flags, evaluation, reports and tokens', async () => {
    await flags.createFlag(DEFAULT, { name: 'checkout' });
    const { secret } = await clientSecret();
    const send = (method: 'get' | 'post', path: string, body?: object) =>
      request(app)[method](path).set('Authorization', secret).send(body);
    const { body } = await send('get', '/api/client/features').expect(200);
    expect(body.features).toMatchObject([{ name: 'checkout', enabled: false }]);
    await send('post', '/ofrep/v1/evaluate/flags/checkout', { context: {} }).expect(200);
    const timestamp = new Date().toISOString();
    const metric = { appName: 'web', featureName: 'checkout', environment: 'production', timestamp, yes: 3, no: 1 };
    for (const id of ['a', 'a', 'b']) {
      await send('post', '/api/client/metrics/bulk', { metrics: [metric] })
        .set('Idempotency-Key', id)
        .expect(202);
    }
    expect((await flags.usage.count()).lastHour.get('checkout')).toEqual({ yes: 6, no: 2 });
    const long = send('post', '/api/client/metrics/bulk', {}).set('Idempotency-Key', 'x'.repeat(201));
    expect((await long.expect(400)).body.code).toBe('invalid_input');
    expect((await send('post', VALIDATE, { tokens: [secret] }).expect(200)).body.tokens).toHaveLength(1);
  });

  it('has no admin API, and says where it is', async () => {
    for (const path of ['/api/admin/projects', '/api/admin/openapi.json', '/api/admin/session', '/api/admin']) {
      const { body } = await request(app).get(path).expect(404);
      expect(body).toMatchObject({ code: 'not_found', message: expect.stringContaining('follower') });
    }
  });

  it('refuses filters by tag', async () => {
    const { secret } = await clientSecret();
    const { body } = await request(app)
      .get('/api/client/features?tag=simple:x')
      .set('Authorization', secret)
      .expect(400);
    expect(body).toMatchObject({ code: 'invalid_input', details: [{ path: '/tag' }] });
  });

  it('says its depth in every reply, also in refusals; an engine is at depth 0', async () => {
    const { secret } = await clientSecret();
    const depthOf = async (path: string, token: string) =>
      (await request(app).get(path).set('Authorization', token)).headers['flags-depth'];
    expect(await depthOf('/api/client/features', secret)).toBe('1');
    depth = 2;
    expect(await depthOf('/api/client/features', 'unknown')).toBe('2');
    expect(await depthOf('/api/frontend', secret)).toBe('2');
    expect(await depthOf('/api/admin/projects', secret)).toBeUndefined();
    const host = await createHostApp();
    for (const path of ['/api/client/features', '/api/client/nothing']) {
      expect((await request(host.app).get(path)).headers['flags-depth']).toBe('0');
    }
    expect((await request(host.app).post(VALIDATE).send({ tokens: [] })).headers['flags-depth']).toBe('0');
    await host.flags.close();
  });

  async function join(secret: string): Promise<EventClient> {
    const server = app.listen(0, '127.0.0.1');
    await until(() => server.listening);
    const { port } = server.address() as { readonly port: number };
    const client = await listen(`http://127.0.0.1:${port}/api/client/streaming`, { authorization: secret });
    clients.push(client);
    server.close();
    await until(() => client.messages.length > 0);
    return client;
  }

  it('stops serving when it must not serve: requests get 503, and streams end', async () => {
    const { secret } = await clientSecret();
    const client = await join(secret);
    expect(client.headers['flags-depth']).toBe('1');
    refusal = new FlagsError('upstream_unavailable', 'The upstream refuses the token.');
    for (const path of ['/api/client/features', '/api/frontend', '/api/client/streaming']) {
      const { body, headers } = await request(app).get(path).expect(503);
      expect([body.code, headers['retry-after']]).toEqual(['upstream_unavailable', '1']);
    }
    await until(client.hasEnded);
    await request(app).get('/api/admin/projects').expect(404);
  });

  it('ends the streams of a token that has ended, or all of them, at once', async () => {
    router.close();
    router = createFlagsRouter(sourceOf(flags), { auth: 'token' });
    app = EXPRESS_5.express().use(router);
    const [one, other] = [await clientSecret('one'), await clientSecret('other')];
    const [ending, staying] = [await join(one.secret), await join(other.secret)];
    for (const listener of ended) listener(one.token.id);
    await until(ending.hasEnded);
    expect(staying.hasEnded()).toBe(false);
    // Without an id, nobody is served any more.
    for (const listener of ended) listener();
    await until(staying.hasEnded);
    // The router listens only while it has streams.
    await until(() => ended.size === 0);
  });
});
