import { type Flags, memoryStorage, openFlags } from '@flags/core';
import type { FlagsStorage } from '@flags/core/storage';
import type { Express } from 'express';
import request from 'supertest';
import { entityTag, namesTag, parseTagCondition, revisionsIn } from '../src/messages/reply.js';
import { EXPRESS_VERSIONS_IN_LENGTH } from './express-versions.js';
import { createHostApp, FLAGS } from './host-app.js';

describe('conditional requests', () => {
  const REPORT = {
    application: 'web',
    start: '2026-01-01T10:00:00Z',
    stop: '2026-01-01T10:01:00Z',
    counts: { checkout: { yes: 1, no: 0 } },
  };

  describe.each(EXPRESS_VERSIONS_IN_LENGTH)('caching, on Express $major', (version) => {
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
      '/api/admin/consumers',
      '/api/admin/api-tokens',
      '/api/admin/openapi.json',
    ])('returns 304 for an unchanged %s', async (path) => {
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
    it('of a change is that of a GET, with children of another node, and needs no document after the commit', async () => {
      const storage = memoryStorage();
      let reads: string[] = [];
      let readsAfterCommit: readonly string[] = ['none yet'];
      const counting: FlagsStorage = {
        ...storage,
        async get(key) {
          reads.push('get');
          return storage.get(key);
        },
        async list(query) {
          reads.push('list');
          return storage.list(query);
        },
        async commit(given) {
          const result = await storage.commit(given);
          reads = [];
          return result;
        },
      };
      const { app, flags } = await createHostApp({ flags: { storage: counting, pollInterval: 0 } });
      const other = await openFlags({ storage: { ...storage, close: async () => undefined }, pollInterval: 0 });
      for (const name of ['checkout', 'child']) await flags.createFlag({ project: 'default' }, { name });
      await other.addDependency({ project: 'default', flag: 'child' }, { flag: 'checkout' });
      const path = `${FLAGS}/checkout`;
      for (const description of ['Changed after the other node', 'Changed again']) {
        const changed = await request(app).put(path).send({ name: 'checkout', description }).expect(200);
        readsAfterCommit = [...reads];
        const read = await request(app).get(path).expect(200);
        expect([read.body.children, read.headers.etag]).toEqual([['child'], changed.headers.etag]);
      }
      // The first change also followed the other node.
      expect(readsAfterCommit).toEqual([]);
      await other.close();
    });

    it('changes with the children that another node adds and archives', async () => {
      const storage = memoryStorage();
      const { app, flags } = await createHostApp({ flags: { storage, pollInterval: 0 } });
      const other = await openFlags({ storage: { ...storage, close: async () => undefined }, pollInterval: 0 });
      const path = `${FLAGS}/checkout`;
      const project = 'default';
      for (const name of ['checkout', 'child']) await flags.createFlag({ project }, { name });
      const { headers: alone } = await request(app).get(path).expect(200);

      await other.addDependency({ project, flag: 'child' }, { flag: 'checkout' });
      const added = await request(app).get(path).set('If-None-Match', `${alone.etag}`).expect(200);
      expect(added.body.children).toEqual(['child']);
      await request(app).get(path).set('If-None-Match', `${added.headers.etag}`).expect(304);

      await other.archiveFlag({ project, flag: 'child' });
      const archived = await request(app).get(path).set('If-None-Match', `${added.headers.etag}`).expect(200);
      expect(archived.body).not.toHaveProperty('children');
      await other.close();
    });

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

    it.each(changes)(
      'refuses %s %s of an older or unreadable state, and changes nothing',
      async (method, path, body) => {
        const { app, flags } = await createHostApp();
        await flags.createFlag({ project: 'default' }, { name: 'checkout' });
        await flags.updateFlag({ project: 'default', flag: 'checkout' }, { description: 'moved on' });
        await flags.updateProject({ project: 'default' }, { description: 'moved on' });
        const { total } = await flags.events.list();

        for (const condition of ['"1-0"', 'W/"1-0"', '"1-0", "99-0"', 'nonsense', '"nonsense"', '""']) {
          const { body: error } = await request(app)[method](path).set('If-Match', condition).send(body).expect(412);
          expect(error).toMatchObject({ name: 'PreconditionFailedError', code: 'revision_mismatch' });
        }
        expect((await flags.events.list()).total).toBe(total);
      },
    );

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
});

describe('entity tags', () => {
  describe('a condition on entity tags', () => {
    it.each<[string, ReturnType<typeof parseTagCondition>]>([
      ['*', '*'],
      [' * ', '*'],
      ['"a"', ['a']],
      ['W/"a"', ['a']],
      ['"a", W/"b" ,"c"', ['a', 'b', 'c']],
      ['"a",, "b",', ['a', 'b']],
      ['"with, comma"', ['with, comma']],
      ['""', ['']],
      ['', []],
      ['a', []],
      ['"a', []],
      ['"a" "b"', []],
      ['"a", *', []],
      ['w/"a"', []],
      [`${'"a",'.repeat(2000)}"`, []],
    ])('reads %s', (header, condition) => {
      expect(parseTagCondition(header)).toEqual(condition);
    });
  });

  describe('the revisions in If-Match', () => {
    it.each<[string, readonly number[] | undefined]>([
      ['*', undefined],
      ['"7-abc"', [7]],
      ['W/"7-abc"', [7]],
      ['"7"', [7]],
      ['"7-abc", "9-def"', [7, 9]],
      ['"0123456789abcdef0123456789abcdef"', []],
      ['"01234567890123456789012345678901"', []],
      ['"abc"', []],
      ['"-7"', []],
      ['7', []],
      ['', []],
    ])('are read from %s as %s', (header, revisions) => {
      expect(revisionsIn(header)).toEqual(revisions);
    });
  });

  describe('an entity tag', () => {
    it('changes with the body at the same revision', () => {
      expect(entityTag('{}', 3)).not.toBe(entityTag('[]', 3));
      expect(revisionsIn(entityTag('{}', 3))).toEqual([3]);
    });

    it('matches none without a revision', () => {
      expect(revisionsIn(entityTag('{}', undefined))).toEqual([]);
    });

    it('matches itself, its weak form, a list and *', () => {
      const tag = entityTag('{}', 3);
      for (const header of [tag, `W/${tag}`, `"x", ${tag}`, '*']) expect(namesTag(header, tag)).toBe(true);
      for (const header of [undefined, '"x"', '3', tag.slice(1)]) expect(namesTag(header, tag)).toBe(false);
    });
  });
});

describe('entity tags of changes', () => {
  const CHECKOUT = { project: 'default', flag: 'checkout' };
  const PRODUCTION = { ...CHECKOUT, environment: 'production' };
  const FLAG = `${FLAGS}/checkout`;
  const TAGS = '/api/admin/features/checkout/tags';
  const STRATEGIES = `${FLAG}/environments/production/strategies`;

  let app: Express;
  let flags: Flags;
  let strategy: string;

  beforeEach(async () => {
    ({ app, flags } = await createHostApp());
    for (const name of ['checkout', 'parent', 'old']) await flags.createFlag(CHECKOUT, { name });
    ({ id: strategy } = await flags.addStrategy(PRODUCTION, { name: 'default' }));
    await flags.setVariants(CHECKOUT, [{ name: 'blue' }]);
    await flags.addDependency(CHECKOUT, { flag: 'parent' });
    await flags.archiveFlag({ ...CHECKOUT, flag: 'old' });
  });

  afterEach(() => flags.close());

  type Method = 'post' | 'put' | 'patch' | 'delete';
  type Sent = readonly [method: Method, path: string | (() => string), body?: object | undefined, flag?: string];

  /** Every request that changes one flag. */
  const CHANGES: readonly Sent[] = [
    ['post', FLAGS, { name: 'new' }, 'new'],
    ['put', FLAG, { name: 'checkout', description: 'New' }],
    ['patch', FLAG, [{ op: 'replace', path: '/description', value: 'New' }]],
    ['post', `${FLAG}/clone`, { name: 'copy' }, 'copy'],
    ['delete', FLAG],
    ['post', '/api/admin/archive/revive/old', undefined, 'old'],
    ['post', STRATEGIES, { name: 'default' }],
    ['put', () => `${STRATEGIES}/${strategy}`, { name: 'userWithId' }],
    ['patch', () => `${STRATEGIES}/${strategy}`, [{ op: 'replace', path: '/name', value: 'userWithId' }]],
    ['delete', () => `${STRATEGIES}/${strategy}`],
    ['post', `${FLAG}/environments/production/on`],
    ['post', `${FLAG}/environments/production/off`],
    ['put', `${FLAG}/variants`, [{ name: 'green' }]],
    ['patch', `${FLAG}/variants`, [{ op: 'replace', path: '/0/name', value: 'green' }]],
    ['post', `${FLAG}/dependencies`, { feature: 'parent', enabled: false }],
    ['delete', `${FLAG}/dependencies/parent`],
    ['delete', `${FLAG}/dependencies`],
    ['post', TAGS, { type: 'simple', value: 'shop' }],
    ['put', TAGS, { addedTags: [{ value: 'shop' }], removedTags: [] }],
    ['delete', `${TAGS}/simple/shop`],
    ['post', '/api/admin/changes', { changes: [{ op: 'enable', ref: PRODUCTION }] }],
  ];

  it.each(CHANGES.map((sent) => [titleOf(sent), sent] as const))(
    'answers %s with the ETag of a GET of the flag',
    async (_, [method, path, body, flag = 'checkout']) => {
      const sent = request(app)[method](typeof path === 'function' ? path() : path);
      const { headers, status } = await (body === undefined ? sent : sent.send(body));
      expect(status).toBeLessThan(300);
      const shown = await request(app).get(`${FLAGS}/${flag}`).expect(200);
      expect(shown.headers.etag).toMatch(/^"[1-9]\d*-[0-9a-f]+"$/);
      expect(headers.etag).toBe(shown.headers.etag);
    },
  );

  function titleOf([method, path]: Sent): string {
    return `${method} ${typeof path === 'string' ? path : `${STRATEGIES}/:strategyId`}`;
  }

  it('returns the ETag of the flag after the undo of a change of one flag', async () => {
    const { id } = await flags.apply([{ op: 'enable', ref: PRODUCTION }]);
    const { headers } = await request(app).post(`/api/admin/changes/${id}/undo`).expect(200);
    expect(headers.etag).toBe((await request(app).get(FLAG)).headers.etag);
  });

  it('accepts the ETag of each reply as the If-Match of the next change', async () => {
    let tag = (await request(app).get(FLAG)).headers.etag ?? '';
    const steps = [
      () => request(app).post(STRATEGIES).send({ name: 'default' }),
      () => request(app).post(`${FLAG}/environments/production/on`),
      () =>
        request(app)
          .put(`${FLAG}/variants`)
          .send([{ name: 'green' }]),
      () => request(app).delete(`${FLAG}/dependencies`),
      () => request(app).put(FLAG).send({ name: 'checkout', stale: true }),
    ];
    for (const step of steps) {
      const { headers, status } = await step().set('If-Match', tag);
      expect(status).toBe(200);
      expect(headers.etag).not.toBe(tag);
      await step().set('If-Match', tag).expect(412);
      tag = headers.etag ?? '';
    }
  });

  it.each([
    ['that deletes the flag', [{ op: 'deleteFlag', ref: { project: 'default', flag: 'old' } }]],
    [
      'of two flags',
      ['checkout', 'parent'].map((flag) => ({ op: 'updateFlag', ref: { ...CHECKOUT, flag }, input: { stale: true } })),
    ],
    ['of a project', [{ op: 'updateProject', ref: { project: 'default' }, input: { name: 'Ours' } }]],
    ['that changes nothing', [{ op: 'disable', ref: PRODUCTION }]],
  ])('answers a set %s without an ETag', async (_, changes) => {
    const { headers } = await request(app).post('/api/admin/changes').send({ changes }).expect(200);
    expect(headers).not.toHaveProperty('etag');
  });

  it('returns the ETag of the new path after a set that moves a flag', async () => {
    await flags.createProject({ id: 'shop', name: 'Shop' });
    await flags.removeDependencies(CHECKOUT);
    const change = { op: 'moveFlag', ref: CHECKOUT, input: { project: 'shop' } };
    const { headers } = await request(app)
      .post('/api/admin/changes')
      .send({ changes: [change] })
      .expect(200);
    expect(headers.etag).toBe((await request(app).get('/api/admin/projects/shop/features/checkout')).headers.etag);
  });
});
