import {
  type Change,
  type DefinedFlag,
  type Definitions,
  type Flags,
  type FlagsStorage,
  memoryStorage,
  openFlags,
} from '@flags/core';
import { dataVersion } from '@flags/core/integration/http';
import type { Express } from 'express';
import request from 'supertest';
import type { Action } from '../../../express/src/index.js';
import { createHostApp } from '../host-app.js';

describe('permissions of planned changes', () => {
  const CHANGES = '/api/admin/changes';
  const MINE = { project: 'mine' };
  const FLAG = { ...MINE, flag: 'checkout' };
  const PRODUCTION = { ...FLAG, environment: 'production' };
  const CONTEXTS = { environment: 'production', contexts: [{ userId: '7' }] };
  /** A segment of the instance, and one of the project. */
  const [EVERYWHERE, OWN] = [1, 2];

  type Rule = (action: Action, project: string | null) => boolean | Promise<boolean>;

  let app: Express;
  let flags: Flags;
  let storage: FlagsStorage;
  let rule: Rule;
  let asked: (readonly [Action, string | null])[];
  let reads: string[];

  beforeEach(async () => {
    rule = () => true;
    asked = [];
    reads = [];
    const memory = memoryStorage();
    storage = {
      ...memory,
      get(key) {
        reads.push(`${key.kind}/${key.id}`);
        return memory.get(key);
      },
    };
    ({ app, flags } = await createHostApp({
      flags: { storage },
      router: {
        auth: () => ({ name: 'Ada' }),
        authorize: (_actor, action, project) => {
          asked.push([action, project]);
          return rule(action, project);
        },
      },
    }));
    for (const id of ['mine', 'other']) await flags.createProject({ id, name: id });
    await flags.createFlag(MINE, { name: 'checkout' });
    const constraints = [{ contextName: 'userId', operator: 'IN', values: ['7'] }] as const;
    await flags.segments.create({ name: 'everywhere', constraints });
    await flags.segments.create({ name: 'own', constraints, project: 'mine' });
  });

  afterEach(() => flags.close());

  const post = (path: string, body: object = {}) => request(app).post(path).send(body);
  const live: readonly Change[] = [
    { op: 'addStrategy', ref: PRODUCTION, input: { name: 'default' } },
    { op: 'enable', ref: PRODUCTION },
  ];

  async function expectForbidden(send: () => request.Test): Promise<void> {
    const before = await dataVersion(flags);
    const { body } = await send().expect(403);
    expect(body.code).toBe('forbidden');
    expect(await dataVersion(flags)).toBe(before);
  }

  describe('a caller without any permission', () => {
    const many = (change: object) => ({ changes: Array(500).fill(change), ...CONTEXTS });

    it.each([
      { op: 'deleteSegment', ref: { segment: EVERYWHERE, project: null } },
      { op: 'updateSegment', ref: { segment: OWN, project: 'mine' }, input: { project: 'other' } },
      { op: 'deleteFlag', ref: { flag: 'checkout' } },
      { op: 'reviveFlag', ref: { flag: 'checkout' } },
      { op: 'reviveFlag', ref: { flag: 'unknown' } },
    ])('is refused by the first check, before a document is read: $op $ref', async (change) => {
      rule = () => false;
      for (const path of [CHANGES, `${CHANGES}/plan`, `${CHANGES}/preview`]) {
        asked = [];
        reads = [];
        await post(path, many(change)).expect(403);
        expect([asked.length, reads]).toEqual([1, []]);
      }
    });
  });

  it('calls authorize once per permission of a request', async () => {
    const change = { op: 'updateFlag', ref: FLAG, input: { description: 'New' } };
    await post(CHANGES, { id: '6f1c1f7e-6d0a-4c57-9b8e-4d5b1f2f7a01', changes: Array(500).fill(change) }).expect(200);
    expect(asked).toEqual([
      ['applyChanges', 'mine'],
      ['updateFlag', 'mine'],
    ]);
  });

  describe('a segment that the caller may not use', () => {
    beforeEach(async () => {
      await flags.apply(live);
    });

    it.each<[string, number, readonly Change[]]>([
      ['the instance', EVERYWHERE, []],
      ['the project', OWN, []],
      [
        'the instance, which the set would move to the project',
        EVERYWHERE,
        [{ op: 'updateSegment', ref: { segment: EVERYWHERE, project: null }, input: { project: 'mine' } }],
      ],
    ])('cannot be probed by a plan or a preview: one of %s', async (_, segment, first) => {
      const project = segment === EVERYWHERE ? null : 'mine';
      const probe: Change = { op: 'addStrategy', ref: PRODUCTION, input: { name: 'default', segments: [segment] } };
      rule = (action, place) => action !== 'useSegment' || place !== project;
      for (const path of [`${CHANGES}/plan`, `${CHANGES}/preview`, CHANGES]) {
        await expectForbidden(() => post(path, { changes: [...first, probe], ...CONTEXTS }));
      }
      rule = () => true;
      const { body } = await post(`${CHANGES}/preview`, { changes: [...first, probe], ...CONTEXTS }).expect(200);
      expect(body.flags).toHaveLength(1);
    });

    it('stays in a strategy that already uses it, and in a clone of the flag', async () => {
      const { id: strategy } = await flags.addStrategy(PRODUCTION, { name: 'default', segments: [EVERYWHERE] });
      rule = (action) => action !== 'useSegment';
      const changes = [
        { op: 'updateStrategy', ref: { ...PRODUCTION, strategy }, input: { segments: [EVERYWHERE], title: 'New' } },
        { op: 'cloneFlag', ref: FLAG, input: { name: 'copy' } },
      ];
      await post(`${CHANGES}/preview`, { changes, ...CONTEXTS }).expect(200);
      await post(CHANGES, { changes }).expect(200);
    });

    it('is not restored by an undo', async () => {
      const { id: strategy } = await flags.addStrategy(PRODUCTION, { name: 'default', segments: [EVERYWHERE] });
      const { id } = await flags.apply([{ op: 'removeStrategy', ref: { ...PRODUCTION, strategy } }]);
      rule = (action) => action !== 'useSegment';
      await expectForbidden(() => post(`${CHANGES}/${id}/undo`));
    });
  });

  describe('an undo that switches a flag on', () => {
    const mayNotEnable: Rule = (action) => action !== 'enable';
    const archive: Change = { op: 'archiveFlag', ref: FLAG };

    it.each<[string, readonly Change[]]>([
      ['an archive', [archive]],
      ['a deletion', [archive, { op: 'deleteFlag', ref: { flag: 'checkout' } }]],
      ['a switch', [{ op: 'disable', ref: PRODUCTION }]],
    ])('needs the permission to enable after %s', async (_, changes) => {
      await flags.apply(live);
      const { id } = await flags.apply(changes);
      rule = mayNotEnable;
      await expectForbidden(() => post(`${CHANGES}/${id}/undo`));
      rule = () => true;
      await post(`${CHANGES}/${id}/undo`).expect(200);
      expect(flags.isEnabled('checkout')).toBe(true);
    });

    it('does not need it if the flag is off afterwards', async () => {
      for (const changes of [[archive], [{ op: 'deleteFlag', ref: { flag: 'checkout' } } as const]]) {
        const { id } = await flags.apply(changes);
        rule = mayNotEnable;
        await post(`${CHANGES}/${id}/undo`).expect(200);
        rule = () => true;
        await flags.apply([archive]);
      }
    });

    it('needs the permissions of the project where the flag is now', async () => {
      const { id } = await flags.apply([{ op: 'updateFlag', ref: FLAG, input: { description: 'New' } }]);
      await flags.apply([{ op: 'moveFlag', ref: FLAG, input: { project: 'other' } }]);
      for (const refused of ['undoChange', 'updateFlag']) {
        rule = (action, project) => action !== refused || project !== 'other';
        await expectForbidden(() => post(`${CHANGES}/${id}/undo`));
      }
    });
  });

  it('does not need the permission to disable when it removes the last strategy of an enabled environment', async () => {
    await flags.apply(live);
    const [strategy] = (await flags.getFlag(FLAG)).environments.flatMap(({ strategies }) => strategies);
    rule = (action) => action !== 'disable';
    const changes = [{ op: 'removeStrategy', ref: { ...PRODUCTION, strategy: strategy?.id } }];
    await post(CHANGES, { changes }).expect(200);
  });

  describe('a document that moves while the host is asked', () => {
    let other: Flags;

    beforeEach(async () => {
      other = await openFlags({ storage: { ...storage, close: () => undefined }, pollInterval: 0 });
    });

    afterEach(() => other.close());

    const use = (segment: number): Change => ({
      op: 'addStrategy',
      ref: PRODUCTION,
      input: { name: 'default', segments: [segment] },
    });

    it('is checked again, and nothing is written without the new permission', async () => {
      let isMoved = false;
      rule = async (action, project) => {
        if (action === 'useSegment' && !isMoved) {
          isMoved = true;
          await other.segments.update({ segment: EVERYWHERE }, { project: 'mine' });
        }
        return action !== 'useSegment' || project === null;
      };
      await post(CHANGES, { changes: [use(EVERYWHERE)] }).expect(403);
      expect(asked.filter(([action]) => action === 'useSegment')).toEqual([
        ['useSegment', null],
        ['useSegment', 'mine'],
      ]);
      expect((await flags.getFlag(FLAG)).revision).toBe(1);
    });

    it('is refused in an undo, if it has moved to a project that the caller may not change', async () => {
      const { id } = await flags.apply([{ op: 'updateFlag', ref: FLAG, input: { description: 'New' } }]);
      rule = async (action, project) => {
        if (action === 'updateFlag' && project === 'mine') {
          await other.apply([{ op: 'moveFlag', ref: FLAG, input: { project: 'other' } }]);
        }
        return project !== 'other';
      };
      await post(`${CHANGES}/${id}/undo`).expect(403);
      expect(await flags.getFlag({ project: 'other', flag: 'checkout' })).toMatchObject({ description: 'New' });
    });

    it('is located where another process has just created it', async () => {
      await other.createFlag({ project: 'other' }, { name: 'young' });
      await other.archiveFlag({ project: 'other', flag: 'young' });
      rule = (_action, project) => project === 'other';
      await post(CHANGES, { changes: [{ op: 'reviveFlag', ref: { project: 'other', flag: 'young' } }] }).expect(200);
    });
  });
});

