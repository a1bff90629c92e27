import { randomUUID } from 'node:crypto';
import type { Change, Flags, StrategyRef } from '@flags/core';
import { CHANGE_OPERATIONS, dataVersion } from '@flags/core/integration/http';
import type { ChangeOperationName } from '@flags/core/types';
import type { Express } from 'express';
import request from 'supertest';
import type { Action } from '../../../express/src/index.js';
import { createHostApp } from '../host-app.js';

const CHANGES = '/api/admin/changes';
const MINE = { project: 'mine' };
const FLAG = { ...MINE, flag: 'checkout' };
const PRODUCTION = { ...FLAG, environment: 'production' };
const GRADUAL = { ...MINE, flag: 'gradual', environment: 'production' };
const STEPS = { steps: [{ percentage: 20, hold: 3_600_000 }, { percentage: 40 }] };
const ARCHIVED = { ...MINE, flag: 'old' };
/** The segments of the instance and of the project. */
const [EVERYWHERE, OWN] = [1, 2];

type Question = readonly [Action, string | null];
type Rule = (action: Action, project: string | null) => boolean;

interface World {
  readonly app: Express;
  readonly flags: Flags;
  readonly asked: Question[];
  readonly allow: (rule: Rule) => void;
  readonly strategy: string;
  /** Strategies with a percentage, by the state of their rollout. */
  readonly gradual: Readonly<Record<'idle' | 'running' | 'paused', StrategyRef>>;
}

let world: World;

beforeEach(async () => {
  const asked: Question[] = [];
  let rule: Rule = () => true;
  const { app, flags } = await createHostApp({
    flags: { due: { run: 'elsewhere' } },
    router: {
      auth: () => ({ name: 'Ada' }),
      authorize: (_actor, action, project) => {
        asked.push([action, project]);
        return rule(action, project);
      },
    },
  });
  for (const id of ['mine', 'other', 'empty']) await flags.createProject({ id, name: id });
  for (const name of ['checkout', 'payments', 'old', 'lonely']) await flags.createFlag(MINE, { name });
  await flags.createFlag({ project: 'other' }, { name: 'hidden' });
  const { id: strategy } = await flags.addStrategy(PRODUCTION, { name: 'default' });
  await flags.createFlag(MINE, { name: 'gradual' });
  const addGradual = async () => {
    const parameters = { rollout: 5, stickiness: 'default', groupId: 'gradual' };
    const { id } = await flags.addStrategy(GRADUAL, { name: 'flexibleRollout', parameters });
    return { ...GRADUAL, strategy: id };
  };
  const gradual = { idle: await addGradual(), running: await addGradual(), paused: await addGradual() };
  await flags.enable(GRADUAL);
  for (const ref of [gradual.running, gradual.paused]) await flags.rollouts.start(ref, STEPS);
  await flags.rollouts.pause(gradual.paused);
  await flags.addDependency({ ...MINE, flag: 'lonely' }, { flag: 'payments' });
  await flags.archiveFlag(ARCHIVED);
  await flags.segments.create({ name: 'everywhere', constraints: [] });
  await flags.segments.create({ name: 'own', constraints: [], project: 'mine' });
  await flags.addMember(MINE, { userId: 1, roleId: 4 });
  await flags.addMember(MINE, { userId: 2, roleId: 5 });
  world = {
    app,
    flags,
    asked,
    strategy,
    gradual,
    allow: (next) => {
      rule = next;
      asked.length = 0;
    },
  };
});

afterEach(() => world.flags.close());

interface Case {
  readonly change: (world: World) => Change;
  /** Beside the action of the set, in the same projects. */
  readonly asks: readonly Question[];
  /** The permissions that an undo needs beside its own action; absent where the engine cannot undo it in this state. */
  readonly undoAsks: readonly Question[];
}

const own = (action: Action): readonly Question[] => [[action, 'mine']];

