import { type Flags, memoryStorage } from '@flags/core';
import request from 'supertest';
import { memoryUsage } from '../../../core/src/storage/memory/usage.js';
import { faultyUsage, withUsage } from '../../../core/test/usage/faulty-usage.js';
import { registrationFromWire, reportFromWire } from '../../src/features/environments/wire.js';
import { createHostApp, FLAGS } from '../host-app.js';

describe('reports', () => {
  const NOW = Date.now();
  const PROJECT = { project: 'default' };

  /** A host with a flag in each of two projects, and a token of either kind for the project `default`. */
  async function host() {
    const { app, flags } = await createHostApp({ router: { auth: 'token' }, flags: { storage: memoryStorage() } });
    await flags.createProject({ id: 'shop', name: 'Shop' });
    await flags.createFlag(PROJECT, { name: 'mine' });
    await flags.createFlag({ project: 'shop' }, { name: 'theirs' });
    const tokenOf = (kind: 'client' | 'frontend', project: string) =>
      flags.tokens.create({ name: `${kind} ${project}`, kind, project, environment: 'production' });
    return { app, flags, tokenOf };
  }

  function metrics(...names: readonly string[]) {
    const toggles = Object.fromEntries(names.map((name) => [name, { yes: 1, no: 0 }]));
    return { appName: 'web', bucket: { start: NOW - 1000, stop: NOW, toggles } };
  }

  async function countedIn(flags: Flags): Promise<readonly string[]> {
    return [...(await flags.usage.count()).lastHour.keys()];
  }

  describe('reports with a token for one project', () => {
    it.each([
      ['client', '/api/client/metrics', 202],
      ['frontend', '/api/frontend/client/metrics', 200],
    ] as const)('count flags of that project only: %s', async (kind, path, status) => {
      const { app, flags, tokenOf } = await host();
      const { secret } = await tokenOf(kind, 'default');
      const body = metrics('mine', 'theirs', 'typo');
      await request(app).post(path).set('Authorization', secret).send(body).expect(status, '');
      expect(await countedIn(flags)).toEqual(['mine', 'typo']);
      expect(await flags.getFlag({ project: 'shop', flag: 'theirs' })).toMatchObject({ lastSeenAt: null });
      expect((await flags.applications.get({ application: 'web' })).seenFlags).toEqual(['mine', 'typo']);
      expect(flags.status().dropped).toEqual({ names: 1, reports: 0 });
      await flags.close();
    });

    it('count flags of that project only, also in bulk', async () => {
      const { app, flags, tokenOf } = await host();
      const { secret } = await tokenOf('client', 'default');
      const metric = { appName: 'web', timestamp: NOW, yes: 1, no: 0 };
      const body = { metrics: ['mine', 'theirs'].map((featureName) => ({ ...metric, featureName })) };
      await request(app).post('/api/client/metrics/bulk').set('Authorization', secret).send(body).expect(202);
      expect(await countedIn(flags)).toEqual(['mine']);
      await flags.close();
    });

    it('count flags of every project with a token for all', async () => {
      const { app, flags, tokenOf } = await host();
      const { secret } = await tokenOf('client', '*');
      const body = metrics('mine', 'theirs');
      await request(app).post('/api/client/metrics').set('Authorization', secret).send(body).expect(202);
      expect(await countedIn(flags)).toEqual(['mine', 'theirs']);
      await flags.close();
    });
  });

  describe('registrations', () => {
    it('have at most 64 KiB, and accept times as epoch milliseconds', async () => {
      const { app, flags, tokenOf } = await host();
      const { secret } = await tokenOf('frontend', '*');
      const register = (count: number) =>
        request(app)
          .post('/api/frontend/client/register')
          .set('Authorization', secret)
          .send({
            appName: 'web',
            started: NOW,
            interval: 1000,
            strategies: Array.from({ length: count }, (_, index) => `${index}`.padEnd(99, 'x')),
          });
      await register(600).expect(200, '');
      const { body } = await register(700).expect(400);
      expect(body).toMatchObject({ code: 'invalid_input', message: expect.stringContaining('65536 bytes') });
      expect((await flags.applications.get({ application: 'web' })).strategies).toHaveLength(600);
      await flags.close();
    });
  });

  describe('long answers of metrics', () => {
    it('are complete lists, by flag and by application', async () => {
      const { app, flags } = await createHostApp({ flags: { storage: memoryStorage() } });
      const strategies = Array.from({ length: 100 }, (_, index) => `${index}`.padEnd(90, 'x'));
      for (let index = 0; index < 150; index++) {
        const application = `app-${1000 + index}`;
        await flags.registerApplication({ application, strategies });
        await flags.reportMetrics(reportFromWire({ ...metrics('a', '__proto__', 'c'), appName: application }));
      }
      const get = async (path: string) => JSON.parse((await request(app).get(`/api/admin/metrics/${path}`)).text);
      const byFlag = await get('seen-apps');
      expect(Object.keys(byFlag)).toEqual(['__proto__', 'a', 'c']);
      for (const applications of Object.values<{ appName: string; strategies: string[] }[]>(byFlag)) {
        expect(applications.map(({ appName }) => appName)).toEqual(
          Array.from({ length: 150 }, (_, at) => `app-${1000 + at}`),
        );
        expect(applications[149]?.strategies).toEqual(strategies);
      }
      expect((await get('applications')).applications).toHaveLength(150);
      expect(await get('seen-toggles')).toHaveLength(150);
      await flags.close();
    });
  });

  describe('applications that a token invents', () => {
    const REGISTRATION = { strategies: [], started: NOW, interval: 60_000 };
    const PATHS = { client: '/api/client', frontend: '/api/frontend/client' } as const;

    async function register(app: HostOfTokens, { token, path, names }: Registered): Promise<void> {
      for (const appName of names) {
        const sent = request(app)
          .post(`${path}/register`)
          .send({ ...REGISTRATION, appName });
        await (token === undefined ? sent : sent.set('Authorization', token)).expect(path === PATHS.client ? 202 : 200);
      }
    }

    const namesOf = (prefix: string, count: number) =>
      Array.from({ length: count }, (_, index) => `${prefix}-${index}`);

    it('are stored up to the limit of the token: 100 of a frontend token, 1,000 of another', async () => {
      const { app, flags, tokenOf } = await host();
      const [page, server] = [await tokenOf('frontend', '*'), await tokenOf('client', '*')];
      await register(app, { token: page.secret, path: PATHS.frontend, names: namesOf('page', 105) });
      expect((await flags.applications.list()).items).toHaveLength(100);
      const applications = namesOf('server', 1000).map((appName) => ({ ...REGISTRATION, appName }));
      const bulk = request(app).post('/api/client/metrics/bulk').set('Authorization', server.secret);
      await bulk.send({ applications }).expect(202);
      await register(app, { token: server.secret, path: PATHS.client, names: ['another'] });
      const body = { ...metrics('mine'), appName: 'page-104' };
      const report = request(app).post('/api/frontend/client/metrics').set('Authorization', page.secret);
      await report.send(body).expect(200);
      expect((await flags.applications.list()).items).toHaveLength(1100);
      expect(flags.status().dropped).toMatchObject({ reports: 7 });
      expect(await countedIn(flags)).toEqual(['mine']);
      await flags.close();
    });

    it('displace nobody: above 10,000, a further one is counted and not stored', async () => {
      const { app, flags, tokenOf } = await host();
      const [page, server] = [await tokenOf('frontend', '*'), await tokenOf('client', '*')];
      await register(app, { token: page.secret, path: PATHS.frontend, names: namesOf('invented', 100) });
      for (let part = 0; part < 10; part++) {
        const reports = namesOf(`known-${part}`, 990).map((appName) => ({ ...metrics('theirs'), appName }));
        await flags.reportMetricsInBulk({ reports: reports.map(reportFromWire) });
      }
      await register(app, { token: server.secret, path: PATHS.client, names: ['honest', 'invented-1'] });
      const report = request(app).post('/api/client/metrics').set('Authorization', server.secret);
      await report.send({ ...metrics('mine'), appName: 'honest' }).expect(202);
      await expect(flags.applications.get({ application: 'honest' })).rejects.toMatchObject({
        code: 'application_not_found',
      });
      for (const application of namesOf('invented', 100)) await flags.applications.get({ application });
      expect(flags.status().dropped).toMatchObject({ reports: 2 });
      expect(await countedIn(flags)).toContain('mine');
      await flags.close();
    });

    it('have one limit for all browsers, and none for servers, without authentication', async () => {
      const { app, flags } = await createHostApp({ router: { auth: 'none' }, flags: { storage: memoryStorage() } });
      const register101 = (path: string, prefix: string) => register(app, { path, names: namesOf(prefix, 101) });
      await register101(PATHS.frontend, 'page');
      await register101(PATHS.client, 'server');
      expect((await flags.applications.list()).items).toHaveLength(201);
      await flags.close();
    });
  });

  type HostOfTokens = Awaited<ReturnType<typeof host>>['app'];

  interface Registered {
    readonly token?: string;
    readonly path: string;
    readonly names: readonly string[];
  }
});