describe('definitions', () => {
  type Rule = (action: Action, project: string | null) => boolean;

  let app: Express;
  let flags: Flags;
  let rule: Rule;

  beforeEach(async () => {
    rule = () => true;
    ({ app, flags } = await createHostApp({
      router: { auth: () => ({ name: 'Ada' }), authorize: (_actor, action, project) => rule(action, project) },
    }));
    for (const id of ['mine', 'other']) await flags.createProject({ id, name: id });
    await flags.createFlag({ project: 'mine' }, { name: 'checkout' });
    await flags.createFlag({ project: 'other' }, { name: 'hidden', description: 'secret' });
    await flags.segments.create({ name: 'everywhere', constraints: [] });
    await flags.segments.create({ name: 'theirs', constraints: [], project: 'other' });
  });

  const onlyMine: Rule = (_action, project) => project === 'mine';

  function importing(definitions: Omit<Definitions, 'version'>, rest = {}) {
    return request(app)
      .post('/api/admin/import')
      .send({ definitions: { version: 1, ...definitions }, ...rest });
  }

  const checkout = (rest: Partial<DefinedFlag>): Omit<Definitions, 'version'> => ({
    flags: [{ name: 'checkout', project: 'mine', ...rest }],
  });

  it('exports the projects of the caller only', async () => {
    rule = onlyMine;
    const { body } = await request(app).get('/api/admin/export').expect(200);
    expect(body).toMatchObject({ projects: [{ id: 'mine' }], segments: [], flags: [{ name: 'checkout' }] });
    await request(app).get('/api/admin/export?project=other').expect(403);
    rule = () => false;
    await request(app).get('/api/admin/export').expect(403);
  });

  it('imports into the projects of the caller only', async () => {
    rule = onlyMine;
    await importing(checkout({ stale: true })).expect(200);
    const refused: readonly Omit<Definitions, 'version'>[] = [
      { flags: [{ name: 'new', project: 'other' }] },
      { flags: [{ name: 'hidden', stale: true }] },
      { flags: [{ name: 'hidden', project: 'mine' }] },
      { ...checkout({}), segments: [{ name: 'theirs', project: 'mine' }] },
      { ...checkout({}), segments: [{ name: 'everywhere', description: 'Changed' }] },
      { ...checkout({}), projects: [{ id: 'tools' }] },
      { segments: [], flags: [] },
    ];
    for (const definitions of refused) {
      for (const dryRun of [true, false]) {
        const { status, text } = await importing(definitions, { dryRun });
        expect([status, text.includes('secret')]).toEqual([403, false]);
      }
    }
    expect(await flags.getFlag({ project: 'other', flag: 'hidden' })).toMatchObject({ revision: 1 });
  });

  it.each<[Action, Partial<DefinedFlag>]>([
    ['updateFlag', { stale: true }],
    ['archiveFlag', { archived: true }],
    ['setVariants', { variants: [{ name: 'red' }] }],
    ['addStrategy', { environments: { production: { strategies: [{ name: 'default' }] } } }],
    ['enable', { environments: { production: { enabled: true, strategies: [{ name: 'default' }] } } }],
    ['useSegment', { environments: { production: { strategies: [{ name: 'default', segments: ['everywhere'] }] } } }],
  ])('checks %s, for an existing flag and for a new one', async (refused, rest) => {
    rule = (action) => action !== refused;
    await importing(checkout(rest)).expect(403);
    await importing(checkout({ ...rest, name: 'new' })).expect(403);
    await importing(checkout(rest), { dryRun: true }).expect(refused === 'useSegment' ? 403 : 200);
    rule = () => true;
    await importing(checkout({ ...rest, name: 'new' })).expect(200);
  });

  it('does not need a permission in a project that it creates', async () => {
    rule = (_action, project) => project === null;
    await importing({ projects: [{ id: 'tools' }], flags: [{ name: 'drill', project: 'tools' }] }).expect(200);
    rule = (action, project) => project === null && action !== 'createProject';
    await importing({ projects: [{ id: 'garden' }] }).expect(403);
  });
});