/** Every operation, with the permissions that it needs. The record type requires an entry for each. */
const CASES: Readonly<Record<ChangeOperationName, Case>> = {
  createProject: {
    change: () => ({ op: 'createProject', input: { id: 'new', name: 'New' } }),
    asks: [['createProject', null]],
    undoAsks: [['deleteProject', 'new']],
  },
  updateProject: {
    change: () => ({ op: 'updateProject', ref: MINE, input: { name: 'Ours' } }),
    asks: own('updateProject'),
    undoAsks: own('updateProject'),
  },
  deleteProject: {
    change: () => ({ op: 'deleteProject', ref: { project: 'empty' } }),
    asks: [['deleteProject', 'empty']],
    undoAsks: [['createProject', null]],
  },
  createFlag: {
    change: () => ({ op: 'createFlag', ref: MINE, input: { name: 'new' } }),
    asks: own('createFlag'),
    undoAsks: own('deleteFlag'),
  },
  updateFlag: {
    change: () => ({ op: 'updateFlag', ref: FLAG, input: { description: 'New' } }),
    asks: own('updateFlag'),
    undoAsks: own('updateFlag'),
  },
  cloneFlag: {
    change: () => ({ op: 'cloneFlag', ref: FLAG, input: { name: 'copy' } }),
    asks: own('cloneFlag'),
    undoAsks: own('deleteFlag'),
  },
  archiveFlag: {
    change: () => ({ op: 'archiveFlag', ref: FLAG }),
    asks: own('archiveFlag'),
    undoAsks: own('reviveFlag'),
  },
  reviveFlag: {
    change: () => ({ op: 'reviveFlag', ref: ARCHIVED }),
    asks: own('reviveFlag'),
    undoAsks: own('archiveFlag'),
  },
  deleteFlag: {
    change: () => ({ op: 'deleteFlag', ref: ARCHIVED }),
    asks: own('deleteFlag'),
    undoAsks: own('createFlag'),
  },
  moveFlag: {
    change: () => ({ op: 'moveFlag', ref: FLAG, input: { project: 'other' } }),
    asks: [
      ['moveFlag', 'mine'],
      ['moveFlag', 'other'],
    ],
    undoAsks: [
      ['moveFlag', 'mine'],
      ['moveFlag', 'other'],
    ],
  },
  addStrategy: {
    change: () => ({ op: 'addStrategy', ref: PRODUCTION, input: { name: 'default', segments: [EVERYWHERE, OWN] } }),
    asks: [
      ['addStrategy', 'mine'],
      ['useSegment', null],
      ['useSegment', 'mine'],
    ],
    undoAsks: own('removeStrategy'),
  },
  updateStrategy: {
    change: ({ strategy }) => ({
      op: 'updateStrategy',
      ref: { ...PRODUCTION, strategy },
      input: { segments: [EVERYWHERE] },
    }),
    asks: [
      ['updateStrategy', 'mine'],
      ['useSegment', null],
    ],
    undoAsks: own('updateStrategy'),
  },
  removeStrategy: {
    change: ({ strategy }) => ({ op: 'removeStrategy', ref: { ...PRODUCTION, strategy } }),
    asks: own('removeStrategy'),
    undoAsks: own('addStrategy'),
  },
  enable: { change: () => ({ op: 'enable', ref: PRODUCTION }), asks: own('enable'), undoAsks: own('disable') },
  disable: {
    change: () => ({ op: 'disable', ref: { ...PRODUCTION, environment: 'development' } }),
    asks: own('disable'),
    undoAsks: own('enable'),
  },
  configureEnvironment: {
    change: () => ({
      op: 'configureEnvironment',
      ref: PRODUCTION,
      input: { enabled: true, strategies: [{ name: 'default', segments: [EVERYWHERE] }] },
    }),
    asks: [
      ['configureEnvironment', 'mine'],
      ['useSegment', null],
    ],
    undoAsks: [
      ['removeStrategy', 'mine'],
      ['addStrategy', 'mine'],
      ['disable', 'mine'],
    ],
  },
  startRollout: {
    change: ({ gradual }) => ({ op: 'startRollout', ref: gradual.idle, input: STEPS }),
    asks: own('changeRollout'),
    undoAsks: own('updateStrategy'),
  },
  pauseRollout: {
    change: ({ gradual }) => ({ op: 'pauseRollout', ref: gradual.running }),
    asks: own('changeRollout'),
    undoAsks: [],
  },
  resumeRollout: {
    change: ({ gradual }) => ({ op: 'resumeRollout', ref: gradual.paused }),
    asks: own('changeRollout'),
    undoAsks: [],
  },
  advanceRollout: {
    change: ({ gradual }) => ({ op: 'advanceRollout', ref: gradual.running }),
    asks: own('changeRollout'),
    undoAsks: own('updateStrategy'),
  },
  stopRollout: {
    change: ({ gradual }) => ({ op: 'stopRollout', ref: gradual.running, input: { rollback: true } }),
    asks: own('changeRollout'),
    undoAsks: own('updateStrategy'),
  },
  setVariants: {
    change: () => ({ op: 'setVariants', ref: FLAG, input: [{ name: 'blue' }] }),
    asks: own('setVariants'),
    undoAsks: own('setVariants'),
  },
  addDependency: {
    change: () => ({ op: 'addDependency', ref: FLAG, input: { flag: 'payments' } }),
    asks: own('addDependency'),
    undoAsks: own('removeDependency'),
  },
  removeDependency: {
    change: () => ({ op: 'removeDependency', ref: { ...MINE, flag: 'lonely' }, input: { flag: 'payments' } }),
    asks: own('removeDependency'),
    undoAsks: own('addDependency'),
  },
  createSegment: {
    change: () => ({ op: 'createSegment', input: { name: 'new', constraints: [], project: 'mine' } }),
    asks: own('createSegment'),
    undoAsks: own('deleteSegment'),
  },
  updateSegment: {
    change: () => ({ op: 'updateSegment', ref: { segment: OWN, project: 'mine' }, input: { project: 'other' } }),
    asks: [
      ['updateSegment', 'mine'],
      ['updateSegment', 'other'],
    ],
    undoAsks: [
      ['updateSegment', 'mine'],
      ['updateSegment', 'other'],
    ],
  },
  deleteSegment: {
    change: () => ({ op: 'deleteSegment', ref: { segment: EVERYWHERE, project: null } }),
    asks: [['deleteSegment', null]],
    undoAsks: [['createSegment', null]],
  },
  addMember: {
    change: () => ({ op: 'addMember', ref: MINE, input: { userId: 3, roleId: 5 } }),
    asks: own('addMember'),
    undoAsks: own('removeMember'),
  },
  changeMemberRole: {
    change: () => ({ op: 'changeMemberRole', ref: MINE, input: { userId: 2, roleId: 4 } }),
    asks: own('changeMemberRole'),
    undoAsks: own('changeMemberRole'),
  },
  removeMember: {
    change: () => ({ op: 'removeMember', ref: MINE, input: { userId: 2, roleId: 5 } }),
    asks: own('removeMember'),
    undoAsks: own('addMember'),
  },
};

