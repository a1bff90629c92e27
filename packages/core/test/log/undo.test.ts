import { type Change, type Flags, type FlagsStorage, memoryStorage, openFlags } from '../../src/index.js';
import { KINDS } from '../on-every-storage.js';
import { CHECKOUT, DEFAULT, PRODUCTION } from '../references.js';
import { SILENT } from '../replica/silent.js';
import { createSwitchedOn, onlyFor } from '../replica/switched-on.js';
import { contentOf } from './shown-content.js';

const SHOP = { project: 'shop' };
const CHILD = { ...DEFAULT, flag: 'child' };
const BANNER = { ...SHOP, flag: 'banner' };
const OLD = { ...SHOP, flag: 'old' };
const at = (flag: { project: string; flag: string }, environment = 'production') => ({ ...flag, environment });
const VALUES = { contextName: 'userId', operator: 'IN' as const, values: ['1', '2'] };

/** A project with everything that a change set can change. */
async function furnish(flags: Flags) {
  await flags.createProject({ id: 'shop', name: 'Shop', description: 'Sells' });
  await flags.addMember(SHOP, { userId: 1, roleId: 4 });
  await flags.addMember(SHOP, { userId: 2, roleId: 5 });
  const { id: segment } = await flags.segments.create({ name: 'early', constraints: [VALUES] });
  const { id: free } = await flags.segments.create({ name: 'free', constraints: [], project: 'shop' });
  const strategies = await createSwitchedOn(flags, {
    flag: 'checkout',
    strategies: [onlyFor('ada'), { name: 'default', segments: [segment], constraints: [VALUES] }, onlyFor('bob')],
  });
  await flags.setVariants(CHECKOUT, [{ name: 'blue', payload: { type: 'string', value: 'b' } }, { name: 'green' }]);
  await flags.updateFlag(CHECKOUT, { description: 'Pays', stale: true, labels: ['a', 'b'], owner: 'ada' });
  await createSwitchedOn(flags, { flag: 'parent' });
  await createSwitchedOn(flags, { flag: 'other' });
  await createSwitchedOn(flags, { flag: 'child' });
  await flags.addDependency(CHILD, { flag: 'parent' });
  await flags.addDependency(CHILD, { flag: 'other', enabled: false });
  await flags.createFlag(SHOP, { name: 'banner' });
  await flags.createFlag(SHOP, { name: 'old', description: 'gone' });
  await flags.addStrategy(at(OLD), onlyFor('ada'));
  await flags.enable(at(OLD));
  await flags.archiveFlag(OLD);
  await flags.createProject({ id: 'empty', name: 'Empty' });
  await flags.segments.create({ name: 'of empty', constraints: [VALUES], project: 'empty' });
  const lost = { project: 'empty', flag: 'lost' };
  await flags.createFlag({ project: 'empty' }, { name: 'lost', description: 'kept' });
  await flags.addStrategy(at(lost), { name: 'default', segments: [segment] });
  await flags.addMember({ project: 'empty' }, { userId: 7, roleId: 4 });
  await flags.archiveFlag(lost);
  const [first, second] = strategies.map(({ id }) => id);
  return { segment, free, first: first ?? '', second: second ?? '' };
}

type World = Awaited<ReturnType<typeof furnish>>;

/** Those of rollouts have tests of their own: an undo never restores one. */
type Undone = Exclude<Change['op'], `${string}Rollout`>;

