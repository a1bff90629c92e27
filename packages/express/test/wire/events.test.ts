import { EVENT_TYPES } from '@flags/core';
import request from 'supertest';
import { eventTypeFromWire, eventTypeToWire, WIRE_EVENT_TYPES } from '../../src/wire/event-types.js';
import { createHostApp } from '../host-app.js';

describe('the event log on the wire', () => {
  it('names every type in a way that leads back to it', () => {
    expect(EVENT_TYPES.map((type) => eventTypeFromWire(eventTypeToWire(type)))).toEqual(EVENT_TYPES);
    expect(new Set(WIRE_EVENT_TYPES).size).toBe(EVENT_TYPES.length);
  });

  it('shows what happened, newest first, in the words of the wire', async () => {
    const { app, flags } = await createHostApp({ flags: { now: () => new Date('2026-01-01T10:00:00Z') } });
    const ada = flags.as('Ada');
    const ref = { project: 'default', flag: 'checkout', environment: 'production' };
    await ada.createFlag(ref, { name: 'checkout' });
    const strategy = await ada.addStrategy(ref, { name: 'default' });
    await ada.enable(ref);

    const { body } = await request(app).get('/api/admin/events/checkout?limit=2').expect(200);
    expect(body).toEqual({
      version: 1,
      totalEvents: 3,
      events: [
        {
          id: expect.any(Number),
          type: 'feature-environment-enabled',
          createdAt: '2026-01-01T10:00:00.000Z',
          createdBy: 'Ada',
          project: 'default',
          featureName: 'checkout',
          environment: 'production',
          data: { enabled: true },
          preData: { enabled: false },
        },
        {
          id: expect.any(Number),
          type: 'feature-strategy-add',
          createdAt: '2026-01-01T10:00:00.000Z',
          createdBy: 'Ada',
          project: 'default',
          featureName: 'checkout',
          environment: 'production',
          data: strategy,
          preData: null,
        },
      ],
    });
  });

  it('tells the whole flag before and after a change of its metadata', async () => {
    const { app, flags } = await createHostApp({ flags: { now: () => new Date('2026-01-01T10:00:00Z') } });
    const ref = { project: 'default', flag: 'checkout', environment: 'production' };
    await flags.createFlag(ref, { name: 'checkout', description: 'old' });
    await flags.addStrategy(ref, { name: 'default' });
    const { body: before } = await request(app).get('/api/admin/projects/default/features/checkout').expect(200);
    const { environments: _environments, ...preData } = before;
    const put = request(app).put('/api/admin/projects/default/features/checkout');
    const { body: data } = await put.send({ name: 'checkout', description: 'new' }).expect(200);
    const { body } = await request(app).get('/api/admin/events?type=feature-metadata-updated').expect(200);
    expect(body.events).toMatchObject([{ type: 'feature-metadata-updated' }]);
    expect([body.events[0].data, body.events[0].preData]).toEqual([data, preData]);
  });

  it('is filtered by type, project and time, and paged', async () => {
    let now = new Date('2026-01-01T10:00:00Z');
    const { app, flags } = await createHostApp({ flags: { now: () => now } });
    await flags.createProject({ id: 'shop', name: 'Shop' });
    now = new Date('2026-01-02T10:00:00Z');
    await flags.createFlag({ project: 'shop' }, { name: 'checkout' });
    await flags.createFlag({ project: 'default' }, { name: 'comments' });
    const found = async (query: string) => {
      const { body } = await request(app).get(`/api/admin/events?${query}`).expect(200);
      return [
        body.totalEvents,
        ...body.events.map((event: { type: string; project: string }) => `${event.type} ${event.project}`),
      ];
    };
    expect(await found('type=feature-created')).toEqual([2, 'feature-created default', 'feature-created shop']);
    expect(await found('type=feature-created&limit=1&offset=1')).toEqual([2, 'feature-created shop']);
    expect(await found('project=shop')).toEqual([2, 'feature-created shop', 'project-created shop']);
    expect(await found('project=shop&to=2026-01-01T10:00:00Z')).toEqual([1, 'project-created shop']);
    expect(await found('from=2026-01-02T10:00:00.000Z&limit=0')).toEqual([2]);
    expect(await found('type=project-user-added')).toEqual([0]);
    expect(await found('project=constructor')).toEqual([0]);
  });

  it('calls the parent of a dependency feature, wherever it tells of one', async () => {
    const { app, flags } = await createHostApp();
    const checkout = { project: 'default', flag: 'checkout' };
    for (const name of ['checkout', 'payments']) await flags.createFlag(checkout, { name });
    await flags.addDependency(checkout, { flag: 'payments' });
    await flags.addDependency(checkout, { flag: 'payments', enabled: false });
    await flags.cloneFlag(checkout, { name: 'copy' });
    await flags.removeDependencies(checkout);
    const { body } = await request(app).get('/api/admin/events?limit=4').expect(200);
    const on = { feature: 'payments', enabled: true, variants: [] };
    const off = { ...on, enabled: false };
    expect(body.events).toMatchObject([
      { type: 'feature-dependency-removed', featureName: 'checkout', data: null, preData: off },
      { type: 'feature-created', featureName: 'copy', data: { dependencies: [off] }, preData: null },
      { type: 'feature-dependency-updated', featureName: 'checkout', data: off, preData: on },
      { type: 'feature-dependency-added', featureName: 'checkout', data: on, preData: null },
    ]);
  });

  it('tells of tokens without secret or hash', async () => {
    const { app, flags } = await createHostApp();
    const { token, secret } = await flags.createToken({ name: 'ops', kind: 'admin' });
    const { text, body } = await request(app).get('/api/admin/events?type=api-token-created').expect(200);
    expect(body.events).toMatchObject([{ data: { id: token.id, tokenName: 'ops', type: 'admin' }, preData: null }]);
    expect(text).not.toContain(secret);
    expect(text).not.toContain('hash');
  });
});