const OPERATIONS = Object.keys(CASES) as readonly ChangeOperationName[];

/** The checks of a set: its own action in the projects of its changes, and the actions of its changes. */
function withOwn(action: Action, asks: readonly Question[]): readonly Question[] {
  const projects = new Set(asks.filter(([one]) => one !== 'useSegment').map(([, project]) => project));
  return [...[...projects].map((project) => [action, project] as const), ...asks];
}

const unique = (questions: readonly Question[]) => [...new Set(questions.map((one) => JSON.stringify(one)))].sort();
const apply = (body: object) => request(world.app).post(CHANGES).send(body);

async function expectRefused(send: () => request.Test): Promise<void> {
  const before = await dataVersion(world.flags);
  const { body } = await send().expect(403);
  expect(body.code).toBe('forbidden');
  expect(await dataVersion(world.flags)).toBe(before);
}

it('has an entry for every operation', () => {
  expect([...CHANGE_OPERATIONS].sort()).toEqual([...OPERATIONS].sort());
});

describe.each(OPERATIONS)('%s in a set', (op) => {
  const { change, asks } = CASES[op];

  it('needs the action of the set and its own, in every project that it concerns', async () => {
    world.allow(() => true);
    await apply({ changes: [change(world)] }).expect(200);
    expect(unique(world.asked)).toEqual(unique(withOwn('applyChanges', asks)));
  });

  it('is refused, with the whole set, if any one of them is missing', async () => {
    const first: Change = { op: 'updateFlag', ref: { ...MINE, flag: 'payments' }, input: { description: 'First' } };
    for (const [action, project] of withOwn('applyChanges', asks)) {
      world.allow((one, place) => one !== action || place !== project);
      await expectRefused(() => apply({ changes: [first, change(world)] }));
    }
  });

  it('names its projects in a request, also where it would do nothing any more', async () => {
    const asked = asks.filter(([action]) => action !== 'useSegment').map(([, project]) => project);
    // The permission is one of the instance; the project is the new one.
    const concerned = op === 'createProject' ? ['new'] : asked;
    const changes = [change(world)];
    const made = await world.flags.changeRequests.create(changes);
    expect(made.projects).toEqual(expect.arrayContaining(concerned));
    await world.flags.apply(changes);
    // Some references name no project. Other changes are refused now: what they make exists, or what they change is gone.
    const { ref, ...rest } = change(world) as { readonly op: string; readonly ref?: { readonly project?: unknown } };
    const { project: _project, ...named } = ref ?? {};
    for (const repeated of [changes, [{ ...rest, ref: named } as unknown as Change]]) {
      const again = await world.flags.changeRequests.create(repeated).catch(() => made);
      expect(again.projects).not.toEqual([]);
      expect(concerned).toEqual(expect.arrayContaining([...again.projects]));
    }
  });

  it('is planned and previewed with one permission for each of its projects, and those of the segments', async () => {
    const contexts = { environment: 'production', contexts: [{}] };
    for (const path of [`${CHANGES}/plan`, `${CHANGES}/preview`]) {
      const send = () =>
        request(world.app)
          .post(path)
          .send({ changes: [change(world)], ...contexts });
      world.allow((action) => action === 'previewChanges' || action === 'useSegment');
      await send().expect(200);
      for (const [, project] of asks.filter(([action]) => action === 'useSegment')) {
        world.allow((action, place) => action !== 'useSegment' || place !== project);
        await expectRefused(send);
      }
      for (const [, project] of withOwn('applyChanges', asks).filter(([action]) => action === 'applyChanges')) {
        world.allow((_, place) => place !== project);
        await expectRefused(send);
      }
    }
  });
});