const VOCABULARY: Readonly<Record<Undone, (world: World) => readonly Change[] | Change>> = {
  createProject: () => ({ op: 'createProject', input: { id: 'new', name: 'New' } }),
  updateProject: () => ({ op: 'updateProject', ref: SHOP, input: { name: 'Store', description: '' } }),
  deleteProject: () => ({ op: 'deleteProject', ref: { project: 'empty' } }),
  createFlag: () => ({ op: 'createFlag', ref: DEFAULT, input: { name: 'new', labels: ['x'] } }),
  updateFlag: () => ({
    op: 'updateFlag',
    ref: CHECKOUT,
    input: { description: 'new', type: 'operational', stale: false, impressionData: true, labels: [], owner: null },
  }),
  cloneFlag: () => ({ op: 'cloneFlag', ref: CHECKOUT, input: { name: 'copy' } }),
  archiveFlag: () => ({ op: 'archiveFlag', ref: CHECKOUT }),
  reviveFlag: () => ({ op: 'reviveFlag', ref: OLD }),
  deleteFlag: () => ({ op: 'deleteFlag', ref: OLD }),
  moveFlag: () => ({ op: 'moveFlag', ref: CHECKOUT, input: SHOP }),
  addStrategy: ({ segment }) => ({
    op: 'addStrategy',
    ref: at(BANNER),
    input: { name: 'default', segments: [segment] },
  }),
  updateStrategy: ({ second }) => ({
    op: 'updateStrategy',
    ref: { ...PRODUCTION, strategy: second },
    input: { name: 'flexibleRollout', parameters: { rollout: '7', groupId: 'g' } },
  }),
  removeStrategy: ({ first }) => ({ op: 'removeStrategy', ref: { ...PRODUCTION, strategy: first } }),
  enable: () => [
    { op: 'addStrategy', ref: at(CHECKOUT, 'development'), input: { name: 'default' } },
    { op: 'enable', ref: at(CHECKOUT, 'development') },
  ],
  disable: () => ({ op: 'disable', ref: PRODUCTION }),
  configureEnvironment: ({ first, second }) => ({
    op: 'configureEnvironment',
    ref: PRODUCTION,
    input: {
      enabled: false,
      strategies: [{ id: second, name: 'default' }, { name: 'default' }, { id: first, ...onlyFor('eve') }],
    },
  }),
  setVariants: () => ({ op: 'setVariants', ref: CHECKOUT, input: [{ name: 'green' }, { name: 'red' }] }),
  addDependency: () => [
    { op: 'createFlag', ref: DEFAULT, input: { name: 'third' } },
    { op: 'addDependency', ref: CHILD, input: { flag: 'third', variants: ['x'] } },
  ],
  removeDependency: () => ({ op: 'removeDependency', ref: CHILD, input: { flag: 'parent' } }),
  createSegment: () => ({ op: 'createSegment', input: { name: 'new', constraints: [VALUES] } }),
  updateSegment: ({ free }) => ({
    op: 'updateSegment',
    ref: { segment: free },
    input: { name: 'taken', constraints: [VALUES], project: null, description: 'd' },
  }),
  deleteSegment: ({ free }) => ({ op: 'deleteSegment', ref: { segment: free } }),
  addMember: () => ({ op: 'addMember', ref: SHOP, input: { userId: 3, roleId: 4 } }),
  changeMemberRole: () => ({ op: 'changeMemberRole', ref: SHOP, input: { userId: 2, roleId: 4 } }),
  removeMember: () => ({ op: 'removeMember', ref: SHOP, input: { userId: 2, roleId: 5 } }),
};

const TABLE = Object.entries(VOCABULARY) as [string, (world: World) => readonly Change[]][];

