import { type Flags, memoryStorage } from '@flags/core';
import request from 'supertest';
import { createHostApp } from '../host-app.js';

const NOW = Date.now();
const PROJECT = { project: 'default' };

/** A host with a flag in each of two projects, and a token of either kind for the project `default`. */
async function host() {
  const { app, flags } = await createHostApp({ router: { auth: 'token' }, flags: { storage: memoryStorage() } });
  await flags.createProject({ id: 'shop', name: 'Shop' });
  await flags.createFlag(PROJECT, { name: 'mine' });
  await flags.createFlag({ project: 'shop' }, { name: 'theirs' });
  const tokenOf = (kind: 'client' | 'frontend', project: string) =>
    flags.createToken({ name: `${kind} ${project}`, kind, project, environment: 'production' });
  return { app, flags, tokenOf };
}

function metrics(...names: readonly string[]) {
  const toggles = Object.fromEntries(names.map((name) => [name, { yes: 1, no: 0 }]));
  return { appName: 'web', bucket: { start: NOW - 1000, stop: NOW, toggles } };
}

async function countedIn(flags: Flags): Promise<readonly string[]> {
  return [...(await flags.countEvaluations()).lastHour.keys()];
}

describe('reports with a token for one project', () => {
  it.each([
    ['client', '/api/client/metrics', 202],
    ['frontend', '/api/frontend/client/metrics', 200],
  ] as const)('count flags of that project alone: %s', async (kind, path, status) => {
    const { app, flags, tokenOf } = await host();
    const { secret } = await tokenOf(kind, 'default');
    const body = metrics('mine', 'theirs', 'typo');
    await request(app).post(path).set('Authorization', secret).send(body).expect(status, '');
    expect(await countedIn(flags)).toEqual(['mine', 'typo']);
    expect(await flags.getFlag({ project: 'shop', flag: 'theirs' })).toMatchObject({ lastSeenAt: null });
    expect((await flags.getApplication({ application: 'web' })).seenFlags).toEqual(['mine', 'typo']);
    expect(flags.status().dropped).toEqual({ names: 1, reports: 0 });
    await flags.close();
  });

  it('in bulk too', async () => {
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
  it('have at most 64 KiB, and may tell times as epoch milliseconds', async () => {
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
    expect((await flags.getApplication({ application: 'web' })).strategies).toHaveLength(600);
    await flags.close();
  });
});

describe('long answers of metrics', () => {
  it('are the whole lists, by flag and by application', async () => {
    const { app, flags } = await createHostApp({ flags: { storage: memoryStorage() } });
    const strategies = Array.from({ length: 100 }, (_, index) => `${index}`.padEnd(90, 'x'));
    for (let index = 0; index < 150; index++) {
      const appName = `app-${1000 + index}`;
      await flags.registerApplication({ appName, strategies, started: NOW, interval: 0 });
      await flags.reportMetrics({ ...metrics('a', '__proto__', 'c'), appName });
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