/** Nothing is left to undo in this state, or the undo is refused with a sentence. */
const WITHOUT_UNDO: readonly ChangeOperationName[] = ['disable', 'pauseRollout', 'resumeRollout'];

describe.each(OPERATIONS.filter((op) => !WITHOUT_UNDO.includes(op)))('the undo of %s', (op) => {
  const { change, undoAsks } = CASES[op];

  it('needs its own action and those of the opposite changes, and is refused without any of them', async () => {
    const { id, events } = await world.flags.apply([change(world)]);
    const projects = events.map(({ project }): Question => ['undoChange', project]);
    const send = () => request(world.app).post(`${CHANGES}/${id}/undo`);
    for (const [action, project] of [...projects, ...undoAsks]) {
      // The gate admits callers who may undo something in any project.
      world.allow((one, place) => one !== action || place !== project);
      await expectRefused(send);
    }
    world.allow(() => true);
    await send().expect(200);
    const asked = world.asked.filter(([action]) => action !== 'undoChange');
    expect(unique(asked)).toEqual(unique(undoAsks));
  });
});

it('needs no further permission to undo the undo of the first change in an environment', async () => {
  const development = { ...FLAG, environment: 'development' };
  const { id } = await world.flags.apply([{ op: 'addStrategy', ref: development, input: { name: 'default' } }]);
  const undone = await world.flags.history.undo({ changeSet: `${id}` });
  expect(undone.events.map(({ type }) => type)).toEqual(['strategy-removed']);
  world.allow(() => true);
  await request(world.app).post(`${CHANGES}/${undone.id}/undo`).expect(200);
  expect(unique(world.asked.filter(([action]) => action !== 'undoChange'))).toEqual(unique(own('addStrategy')));
});

