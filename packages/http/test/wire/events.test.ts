import { EVENT_TYPES } from '@flags/core';
import request from 'supertest';
import { eventTypeFromWire, eventTypeToWire, WIRE_EVENT_TYPES } from '../../src/routes/events.js';
import { createHostApp } from '../host-app.js';

describe('the event log on the wire', () => {
  it('has a unique name for every type', () => {
    expect(EVENT_TYPES.map((type) => eventTypeFromWire(eventTypeToWire(type)))).toEqual(EVENT_TYPES);
    expect(new Set(WIRE_EVENT_TYPES).size).toBe(EVENT_TYPES.length);
  });

  it('shows every constraint with values, in events and in the playground, as in strategies', async () => {
    const { app, flags } = await createHostApp();
    const ref = { project: 'default', flag: 'checkout', environment: 'production' };
    await flags.createFlag(ref, { name: 'checkout' });
    const constraint = { contextName: 'age', operator: 'NUM_GT', value: '18' } as const;
    await flags.addStrategy(ref, { name: 'default', constraints: [constraint] });
    await flags.enable(ref);
    const { body: log } = await request(app).get('/api/admin/events/checkout?limit=2').expect(200);
    expect(log.events[1].data.constraints).toEqual([{ ...constraint, values: [] }]);
    const question = { environment: 'production', flag: 'checkout', context: {} };
    const { body: playground } = await request(app).post('/api/admin/playground').send(question).expect(200);
    expect(playground.features[0].strategies[0].constraints[0].constraint).toEqual({ ...constraint, values: [] });
  });

  it('lists events, newest first, with wire names', async () => {
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
          createdByTokenId: null,
          createdByTokenType: null,
          changeSet: expect.any(String),
          reason: null,
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
          createdByTokenId: null,
          createdByTokenType: null,
          changeSet: expect.any(String),
          reason: null,
          project: 'default',
          featureName: 'checkout',
          environment: 'production',
          data: strategy,
          preData: null,
        },
      ],
    });
  });

  it('contains the whole flag before and after a change of its metadata', async () => {
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

  it('contains the whole flag after an undo of its metadata', async () => {
    const { app, flags } = await createHostApp();
    const ref = { project: 'default', flag: 'checkout' };
    await flags.createFlag(ref, { name: 'checkout' });
    const { body: checkout } = await request(app).get('/api/admin/projects/default/features/checkout').expect(200);
    const { id } = await flags.apply([{ op: 'updateFlag', ref, input: { description: 'new' } }]);
    await flags.undo(`${id}`);
    const { body } = await request(app).get('/api/admin/events?type=feature-metadata-updated').expect(200);
    const { environments: _environments, ...whole } = checkout;
    const changed = { ...whole, description: 'new' };
    expect(body.events).toMatchObject([
      { data: whole, preData: changed },
      { data: changed, preData: whole },
    ]);
    expect(Object.keys(body.events[0].data)).toEqual(Object.keys(whole));
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

  it('calls the parent of a dependency feature everywhere', async () => {
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

  it('contains tokens without secret or hash', async () => {
    const { app, flags } = await createHostApp();
    const { token, secret } = await flags.createToken({ name: 'ops', kind: 'admin' });
    const { text, body } = await request(app).get('/api/admin/events?type=api-token-created').expect(200);
    expect(body.events).toMatchObject([{ data: { id: token.id, tokenName: 'ops', type: 'admin' }, preData: null }]);
    expect(text).not.toContain(secret);
    expect(text).not.toContain('hash');
  });
});

describe('a page of large events', () => {
  const MIB = 1024 * 1024;

  it('ends at 1 MiB, with a link to the next one, until the end', async () => {
    const { app, flags } = await createHostApp();
    const names = Array.from({ length: 20 }, (_, index) => `flag-${index}`);
    for (const name of names) {
      await flags.createFlag({ project: 'default' }, { name });
      const payload = { type: 'string', value: 'ü'.repeat(150_000) } as const;
      await flags.setVariants({ project: 'default', flag: name }, [{ name: 'large', payload }]);
    }
    const seen: string[] = [];
    let pages = 0;
    for (
      let path: string | undefined = '/api/admin/events?limit=1000&type=feature-variants-updated';
      path !== undefined;
    ) {
      const { text, body, headers } = await request(app).get(path).expect(200);
      expect(Buffer.byteLength(text)).toBeLessThan(MIB);
      expect(body.totalEvents).toBe(20);
      seen.push(...body.events.map(({ featureName }: { featureName: string }) => featureName));
      pages += 1;
      path = nextIn(headers.link);
    }
    expect(seen).toEqual(names.toReversed());
    expect(pages).toBe(7);
  });

  it('has one event at least', async () => {
    const { app, flags } = await createHostApp();
    const ref = { project: 'default', flag: 'checkout' };
    await flags.createFlag(ref, { name: 'checkout' });
    for (const letter of 'xy') {
      const payload = { type: 'string', value: letter.repeat(233_000) } as const;
      await flags.setVariants(
        ref,
        [...'abc'].map((name) => ({ name, payload })),
      );
    }
    const { body, headers } = await request(app).get('/api/admin/events/checkout').expect(200);
    expect(body.events).toHaveLength(1);
    expect(headers.link).toBe('</api/admin/events/checkout?offset=1>; rel="next"');
    expect(headers.etag).toMatch(/^"[^"]+"$/);
    const last = await request(app).get('/api/admin/events/checkout?offset=1').expect(200);
    expect([last.body.events.length, last.headers.link]).toEqual([2, undefined]);
  });

  it('starts at the offset, and is refused with the issue of an invalid one', async () => {
    const { app, flags } = await createHostApp();
    for (const name of ['a', 'b', 'c']) await flags.createFlag({ project: 'default' }, { name });
    const { headers } = await request(app).get('/api/admin/events?limit=1&offset=1&type=feature-created').expect(200);
    expect(headers.link).toBe('</api/admin/events?limit=1&offset=2&type=feature-created>; rel="next"');
    await request(app).get('/api/admin/events?limit=0').expect(200);
    for (const query of ['limit=1001', 'limit=-1', 'limit=x', 'offset=-1', 'offset=1.5', 'limit=1&limit=2']) {
      const { body } = await request(app).get(`/api/admin/events?${query}`).expect(400);
      expect(body.code).toBe('invalid_input');
    }
  });
});

function nextIn(link: string | undefined): string | undefined {
  return /<(.+)>; rel="next"/.exec(link ?? '')?.[1];
}