describe('the playground of the past', () => {
  const CHECKOUT = { project: 'default', flag: 'checkout' };
  const PRODUCTION = { ...CHECKOUT, environment: 'production' };
  const START = Date.parse('2026-01-01T00:00:00Z');

  let app: Express;
  let flags: Flags;
  let minute = 0;

  /** The time of the minute, ISO 8601. */
  const at = (minutes: number) => new Date(START + minutes * 60_000).toISOString();

  beforeEach(async () => {
    minute = 0;
    ({ app, flags } = await createHostApp({ flags: { now: () => new Date(at(minute)) } }));
  });
  afterEach(() => flags.close());

  /** Requests the explanations at a time, of all flags unless one is named. */
  async function explain(asOf: string, more: object = {}) {
    const body = { environment: 'production', context: { userId: '7' }, asOf, ...more };
    const answer = await request(app).post('/api/admin/playground').send(body).expect(200);
    return {
      next: answer.body.next,
      features: answer.body.features.map(({ name, reason }: { name: string; reason: string }) => [name, reason]),
    };
  }

  it('explains all flags by their state at that time, archived ones too', async () => {
    await flags.createFlag(CHECKOUT, { name: 'checkout' });
    await flags.addStrategy(PRODUCTION, { name: 'default' });
    minute = 1;
    await flags.enable(PRODUCTION);
    minute = 2;
    await flags.createFlag(CHECKOUT, { name: 'a-later-flag' });
    await flags.archiveFlag(CHECKOUT);
    expect(await explain(at(0))).toEqual({ features: [['checkout', 'disabled']] });
    expect(await explain(at(1))).toEqual({ features: [['checkout', 'strategy']] });
    expect(await explain(at(1), { flag: 'checkout' })).toEqual({ features: [['checkout', 'strategy']] });
    expect(await explain(at(1), { flag: 'a-later-flag' })).toEqual({ features: [] });
    expect(await explain(at(2))).toEqual({ features: [['a-later-flag', 'disabled']] });
  });

  it('ends a reply after 100 flags, and continues from there', async () => {
    const names = Array.from({ length: 101 }, (_, index) => `flag-${String(index).padStart(3, '0')}`);
    await flags.apply(names.map((name) => ({ op: 'createFlag', ref: { project: 'default' }, input: { name } })));
    const first = await explain(at(0));
    expect(first.features).toHaveLength(100);
    expect(first.next).toBe('flag-100');
    expect(await explain(at(0), { from: first.next })).toEqual({ features: [['flag-100', 'disabled']] });
  });
});