describe('a set over several projects', () => {
  const both: readonly Change[] = [
    { op: 'updateFlag', ref: FLAG, input: { description: 'New' } },
    { op: 'updateFlag', ref: { project: 'other', flag: 'hidden' }, input: { description: 'New' } },
  ];
  const onlyMine: Rule = (_, project) => project === 'mine';

  it('is visible only to callers who may read all of them', async () => {
    const { id } = await world.flags.apply(both);
    const shown = await world.flags.apply([{ op: 'updateFlag', ref: FLAG, input: { description: 'Newer' } }]);
    const idsIn = async (path: string) =>
      (await request(world.app).get(path).expect(200)).body.changes.map((one: { id: string }) => one.id);

    expect((await idsIn('/api/admin/history')).slice(0, 2)).toEqual([shown.id, id]);
    world.allow(onlyMine);
    const visible = await idsIn('/api/admin/history');
    expect(visible).toContain(shown.id);
    expect(visible).not.toContain(id);
    await request(world.app).get(`${CHANGES}/${shown.id}`).expect(200);
    await request(world.app).get(`${CHANGES}/${id}`).expect(403);
    await request(world.app).post(`${CHANGES}/${id}/undo`).expect(403);
    await request(world.app).get('/api/admin/projects/other/history').expect(403);
    await request(world.app).get('/api/admin/projects/other/features/hidden/history').expect(403);
    expect(JSON.stringify((await request(world.app).get('/api/admin/projects/mine/history')).body)).not.toContain(
      'hidden',
    );
  });

  it('hides its reason from callers who may not read all of them', async () => {
    const reason = 'Secret plans';
    const { id } = await world.flags.apply(both, { reason });
    const lists = [
      '/api/admin/projects/mine/history',
      '/api/admin/projects/mine/features/checkout/history',
      '/api/admin/events',
      '/api/admin/events/checkout',
      '/api/admin/events?project=mine',
    ];
    const entryIn = async (path: string) => {
      const { body } = await request(world.app).get(path).expect(200);
      return (body.changes ?? body.events)[0];
    };
    for (const path of lists) expect(await entryIn(path)).toMatchObject({ reason });
    world.allow((_, project) => project !== 'other');
    for (const path of lists) {
      const entry = await entryIn(path);
      expect(entry.id === id || entry.changeSet === id).toBe(true);
      expect(entry.reason).toBeNull();
      expect(JSON.stringify(entry)).not.toMatch(/secret|hidden/i);
    }
    await world.flags.apply([{ op: 'archiveFlag', ref: FLAG }], { reason: 'Ours' });
    for (const path of lists) expect(await entryIn(path)).toMatchObject({ reason: 'Ours' });
  });

  it('is omitted from lists of events if it moves a document from a hidden project', async () => {
    await world.flags.moveFlag({ project: 'other', flag: 'hidden' }, MINE);
    await world.flags.updateFlag({ ...MINE, flag: 'hidden' }, { description: 'Shown' });
    const typesIn = async (path: string) => {
      const { body, headers } = await request(world.app).get(path).expect(200);
      return { types: body.events.map(({ type }: { type: string }) => type), total: body.totalEvents, headers };
    };
    expect((await typesIn('/api/admin/events?limit=2')).types).toEqual([
      'feature-metadata-updated',
      'feature-project-change',
    ]);
    world.allow((_, project) => project !== 'other');
    for (const path of ['/api/admin/events', '/api/admin/events?project=mine', '/api/admin/events/hidden']) {
      const { types } = await typesIn(path);
      expect([types[0], types.includes('feature-project-change')]).toEqual(['feature-metadata-updated', false]);
    }
    const { headers } = await typesIn('/api/admin/events?limit=2');
    expect(headers.link).toContain('offset=2');
    expect((await typesIn('/api/admin/events?limit=1&offset=1')).headers.link).toContain('offset=2');
    world.allow((_, project) => project === 'mine');
    await request(world.app).get('/api/admin/events?project=mine').expect(403);
  });

  it('is not revealed by its id', async () => {
    const { id } = await world.flags.apply(both);
    world.allow(onlyMine);
    await apply({ id, changes: [] }).expect(403);
    const harmless = { op: 'enable', ref: PRODUCTION };
    const { text } = await apply({ id, changes: [harmless] }).expect(409);
    expect(text).not.toContain('hidden');
    const own = randomUUID();
    world.allow(() => true);
    await apply({ id: own, changes: both }).expect(200);
    world.allow(onlyMine);
    await apply({ id: own, changes: both }).expect(403);
    world.allow(() => true);
    await apply({ id: own, changes: both }).expect(200);
  });

  it('is followed by further pages until one is not empty', async () => {
    for (let round = 0; round < 5; round++) {
      await world.flags.updateFlag({ project: 'other', flag: 'hidden' }, { description: `${round}` });
    }
    world.allow(onlyMine);
    const { body, headers } = await request(world.app).get('/api/admin/history?limit=1').expect(200);
    expect(body.changes).toHaveLength(1);
    expect(headers.link).toContain(encodeURIComponent(body.next));
    world.allow(() => false);
    await request(world.app).get('/api/admin/history').expect(403);
  });

  it('counts in a plan the effects on flags that the caller may not read', async () => {
    for (const ref of [PRODUCTION, { project: 'other', flag: 'hidden', environment: 'production' }]) {
      await world.flags.addStrategy(ref, { name: 'default', segments: [EVERYWHERE] });
      await world.flags.enable(ref);
    }
    const constraints = [{ contextName: 'country', operator: 'IN', values: ['DE'] }];
    const change: Change = {
      op: 'updateSegment',
      ref: { segment: EVERYWHERE, project: null },
      input: { constraints },
    } as Change;
    const effect = (project: string, flag: string) => {
      return { project, flag, environment: 'production', before: 'on', after: 'on', changed: true };
    };
    const { id } = await world.flags.apply([change]);
    world.allow((_, project) => project !== 'other');
    const plan = { changes: [{ ...change, input: { constraints: [] } }] };
    for (const sent of [
      request(world.app).post(`${CHANGES}/plan`).send(plan),
      request(world.app).post(`${CHANGES}/${id}/undo/plan`),
    ]) {
      const { body, text } = await sent.expect(200);
      expect(body).toMatchObject({ effects: [effect('mine', 'checkout')], hiddenEffects: 1 });
      expect(text).not.toContain('hidden"');
    }
    const contexts = { environment: 'production', contexts: [{}] };
    const { body: preview } = await request(world.app).post(`${CHANGES}/${id}/undo/preview`).send(contexts).expect(200);
    expect(preview.flags.map(({ flag }: { flag: string }) => flag)).toEqual(['checkout']);
    world.allow((_, project) => project === 'other');
    await request(world.app).post(`${CHANGES}/${id}/undo/plan`).expect(403);
    await request(world.app).post(`${CHANGES}/${id}/undo/preview`).send(contexts).expect(403);
  });

  it('previews no flag of a project that the caller may not read', async () => {
    for (const ref of [PRODUCTION, { project: 'other', flag: 'hidden', environment: 'production' }]) {
      await world.flags.addStrategy(ref, { name: 'default', segments: [EVERYWHERE] });
    }
    const body = {
      changes: [{ op: 'updateSegment', ref: { segment: EVERYWHERE, project: null }, input: { description: 'New' } }],
      environment: 'production',
      contexts: [{}],
    };
    world.allow((_, project) => project !== 'other');
    const { body: preview } = await request(world.app).post(`${CHANGES}/preview`).send(body).expect(200);
    expect(preview.flags.map(({ flag }: { flag: string }) => flag)).toEqual(['checkout']);
  });
});