describe.each(KINDS)('undo on $name', ({ open }) => {
  let flags: Flags;
  let opened: { storage: FlagsStorage; dispose: () => Promise<void> };
  let world: World;

  beforeEach(async () => {
    opened = await open();
    flags = await openFlags({ ...SILENT, storage: opened.storage });
    world = await furnish(flags);
  });
  afterEach(async () => {
    await flags.close();
    await opened.dispose();
  });

  it.each(TABLE)('reverts %s, and an undo of the undo restores it', async (_, changesOf) => {
    const before = await contentOf(flags);
    const { id } = await flags.apply([changesOf(world)].flat());
    const after = await contentOf(flags);
    expect(after).not.toEqual(before);
    const undone = await flags.history.undo({ changeSet: `${id}` }, { actor: 'grace', reason: 'by mistake' });
    expect(undone).toMatchObject({ actor: 'grace', reason: 'by mistake' });
    expect(undone.events.every(({ changeSet }) => changeSet === undone.id)).toBe(true);
    expect(await contentOf(flags)).toEqual(before);
    await flags.history.undo({ changeSet: `${undone.id}` });
    expect(await contentOf(flags)).toEqual(after);
  });

  it('reverts a set of changes of many documents at once', async () => {
    const before = await contentOf(flags);
    const { id } = await flags.apply([
      ...of('cloneFlag', 'configureEnvironment', 'setVariants', 'updateFlag', 'moveFlag', 'removeDependency'),
      ...of('updateSegment', 'updateProject', 'removeMember', 'addMember', 'createSegment', 'deleteProject'),
      { op: 'deleteFlag', ref: OLD },
      { op: 'createFlag', ref: SHOP, input: { name: 'old' } },
      { op: 'archiveFlag', ref: CHILD },
      { op: 'deleteFlag', ref: CHILD },
      { op: 'archiveFlag', ref: { ...DEFAULT, flag: 'parent' } },
      { op: 'createFlag', ref: DEFAULT, input: { name: 'passing' } },
      { op: 'archiveFlag', ref: { ...DEFAULT, flag: 'passing' } },
      { op: 'deleteFlag', ref: { ...DEFAULT, flag: 'passing' } },
    ]);
    const after = await contentOf(flags);
    const undone = await flags.history.undo({ changeSet: `${id}` });
    expect(await contentOf(flags)).toEqual(before);
    await flags.history.undo({ changeSet: `${undone.id}` });
    expect(await contentOf(flags)).toEqual(after);
  });

  function of(...operations: readonly Undone[]): readonly Change[] {
    return operations.flatMap((op) => VOCABULARY[op](world));
  }

  it('keeps later changes of other parts', async () => {
    const { id } = await flags.apply([
      ...of('updateStrategy', 'removeStrategy', 'disable', 'setVariants', 'changeMemberRole'),
      { op: 'updateFlag', ref: CHECKOUT, input: { description: 'undone', impressionData: true } },
    ]);
    const added = await flags.addStrategy(PRODUCTION, onlyFor('late'));
    await flags.updateFlag(CHECKOUT, { owner: 'grace', stale: false });
    await flags.addMember(SHOP, { userId: 9, roleId: 5 });
    await flags.addStrategy(at(CHECKOUT, 'development'), onlyFor('dev'));
    await flags.history.undo({ changeSet: `${id}` });
    const { description, impressionData, owner, stale, variants, environments } = await flags.getFlag(CHECKOUT);
    expect({ description, impressionData, owner, stale }).toEqual({
      description: 'Pays',
      impressionData: false,
      owner: 'grace',
      stale: false,
    });
    expect(variants.map(({ name }) => name)).toEqual(['blue', 'green']);
    const production = environments.find(({ name }) => name === 'production');
    expect(production?.enabled).toBe(true);
    expect(production?.strategies.map(({ id: strategy }) => strategy).slice(0, 2)).toEqual([world.first, world.second]);
    expect(production?.strategies).toHaveLength(4);
    expect(production?.strategies.at(-1)).toEqual(added);
    expect((await flags.listMembers(SHOP)).items.map(({ userId, roleId }) => [userId, roleId])).toEqual([
      [1, 4],
      [2, 5],
      [9, 5],
    ]);
  });

  it('reverts the first change in an environment, and the first dependency, once', async () => {
    const before = await contentOf(flags);
    const { id } = await flags.apply([
      { op: 'addStrategy', ref: at(BANNER), input: { name: 'default' } },
      { op: 'createFlag', ref: SHOP, input: { name: 'first' } },
      { op: 'addDependency', ref: BANNER, input: { flag: 'first' } },
    ]);
    const undone = await flags.history.undo({ changeSet: `${id}` });
    expect(undone.events.map(({ type }) => type).sort()).toEqual([
      'dependency-removed',
      'flag-deleted',
      'strategy-removed',
    ]);
    expect(await contentOf(flags)).toEqual(before);
    await expect(flags.history.undo({ changeSet: `${id}` })).rejects.toMatchObject({ code: 'undo_conflict' });
  });

  it('keeps an environment that a later set has configured', async () => {
    const { id } = await flags.apply(of('addStrategy'));
    const added = await flags.addStrategy(at(BANNER), onlyFor('late'));
    await flags.addStrategy(at(BANNER, 'development'), onlyFor('dev'));
    await flags.history.undo({ changeSet: `${id}` });
    const banner = await opened.storage.get({ kind: 'flag', id: 'banner' });
    expect(banner?.body).toMatchObject({
      environments: [{ name: 'production', strategies: [added] }, { name: 'development' }],
    });
  });

  it('refuses a part that was changed again, names the later sets, and undoes nothing', async () => {
    const { id } = await flags.apply([
      { op: 'updateFlag', ref: CHECKOUT, input: { description: 'one' } },
      ...of('disable', 'updateProject'),
    ]);
    const later = await flags.apply([{ op: 'updateFlag', ref: CHECKOUT, input: { description: 'two' } }]);
    await flags.updateFlag(CHECKOUT, { owner: 'unrelated' });
    const again = await flags.apply([{ op: 'updateProject', ref: SHOP, input: { name: 'Again' } }], { actor: 'eve' });
    const content = await contentOf(flags);
    const error = await flags.history.undo({ changeSet: `${id}` }).catch((refusal: unknown) => refusal);
    expect(error).toMatchObject({ code: 'undo_conflict' });
    expect((error as { details: unknown }).details).toEqual([
      { path: '/project/shop/name', message: expect.stringContaining(`${again.id} of eve at ${again.at}`) },
      { path: '/flag/checkout/description', message: expect.stringContaining(`${later.id}`) },
    ]);
    expect(await contentOf(flags)).toEqual(content);
    await flags.history.undo({ changeSet: `${again.id}` });
    await flags.history.undo({ changeSet: `${later.id}` });
    await flags.history.undo({ changeSet: `${id}` });
    expect((await flags.getFlag(CHECKOUT)).description).toBe('Pays');
  });

  it.each<[string, (world: World) => readonly Change[], readonly Change[]]>([
    [
      'a flag whose name is taken',
      () => [{ op: 'deleteFlag', ref: OLD }],
      [{ op: 'createFlag', ref: DEFAULT, input: { name: 'old' } }],
    ],
    [
      'a flag that was changed since its creation',
      () => [{ op: 'createFlag', ref: DEFAULT, input: { name: 'new' } }],
      [{ op: 'updateFlag', ref: { ...DEFAULT, flag: 'new' }, input: { description: 'kept' } }],
    ],
    [
      'a flag that was deleted since then',
      () => [{ op: 'updateFlag', ref: BANNER, input: { description: 'x' } }],
      [
        { op: 'archiveFlag', ref: BANNER },
        { op: 'deleteFlag', ref: BANNER },
      ],
    ],
    [
      'a segment whose name is taken',
      ({ free }) => [{ op: 'deleteSegment', ref: { segment: free } }],
      [{ op: 'createSegment', input: { name: 'free', constraints: [] } }],
    ],
    [
      'a strategy whose segment is gone',
      ({ segment }) => [
        { op: 'archiveFlag', ref: CHECKOUT },
        { op: 'deleteFlag', ref: CHECKOUT },
        { op: 'deleteProject', ref: { project: 'empty' } },
        { op: 'updateSegment', ref: { segment }, input: { description: 'unused' } },
      ],
      [{ op: 'deleteSegment', ref: { segment: 1 } }],
    ],
    [
      'a dependency whose parent is archived',
      () => [{ op: 'removeDependency', ref: CHILD, input: { flag: 'parent' } }],
      [{ op: 'archiveFlag', ref: { ...DEFAULT, flag: 'parent' } }],
    ],
    [
      'a flag whose project is gone',
      () => [
        { op: 'createProject', input: { id: 'new', name: 'New' } },
        { op: 'moveFlag', ref: BANNER, input: { project: 'new' } },
      ],
      [{ op: 'moveFlag', ref: { project: 'new', flag: 'banner' }, input: SHOP }],
    ],
  ])('refuses to restore %s', async (_, changesOf, later) => {
    const { id } = await flags.apply(changesOf(world));
    await flags.apply(later);
    const content = await contentOf(flags);
    await expect(flags.history.undo({ changeSet: `${id}` })).rejects.toMatchObject({ code: 'undo_conflict' });
    expect(await contentOf(flags)).toEqual(content);
  });

  it.each<[string, readonly Change[], readonly Change[], string]>([
    [
      'a project that has flags now',
      [{ op: 'createProject', input: { id: 'new', name: 'New' } }],
      [{ op: 'createFlag', ref: { project: 'new' }, input: { name: 'inside' } }],
      'project_not_empty',
    ],
    [
      'a flag that others depend on now',
      [{ op: 'createFlag', ref: DEFAULT, input: { name: 'new' } }],
      [{ op: 'addDependency', ref: CHILD, input: { flag: 'new' } }],
      'flag_has_children',
    ],
    [
      'a segment that strategies use now',
      [{ op: 'createSegment', input: { name: 'new', constraints: [] } }],
      [{ op: 'addStrategy', ref: at(BANNER), input: { name: 'default', segments: [4] } }],
      'segment_in_use',
    ],
    [
      'the only owner',
      [{ op: 'addMember', ref: { project: 'default' }, input: { userId: 1, roleId: 4 } }],
      [{ op: 'addMember', ref: { project: 'default' }, input: { userId: 2, roleId: 5 } }],
      'last_owner',
    ],
  ])('refuses to remove %s', async (_, changes, later, code) => {
    const { id } = await flags.apply(changes);
    await flags.apply(later);
    await expect(flags.history.undo({ changeSet: `${id}` })).rejects.toMatchObject({ code });
    await flags.apply([{ op: 'createFlag', ref: DEFAULT, input: { name: 'goes-on' } }]);
  });

  it('undoes single operations, and those of releases without change sets, but no changes of tokens', async () => {
    await flags.disable(PRODUCTION);
    const [entry] = (await flags.history.list(CHECKOUT, { limit: 1 })).items;
    await flags.history.undo({ changeSet: `${entry?.id}` });
    expect(flags.isEnabled('checkout', { userId: 'ada' })).toBe(true);
    await flags.tokens.create({ name: 'x', kind: 'admin' });
    const [token] = (await flags.history.list({}, { limit: 1 })).items;
    await expect(flags.history.undo({ changeSet: `${token?.id}` })).rejects.toMatchObject({
      code: 'undo_conflict',
      message: expect.stringContaining('API tokens'),
    });
    await expect(flags.history.undo({ changeSet: 'unknown' })).rejects.toMatchObject({ code: 'change_set_not_found' });
    await expect(flags.history.undo({ changeSet: `${entry?.id}` })).rejects.toMatchObject({ code: 'undo_conflict' });
    await expect(flags.history.undo({ changeSet: `${entry?.id}` }, { reason: 7 as never })).rejects.toMatchObject({
      code: 'invalid_input',
    });
  });
});

it('names the later sets of an environment whose name a JSON Pointer has to escape', async () => {
  const flags = await openFlags({ ...SILENT, storage: memoryStorage(), environments: [{ name: 'eu~1' }] });
  const environment = { ...CHECKOUT, environment: 'eu~1' };
  await flags.createFlag(DEFAULT, { name: 'checkout' });
  const { id: strategy } = await flags.addStrategy(environment, { name: 'default' });
  const set = await flags.apply([
    { op: 'updateStrategy', ref: { ...environment, strategy }, input: { title: 'first' } },
    { op: 'enable', ref: environment },
  ]);
  await flags.disable(environment);
  await flags.updateStrategy({ ...environment, strategy }, { title: 'second' });
  await expect(flags.history.undo({ changeSet: `${set.id}` })).rejects.toMatchObject({
    code: 'undo_conflict',
    details: [
      { path: `/flag/checkout/environments/eu~01/strategies/${strategy}` },
      { path: '/flag/checkout/environments/eu~01/enabled' },
    ],
  });
  await flags.close();
});
