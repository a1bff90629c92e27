import request from 'supertest';
import { startLiveServer } from '../client/live-server.js';
import { askRaw } from '../contract/raw-client.js';
import { EXPRESS_VERSIONS } from '../express-versions.js';
import { createHostApp, FLAGS } from '../host-app.js';

const EVENTS = '/api/admin/events';

describe.each(EXPRESS_VERSIONS)('a query, on Express $major', (version) => {
  it.each([
    ['limit=-1', '/limit'],
    ['limit=1.5', '/limit'],
    ['limit=1e2', '/limit'],
    ['limit=', '/limit'],
    ['limit=x', '/limit'],
    ['limit=1001', '/limit'],
    ['limit=1&limit=2', '/limit'],
    ['offset=-1', '/offset'],
    ['offset=99999999999999999999', '/offset'],
    ['type=flag-created', '/type'],
    ['type=constructor', '/type'],
    ['type=feature-created&type=feature-created', '/type'],
    ['from=yesterday', '/from'],
    ['to=2026-02-30', '/to'],
    ['project=a&project=b', '/project'],
  ])('is refused with ?%s, naming %s', async (query, path) => {
    const { app } = await createHostApp({ version });
    for (const place of [EVENTS, `${EVENTS}/checkout`]) {
      const { body } = await request(app).get(`${place}?${query}`).expect(400);
      expect(body).toMatchObject({ name: 'ValidationError', code: 'invalid_input' });
      expect(new Set(body.details.map((detail: { path: string }) => detail.path))).toEqual(new Set([path]));
    }
  });

  it('is refused with one detail per fault', async () => {
    const { app } = await createHostApp({ version });
    const { body } = await request(app).get(`${EVENTS}?limit=x&offset=y&type=z`).expect(400);
    expect(body.details.map(({ path }: { path: string }) => path).sort()).toEqual(['/limit', '/offset', '/type']);
  });

  it.each([
    'limit[a]=1',
    'limit[]=1',
    '__proto__=1',
    '__proto__[x]=1',
    'constructor=x',
    '%E0=1',
    '&&&',
    '=',
    'nothing',
  ])('is served with the undocumented ?%s', async (query) => {
    const { app } = await createHostApp({ version });
    await request(app).get(`${EVENTS}?${query}`).expect(200);
  });

  it('ends where a fragment begins, which clients should not send', async () => {
    const server = await startLiveServer({ version });
    await server.flags.createFlag({ project: 'default' }, { name: 'a' });
    await server.flags.createFlag({ project: 'default' }, { name: 'b' });
    const ask = (path: string) => askRaw(server.port, { method: 'GET', path });
    expect(await ask(`${EVENTS}?limit=1#fragment`)).toMatchObject({ status: 200 });
    expect((await ask(`${FLAGS}?limit=1#&limit=x`)).text).toContain('"name":"a"');
    expect((await ask(`${FLAGS}#?limit=x`)).text).toContain('"name":"b"');
    await server.stop();
  });

  it('selects archived or active flags', async () => {
    const { app, flags } = await createHostApp({ version });
    await flags.createFlag({ project: 'default' }, { name: 'old' });
    await flags.createFlag({ project: 'default' }, { name: 'new' });
    await flags.archiveFlag({ project: 'default', flag: 'old' });
    const names = async (query: string) => {
      const { body } = await request(app).get(`${FLAGS}${query}`).expect(200);
      return body.features.map(({ name }: { name: string }) => name);
    };
    expect(await names('')).toEqual(['new']);
    expect(await names('?archived=false')).toEqual(['new']);
    expect(await names('?archived=true')).toEqual(['old']);
    for (const bad of ['archived=1', 'archived=', 'archived=true&archived=false']) {
      await request(app).get(`${FLAGS}?${bad}`).expect(400);
    }
  });

  it('filters applications by any of the strategies named, and not by an empty name', async () => {
    const { app, flags } = await createHostApp({ version });
    const started = '2026-01-01T10:00:00Z';
    await flags.registerApplication({ appName: 'a', strategies: ['default'], started, interval: 1 });
    await flags.registerApplication({ appName: 'b', strategies: ['userWithId'], started, interval: 1 });
    await flags.registerApplication({ appName: 'c', strategies: [], started, interval: 1 });
    const names = async (query: string) => {
      const { body } = await request(app).get(`/api/admin/metrics/applications${query}`).expect(200);
      return body.applications.map(({ appName }: { appName: string }) => appName);
    };
    expect(await names('')).toEqual(['a', 'b', 'c']);
    expect(await names('?strategyName=')).toEqual(['a', 'b', 'c']);
    expect(await names('?strategyName=default')).toEqual(['a']);
    expect(await names('?strategyName=default&strategyName=userWithId')).toEqual(['a', 'b']);
    expect(await names('?strategyName=&strategyName=userWithId')).toEqual(['b']);
    expect(await names('?strategyName=constructor')).toEqual([]);
  });
});
