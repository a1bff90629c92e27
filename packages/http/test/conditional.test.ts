import request from 'supertest';
import { EXPRESS_VERSIONS } from './express-versions.js';
import { createHostApp, FLAGS } from './host-app.js';

const REPORT = {
  appName: 'web',
  bucket: { start: '2026-01-01T10:00:00Z', stop: '2026-01-01T10:01:00Z', toggles: { checkout: { yes: 1, no: 0 } } },
};

describe.each(EXPRESS_VERSIONS)('caching, on Express $major', (version) => {
  it.each([
    '/api/admin/projects',
    '/api/admin/projects/default',
    '/api/admin/projects/default/users',
    FLAGS,
    `${FLAGS}?archived=true`,
    `${FLAGS}/checkout`,
    '/api/admin/features',
    '/api/admin/features?limit=1',
    '/api/admin/features/checkout/tags',
    '/api/admin/tags',
    '/api/admin/tag-types',
    '/api/admin/environments',
    '/api/admin/projects/default/health-report',
    '/api/admin/archive/features',
    '/api/admin/archive/features/default',
    '/api/admin/metrics/seen-toggles',
    '/api/admin/metrics/feature-toggles',
    '/api/admin/metrics/applications',
    '/api/admin/metrics/applications/web',
    '/api/admin/metrics/seen-apps',
    '/api/admin/events',
    '/api/admin/events/checkout',
    '/api/admin/api-tokens',
    '/api/admin/openapi.json',
  ])('spares the client an unchanged %s', async (path) => {
    const { app, flags } = await createHostApp({ version });
    app.disable('etag');
    await flags.createFlag({ project: 'default' }, { name: 'checkout' });
    await flags.reportMetrics(REPORT);

    const first = await request(app).get(path).expect(200);
    const etag = first.headers.etag ?? '';
    expect(etag).toMatch(/^"[^"]+"$/);

    for (const condition of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const again = await request(app).get(path).set('If-None-Match', condition).expect(304);
      expect(again.text).toBe('');
      expect(again.headers.etag).toBe(etag);
    }
    await request(app).head(path).set('If-None-Match', etag).expect(304);
    await request(app).get(path).set('If-None-Match', '"other"').expect(200, first.text);
  });
});

describe('the ETag of a flag', () => {
  it('changes with lastSeenAt, while If-Match still accepts the older tag', async () => {
    const { app, flags } = await createHostApp();
    await flags.createFlag({ project: 'default' }, { name: 'checkout' });
    const before = await request(app).get(`${FLAGS}/checkout`);
    await flags.reportMetrics(REPORT);
    const after = await request(app)
      .get(`${FLAGS}/checkout`)
      .set('If-None-Match', before.headers.etag ?? '')
      .expect(200);

    expect(after.body.lastSeenAt).toBe('2026-01-01T10:01:00.000Z');
    expect(after.headers.etag).not.toBe(before.headers.etag);
    await request(app)
      .post(`${FLAGS}/checkout/clone`)
      .set('If-Match', before.headers.etag ?? '')
      .send({ name: 'copy' })
      .expect(201);
  });

  it('is in every reply with a flag, and works as If-Match', async () => {
    const { app } = await createHostApp();
    const created = await request(app).post(FLAGS).send({ name: 'checkout' });
    const updated = await request(app)
      .put(`${FLAGS}/checkout`)
      .set('If-Match', created.headers.etag ?? '')
      .send({ name: 'checkout', description: 'new' })
      .expect(200);
    const patched = await request(app)
      .patch(`${FLAGS}/checkout`)
      .set('If-Match', updated.headers.etag ?? '')
      .send([{ op: 'replace', path: '/description', value: 'newer' }])
      .expect(200);
    await request(app)
      .delete(`${FLAGS}/checkout`)
      .set('If-Match', patched.headers.etag ?? '')
      .expect(202);
    const revived = await request(app).post('/api/admin/archive/revive/checkout').expect(200);
    await request(app)
      .put(`${FLAGS}/checkout/variants`)
      .set('If-Match', revived.headers.etag ?? '')
      .send([{ name: 'blue' }])
      .expect(200);
  });
});

describe('If-Match', () => {
  const strategies = `${FLAGS}/checkout/environments/production/strategies`;
  const changes: readonly (readonly ['put' | 'patch' | 'post' | 'delete', string, object])[] = [
    ['put', `${FLAGS}/checkout`, { name: 'checkout', stale: true }],
    ['patch', `${FLAGS}/checkout`, [{ op: 'replace', path: '/stale', value: true }]],
    ['post', `${FLAGS}/checkout/clone`, { name: 'copy' }],
    ['delete', `${FLAGS}/checkout`, {}],
    ['post', strategies, { name: 'default' }],
    ['post', `${FLAGS}/checkout/environments/production/off`, {}],
    ['put', `${FLAGS}/checkout/variants`, [{ name: 'blue' }]],
    ['patch', `${FLAGS}/checkout/variants`, [{ op: 'add', path: '/0', value: { name: 'blue' } }]],
    ['put', '/api/admin/projects/default', { description: 'new' }],
    ['post', '/api/admin/projects/default/users/1/roles/4', {}],
  ];

  it.each(changes)('refuses %s %s of an older or unreadable state, and changes nothing', async (method, path, body) => {
    const { app, flags } = await createHostApp();
    await flags.createFlag({ project: 'default' }, { name: 'checkout' });
    await flags.updateFlag({ project: 'default', flag: 'checkout' }, { description: 'moved on' });
    await flags.updateProject({ project: 'default' }, { description: 'moved on' });
    const { total } = await flags.listEvents();

    for (const condition of ['"1-0"', 'W/"1-0"', '"1-0", "99-0"', 'nonsense', '"nonsense"', '""']) {
      const { body: error } = await request(app)[method](path).set('If-Match', condition).send(body).expect(412);
      expect(error).toMatchObject({ name: 'PreconditionFailedError', code: 'revision_mismatch' });
    }
    expect((await flags.listEvents()).total).toBe(total);
  });

  it.each(changes)('accepts %s %s of the current state', async (method, path, body) => {
    for (const condition of ['"2-0"', 'W/"2-anything"', '"1-0", "2-0"', '*']) {
      const { app, flags } = await createHostApp();
      await flags.createFlag({ project: 'default' }, { name: 'checkout' });
      await flags.updateFlag({ project: 'default', flag: 'checkout' }, { description: 'moved on' });
      await flags.updateProject({ project: 'default' }, { description: 'moved on' });

      const { status } = await request(app)[method](path).set('If-Match', condition).send(body);
      expect([200, 201, 202]).toContain(status);
    }
  });

  it('accepts exactly one of two changes of the same revision', async () => {
    const { app } = await createHostApp();
    const { headers } = await request(app).post(FLAGS).send({ name: 'checkout' });
    const edit = (description: string) =>
      request(app)
        .put(`${FLAGS}/checkout`)
        .set('If-Match', headers.etag ?? '')
        .send({ name: 'checkout', description });

    const statuses = await Promise.all([edit('a'), edit('b')].map(async (answer) => (await answer).status));
    expect(statuses.sort()).toEqual([200, 412]);
  });
});