describe('a bulk report of a proxy', () => {
  const timestamp = new Date().toISOString();
  const BULK = {
    applications: [{ appName: 'web', strategies: ['default'] }, { appName: 'shop' }],
    metrics: ['web', 'shop'].map((appName) => ({ appName, featureName: 'checkout', timestamp, yes: 1, no: 0 })),
  };

  async function host() {
    const usage = faultyUsage(memoryUsage());
    const { app, flags } = await createHostApp({ flags: { storage: withUsage(memoryStorage(), usage) } });
    const send = async () => (await request(app).post('/api/client/metrics/bulk').send(BULK)).status;
    return { usage, flags, send };
  }

  it('is counted once when it is repeated after a storage failure in any call', async () => {
    const { usage, flags, send } = await host();
    // Its second write would be the middle of it.
    const fault = usage.inject({ method: 'record', nth: 2 });
    expect(await send()).toBe(202);
    expect(fault.strikes()).toBe(0);
    expect(await send()).toBe(503);
    expect((await flags.usage.count()).lastHour.get('checkout')).toEqual({ yes: 2, no: 0 });
    expect(await send()).toBe(202);
    expect((await flags.usage.count()).lastHour.get('checkout')).toEqual({ yes: 4, no: 0 });
    expect((await flags.applications.list()).items).toMatchObject([{ name: 'shop' }, { strategies: ['default'] }]);
    await flags.close();
  });
});