describe('a caller without permission', () => {
  it.each([
    {},
    { changes: [{ op: 'enable' }] },
    { changes: [{ op: 'explode', ref: FLAG }] },
    { changes: 7 },
    { changes: Array.from({ length: 501 }, () => ({ op: 'enable', ref: PRODUCTION })) },
    null,
  ])('learns nothing about what is wrong with %j', async (body) => {
    world.allow(() => false);
    for (const path of [CHANGES, `${CHANGES}/plan`, `${CHANGES}/preview`]) {
      const sent = request(world.app).post(path).set('content-type', 'application/json');
      await sent.send(JSON.stringify(body)).expect(403);
    }
  });

  it('learns what to write where a reference needs its project', async () => {
    world.allow(() => true);
    const changes = [
      { op: 'enable', ref: { flag: 'checkout', environment: 'production' } },
      { op: 'updateSegment', ref: { segment: OWN, project: 7 }, input: { name: 'renamed' } },
      { op: 'updateFlag', ref: { ...FLAG, project: 7 }, input: { stale: true } },
    ];
    const { body } = await apply({ changes }).expect(400);
    expect(body.details).toEqual([
      {
        message: 'must be the project, as text: write "ref": { "project": "…", "flag": "…", "environment": "…" }',
        path: '/changes/0/ref/project',
      },
      { message: 'must be text, null for the instance, or absent', path: '/changes/1/ref/project' },
      {
        message: 'must be the project, as text: write "ref": { "project": "…", "flag": "…" }',
        path: '/changes/2/ref/project',
      },
    ]);
  });

  it.each<[string, object, readonly (string | null)[]]>([
    ['updateSegment', { ref: { segment: OWN }, input: { description: 'New' } }, ['mine']],
    ['updateSegment', { ref: { segment: EVERYWHERE }, input: { description: 'New' } }, [null]],
    ['updateSegment', { ref: { segment: OWN }, input: { project: 'other' } }, ['mine', 'other']],
    ['deleteSegment', { ref: { segment: OWN } }, ['mine']],
    ['deleteFlag', { ref: { flag: 'old' } }, ['mine']],
    ['reviveFlag', { ref: { flag: 'old' } }, ['mine']],
  ])('is asked for %s in the project of what the reference names: %j', async (op, change, projects) => {
    const changes = [{ op, ...change }];
    for (const refused of projects) {
      world.allow((_, project) => project !== refused);
      await apply({ changes }).expect(403);
      await request(world.app).post(`${CHANGES}/plan`).send({ changes }).expect(403);
      await request(world.app).post('/api/admin/change-requests').send({ changes }).expect(403);
    }
    world.allow((_, project) => projects.includes(project));
    await request(world.app).post(`${CHANGES}/plan`).send({ changes }).expect(200);
    await apply({ changes }).expect(200);
    expect(new Set(world.asked.filter(([action]) => action === op).map(([, project]) => project))).toEqual(
      new Set(projects),
    );
  });

  it('is asked for what does not exist in the instance', async () => {
    world.allow((_, project) => project === 'mine');
    const changes = [{ op: 'deleteSegment', ref: { segment: 99 } }];
    await apply({ changes }).expect(403);
    world.allow(() => true);
    await apply({ changes }).expect(404);
  });

  it('gets the issues of changes only in permitted projects', async () => {
    world.allow((_, project) => project === 'mine');
    const { body } = await apply({ changes: [{ op: 'enable', ref: { ...PRODUCTION, environment: 7 } }] }).expect(400);
    expect(body.details).toEqual([{ message: 'must be a string', path: '/changes/0/ref/environment' }]);
  });

  it('follows a flag that the set itself moves', async () => {
    world.allow(() => true);
    await apply({
      changes: [
        { op: 'moveFlag', ref: FLAG, input: { project: 'other' } },
        { op: 'archiveFlag', ref: { ...FLAG, project: 'other' } },
        { op: 'deleteFlag', ref: { ...FLAG, project: 'other' } },
      ],
    }).expect(200);
    expect(world.asked).toContainEqual(['deleteFlag', 'other']);
    expect(world.asked).not.toContainEqual(['deleteFlag', 'mine']);
  });
});
