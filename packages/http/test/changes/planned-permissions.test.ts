import { type Change, createFlags, type Flags, memoryStorage, type Storage } from '@flags/core';
import type { Express } from 'express';
import request from 'supertest';
import type { Action } from '../../../express/src/index.js';
import { createHostApp } from '../host-app.js';

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
let storage: Storage;
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
    peek(key) {
      reads.push(`${key.kind}/${key.id}`);
      return memory.peek?.(key);
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
  await flags.createSegment({ name: 'everywhere', constraints });
  await flags.createSegment({ name: 'own', constraints, project: 'mine' });
});

afterEach(() => flags.close());

const post = (path: string, body: object = {}) => request(app).post(path).send(body);
const live: readonly Change[] = [
  { op: 'addStrategy', ref: PRODUCTION, input: { name: 'default' } },
  { op: 'enable', ref: PRODUCTION },
];

async function expectForbidden(send: () => request.Test): Promise<void> {
  const before = await flags.dataVersion();
  const { body } = await send().expect(403);
  expect(body.code).toBe('forbidden');
  expect(await flags.dataVersion()).toBe(before);
}

describe('a caller without any permission', () => {
  const many = (change: object) => ({ changes: Array(500).fill(change), ...CONTEXTS });

  it.each([
    { op: 'deleteSegment', ref: { segment: EVERYWHERE } },
    { op: 'updateSegment', ref: { segment: OWN }, input: { project: 'other' } },
    { op: 'deleteFlag', ref: { flag: 'checkout' } },
    { op: 'reviveFlag', ref: { flag: 'checkout' } },
    { op: 'reviveFlag', ref: { flag: 'unknown' } },
  ])('is refused at the first question, before a document is read: $op $ref', async (change) => {
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
      [{ op: 'updateSegment', ref: { segment: EVERYWHERE }, input: { project: 'mine' } }],
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
  ])('needs the permission to enable: of %s', async (_, changes) => {
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
    other = await createFlags({ storage: { ...storage, close: () => undefined }, pollInterval: 0 });
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
        await other.updateSegment({ segment: EVERYWHERE }, { project: 'mine' });
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
    await post(CHANGES, { changes: [{ op: 'reviveFlag', ref: { flag: 'young' } }] }).expect(200);
  });
});