describe('metrics on the wire', () => {
  const NAMES = ['__proto__', 'constructor', 'hasOwnProperty', 'toString'];
  const REGISTRATION = { appName: 'web', strategies: ['default'], started: '2026-03-01', interval: 10_000 };
  const HOUR = { start: '2026-03-01T12:00:00Z', stop: '2026-03-01T13:00:00Z' };
  const report = (bucket: object) => ({ appName: 'web', bucket });
  const LONG = Array.from({ length: 1000 }, (_, index) => `${index}`.padEnd(70, 'x'));

  describe('metrics on the wire', () => {
    it('can have any flag name as key, including names of inherited members', async () => {
      const { app } = await createHostApp();
      const stop = new Date().toISOString();
      const toggles = `{${NAMES.map((name) => `"${name}":{"yes":1,"no":2}`).join(',')}}`;
      await request(app)
        .post('/api/client/metrics')
        .set('content-type', 'application/json')
        .send(`{"appName":"web","bucket":{"start":"${stop}","stop":"${stop}","toggles":${toggles}}}`)
        .expect(202, '');

      const counts = await request(app).get('/api/admin/metrics/feature-toggles').expect(200);
      expect(Object.entries(counts.body.lastHour)).toEqual(NAMES.map((name) => [name, { yes: 1, no: 2 }]));
      expect(Object.keys(counts.body.lastMinute)).toEqual(NAMES);

      const apps = await request(app).get('/api/admin/metrics/seen-apps').expect(200);
      expect(Object.keys(apps.body)).toEqual(NAMES);

      const seen = await request(app).get('/api/admin/metrics/seen-toggles').expect(200);
      expect(seen.body).toEqual([{ appName: 'web', seenToggles: NAMES, metricsCount: 12 }]);
    });

    it('become the engine’s terms, without null and other members', () => {
      const unknown = { instanceId: null, sdkVersion: null, environment: null, unknown: 1 };
      const registration = {
        ...unknown,
        appName: 'web',
        strategies: ['own'],
        color: null,
        url: '',
        started: 1,
        interval: 1,
      };
      expect(registrationFromWire(registration)).toEqual({
        application: 'web',
        strategies: ['own'],
        color: null,
        url: '',
      });
      const [start, stop, toggles] = ['2026-01-01', 7, { checkout: { yes: 1, no: 0 } }] as const;
      const report = { ...unknown, appName: 'web', instanceId: 'web-1', bucket: { start, stop, toggles, unknown: 1 } };
      expect(reportFromWire(report)).toEqual({ application: 'web', instance: 'web-1', start, stop, counts: toggles });
    });

    it.each<[string, string, object, readonly string[]]>([
      ['an empty registration', 'register', {}, ['/appName', '/strategies', '/started', '/interval']],
      [
        'a registration of wrong types',
        'register',
        { ...REGISTRATION, appName: '', instanceId: 7, interval: -1 },
        ['/appName', '/instanceId', '/interval'],
      ],
      ['a long registration', 'register', { ...REGISTRATION, strategies: LONG }, ['/strategies']],
      ['an empty report', 'metrics', {}, ['/appName', '/bucket']],
      ['a report without times', 'metrics', report({}), ['/bucket/start', '/bucket/stop', '/bucket/toggles']],
      [
        'a report of wrong counts',
        'metrics',
        report({ ...HOUR, toggles: { a: { yes: -1 } } }),
        ['/bucket/toggles/a/no', '/bucket/toggles/a/yes'],
      ],
      [
        'an end before the start',
        'metrics',
        report({ start: HOUR.stop, stop: HOUR.start, toggles: {} }),
        ['/bucket/stop'],
      ],
      [
        'a long registration of a proxy',
        'metrics/bulk',
        { applications: [{ ...REGISTRATION, strategies: LONG }] },
        ['/applications/0/strategies'],
      ],
    ])('are refused by the names of the wire: %s', async (_, path, body, paths) => {
      const { app, flags } = await createHostApp();
      const refused = await request(app).post(`/api/client/${path}`).send(body).expect(400);
      const details: readonly { readonly path: string }[] = refused.body.details;
      expect(details.map((one) => one.path).toSorted()).toEqual(paths.toSorted());
      expect(refused.body.message).toContain(details[0]?.path);
      await flags.close();
    });

    it('link to applications by their encoded name', async () => {
      const { app, flags } = await createHostApp();
      const appName = 'my app/ünï?';
      await flags.registerApplication({ application: appName, strategies: ['default'] });
      const { body } = await request(app).get('/api/admin/metrics/applications').expect(200);
      const encoded = encodeURIComponent(appName);
      expect(body.applications).toEqual([
        {
          appName,
          strategies: ['default'],
          createdAt: expect.any(String),
          links: { appDetails: `/api/admin/applications/${encoded}` },
        },
      ]);
      const detail = await request(app).get(`/api/admin/metrics/applications/${encoded}`).expect(200);
      expect(detail.body).toEqual({
        appName,
        instances: [
          { instanceId: 'default', clientIp: '', lastSeen: expect.any(String), createdAt: expect.any(String) },
        ],
        strategies: [{ appName, strategies: ['default'] }],
        seenToggles: [],
      });
    });
  });

  describe('the lastSeenAt of a flag', () => {
    const NEW = { name: 'checkout', description: 'new', type: 'release' };

    async function seen() {
      const usage = faultyUsage(memoryUsage());
      const { app, flags } = await createHostApp({ flags: { storage: withUsage(memoryStorage(), usage) } });
      await flags.createFlag({ project: 'default' }, { name: 'checkout' });
      const stop = new Date().toISOString();
      const counts = { checkout: { yes: 1, no: 0 } };
      await flags.reportMetrics({ application: 'web', start: stop, stop, counts });
      return { app, flags, usage, stop };
    }

    it('appears in replies to changes of the flag, and is null in events', async () => {
      const { app, flags, stop } = await seen();
      const updated = await request(app).put(`${FLAGS}/checkout`).send(NEW).expect(200);
      const patch = [{ op: 'replace', path: '/owner', value: 'ada' }];
      const patched = await request(app).patch(`${FLAGS}/checkout`).send(patch).expect(200);
      await flags.archiveFlag({ project: 'default', flag: 'checkout' });
      const revived = await request(app).post('/api/admin/archive/revive/checkout').expect(200);
      for (const { body } of [updated, patched, revived]) expect(body.lastSeenAt).toBe(stop);
      const { body } = await request(app).get('/api/admin/events/checkout?type=feature-metadata-updated').expect(200);
      const unseen = { data: { lastSeenAt: null }, preData: { lastSeenAt: null } };
      expect(body.events).toMatchObject([unseen, unseen]);
    });

    it('is read once after the change; if the read fails, the change stays and lastSeenAt is null', async () => {
      const { app, flags, usage } = await seen();
      const fault = usage.inject({ method: 'lastSeen', error: new Error('The usage cannot be reached.') });
      const created = await request(app).post(FLAGS).send({ name: 'payments' }).expect(201);
      expect(created.body).toMatchObject({ name: 'payments', lastSeenAt: null });
      expect(fault.strikes()).toBe(1);
      const updated = await request(app).put(`${FLAGS}/checkout`).send(NEW).expect(200);
      expect(updated.body).toMatchObject({ description: 'new', lastSeenAt: null });
      expect(fault.strikes()).toBe(2);
      expect((await flags.events.list({ limit: 1 })).items).toMatchObject([{ type: 'flag-updated', flag: 'checkout' }]);
    });
  });
});