describe('X-Change-Reason', () => {
  const FEATURES = '/api/admin/projects/default/features';

  it.each<[string, (app: Express) => request.Test]>([
    ['a new flag', (app) => request(app).post(FEATURES).send({ name: 'checkout' })],
    ['a new project', (app) => request(app).post('/api/admin/projects').send({ id: 'shop', name: 'Shop' })],
    ['a new segment', (app) => request(app).post('/api/admin/segments').send({ name: 'eu', constraints: [] })],
    ['a new token', (app) => request(app).post('/api/admin/api-tokens').send({ username: 'a', type: 'admin' })],
    ['a member', (app) => request(app).post('/api/admin/projects/default/users/7/roles/5')],
    [
      'a change set',
      (app) =>
        request(app)
          .post('/api/admin/changes')
          .send({ changes: [{ op: 'createFlag', ref: { project: 'default' }, input: { name: 'a' } }] }),
    ],
  ])('is the reason of %s', async (_what, ask) => {
    const { app, flags } = await createHostApp();
    const { status } = await ask(app).set('X-Change-Reason', encodeURIComponent('Für den Start'));
    expect(status).toBeLessThan(300);
    const { items } = await flags.events.list({ limit: 1 });
    expect(items[0]?.reason).toBe('Für den Start');
  });

  it('is ignored if the body has a reason', async () => {
    const { app, flags } = await createHostApp();
    const changes = [{ op: 'createFlag', ref: { project: 'default' }, input: { name: 'a' } }];
    await request(app).post('/api/admin/changes').set('X-Change-Reason', 'header').send({ changes, reason: 'body' });
    const { items } = await flags.events.list({ limit: 1 });
    expect(items[0]?.reason).toBe('body');
  });

  it.each([['%E0%A4%A'], ['x'.repeat(1_001)]])(
    'is refused when it is not percent-encoded or too long: %.10s',
    async (reason) => {
      const { app, flags } = await createHostApp();
      const { status, body } = await request(app)
        .post(FEATURES)
        .set('X-Change-Reason', reason)
        .send({ name: 'checkout' });
      expect([status, body.code]).toEqual([400, 'invalid_input']);
      expect(flags.projectOf({ flag: 'checkout' })).toBeUndefined();
    },
  );
});
