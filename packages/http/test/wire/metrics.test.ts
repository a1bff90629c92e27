import { memoryUsage } from '@flags/core';
import { faultyUsage } from '@flags/core/testing';
import request from 'supertest';
import { clientReportFromWire } from '../../src/wire/client.js';
import { createHostApp, FLAGS } from '../host-app.js';

const NAMES = ['__proto__', 'constructor', 'hasOwnProperty', 'toString'];

describe('metrics on the wire', () => {
  it('are keyed by any flag name, including names of inherited members', async () => {
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

  it('pass on only members that the engine reads, without null for unknown', () => {
    const report = { appName: 'web', instanceId: null, color: null, unknown: 1, bucket: {} };
    expect(clientReportFromWire(report)).toEqual({ appName: 'web', color: null, bucket: {} });
  });

  it('link to applications by their encoded name', async () => {
    const { app, flags } = await createHostApp();
    const appName = 'my app/ünï?';
    await flags.registerApplication({ appName, strategies: ['default'], started: '2026-01-01T10:00:00Z', interval: 1 });
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
      instances: [{ instanceId: 'default', clientIp: '', lastSeen: expect.any(String), createdAt: expect.any(String) }],
      strategies: [{ appName, strategies: ['default'] }],
      seenToggles: [],
    });
  });
});

describe('when a flag was last seen', () => {
  const NEW = { name: 'checkout', description: 'new', type: 'release' };

  async function seen() {
    const usage = faultyUsage(memoryUsage());
    const { app, flags } = await createHostApp({ flags: { usage } });
    await flags.createFlag({ project: 'default' }, { name: 'checkout' });
    const stop = new Date().toISOString();
    const toggles = { checkout: { yes: 1, no: 0 } };
    await flags.reportMetrics({ appName: 'web', bucket: { start: stop, stop, toggles } });
    return { app, flags, usage, stop };
  }

  it('is in the replies to changes of the flag, and null in events', async () => {
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

  it('takes one read of the usage, after the change; a fault of it leaves the change and null', async () => {
    const { app, flags, usage } = await seen();
    const fault = usage.inject({ method: 'lastSeen', error: new Error('The usage cannot be reached.') });
    const created = await request(app).post(FLAGS).send({ name: 'payments' }).expect(201);
    expect(created.body).toMatchObject({ name: 'payments', lastSeenAt: null });
    expect(fault.strikes()).toBe(1);
    const updated = await request(app).put(`${FLAGS}/checkout`).send(NEW).expect(200);
    expect(updated.body).toMatchObject({ description: 'new', lastSeenAt: null });
    expect(fault.strikes()).toBe(2);
    expect((await flags.listEvents({ limit: 1 })).events).toMatchObject([{ type: 'flag-updated', flag: 'checkout' }]);
  });
});
