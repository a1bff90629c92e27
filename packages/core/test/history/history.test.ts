import { createFlags, type Flags } from '../../src/index.js';
import { SILENT } from '../replica/silent.js';
import { createSwitchedOn, onlyFor } from '../replica/switched-on.js';
import { CHECKOUT, DEFAULT, PRODUCTION } from '../rules/references.js';
import { type OpenStorage, STORAGES } from '../storage-kinds.js';

const SHOP = { project: 'shop' };

describe.each(STORAGES)('history on $name', ({ open }) => {
  let opened: OpenStorage;
  let flags: Flags;

  beforeEach(async () => {
    opened = await open();
    flags = await createFlags({ ...SILENT, storage: opened.storage });
  });
  afterEach(async () => {
    await flags.close();
    await opened.dispose();
  });

  /** The differences of the newest change set. */
  async function newest(ref: Parameters<Flags['history']>[0] = CHECKOUT) {
    const [entry] = (await flags.history(ref, { limit: 1 })).items;
    return entry?.differences.flatMap(({ parts }) => parts);
  }

  it('shows every change with actor, time, events and differences, newest first', async () => {
    await createSwitchedOn(flags, { flag: 'checkout', strategies: [onlyFor('ada')] });
    await flags.as('grace').disable(PRODUCTION);
    const { items, next } = await flags.history(CHECKOUT);
    expect(next).toBeUndefined();
    expect(items.map(({ events }) => events.map(({ type }) => type))).toEqual([
      ['environment-disabled'],
      ['environment-enabled'],
      ['strategy-added'],
      ['flag-created'],
    ]);
    expect(items[0]).toMatchObject({ actor: 'grace', reason: null, revisions: { 'flag/checkout': 4 } });
    expect(items[0]?.differences).toEqual([
      {
        kind: 'flag',
        id: 'checkout',
        parts: [{ path: '/environments/production/enabled', before: true, after: false }],
      },
    ]);
    expect(items[3]?.differences[0]?.parts).toEqual([
      { path: '', before: null, after: expect.objectContaining({ name: 'checkout' }) },
    ]);
  });

  it('matches strategies by id, variants by name and constraints by position', async () => {
    const [strategy] = await createSwitchedOn(flags, { flag: 'checkout', strategies: [onlyFor('ada')] });
    const ref = { ...PRODUCTION, strategy: strategy?.id ?? '' };
    const path = `/environments/production/strategies/${strategy?.id}`;
    const constraint = { contextName: 'userId', operator: 'IN' as const, values: ['1'] };
    await flags.updateStrategy(ref, { name: 'userWithId', parameters: { userIds: 'bob' }, constraints: [constraint] });
    expect(await newest()).toEqual([
      { path: `${path}/constraints/0`, before: null, after: expect.objectContaining(constraint) },
      { path: `${path}/parameters/userIds`, before: 'ada', after: 'bob' },
    ]);
    await flags.setVariants(CHECKOUT, [{ name: 'a~b' }, { name: 'c' }]);
    await flags.setVariants(CHECKOUT, [{ name: 'c', stickiness: 'userId' }, { name: 'a~b' }]);
    expect(await newest()).toEqual([
      { path: '/variants/c/stickiness', before: 'default', after: 'userId' },
      { path: '/variants', before: ['a~b', 'c'], after: ['c', 'a~b'] },
    ]);
    await flags.setVariants(CHECKOUT, [{ name: 'c', stickiness: 'userId' }]);
    expect(await newest()).toEqual([
      { path: '/variants/c/weight', before: 500, after: 1000 },
      { path: '/variants/a~0b', before: expect.objectContaining({ name: 'a~b' }), after: null },
    ]);
    await flags.removeStrategy(ref);
    expect((await newest())?.map((part) => part.path)).toEqual([path, '/environments/production/enabled']);
  });

  it('shows metadata, archiving, dependencies, projects, members, segments and tokens', async () => {
    await createSwitchedOn(flags, { flag: 'checkout' });
    await createSwitchedOn(flags, { flag: 'parent' });
    await flags.updateFlag(CHECKOUT, { description: 'new', stale: true });
    expect(await newest()).toEqual([
      { path: '/description', before: '', after: 'new' },
      { path: '/stale', before: false, after: true },
    ]);
    await flags.addDependency(CHECKOUT, { flag: 'parent' });
    expect(await newest()).toMatchObject([{ path: '/dependencies/parent', before: null, after: { enabled: true } }]);
    await flags.archiveFlag(CHECKOUT);
    expect((await newest())?.[0]).toEqual({ path: '/archived', before: false, after: true });
    await flags.reviveFlag(CHECKOUT);
    expect(await newest()).toEqual([
      { path: '/archived', before: true, after: false },
      { path: '/environments/production/enabled', before: true, after: false },
    ]);
    await flags.createProject({ id: 'shop', name: 'Shop' });
    await flags.updateProject(SHOP, { description: 'sells' });
    expect(await newest(SHOP)).toEqual([{ path: '/description', before: '', after: 'sells' }]);
    await flags.addMember(SHOP, { userId: 7, roleId: 4 });
    expect(await newest(SHOP)).toEqual([{ path: '/members/7', before: null, after: { userId: 7, roleId: 4 } }]);
    const { id } = await flags.createSegment({ name: 's', constraints: [] });
    await flags.updateSegment({ segment: id }, { name: 't', project: 'shop' });
    expect(await newest({})).toEqual([
      { path: '/name', before: 's', after: 't' },
      { path: '/project', before: null, after: 'shop' },
    ]);
    await flags.createToken({ name: 'x', kind: 'admin' });
    expect(JSON.stringify(await newest({}))).not.toContain('hash');
    await flags.deleteProject(SHOP);
    expect((await flags.history(SHOP)).items[0]?.differences.map(({ kind }) => kind)).toEqual(['project', 'segment']);
  });

  it('pages by count and by bytes, and brings every set once', async () => {
    await flags.createFlag(DEFAULT, { name: 'checkout' });
    for (let round = 0; round < 30; round++) {
      const payload = { type: 'string', value: `${round} `.padEnd(round < 6 ? 250_000 : 1, 'x') } as const;
      await flags.setVariants(CHECKOUT, [
        { name: 'one', payload },
        { name: 'other', payload },
      ]);
    }
    const seen: (string | null)[] = [];
    const sizes: number[] = [];
    let after: string | undefined;
    do {
      const page = await flags.history(CHECKOUT, { limit: 10, after });
      seen.push(...page.items.map(({ id }) => id));
      sizes.push(page.items.length);
      after = page.next;
    } while (after !== undefined);
    expect(new Set(seen).size).toBe(31);
    expect(seen).toHaveLength(31);
    expect(sizes.slice(0, 2)).toEqual([10, 10]);
    expect(sizes.length).toBeGreaterThan(6);
  });

  it('gives a set by its id, also one of a release without change sets', async () => {
    await flags.createFlag(DEFAULT, { name: 'checkout' });
    await flags.as('grace').updateFlag(CHECKOUT, { description: 'a', stale: true });
    const [entry, created] = (await flags.history(CHECKOUT)).items;
    expect(entry?.events).toHaveLength(2);
    expect(await flags.getChangeSet(`${entry?.id}`)).toEqual(entry);
    expect(await flags.getChangeSet(`${created?.id}`)).toEqual(created);
    const missing = { code: 'change_set_not_found' };
    for (const id of ['x', 'r_', 'r_x', `${entry?.id}x`, '']) {
      await expect(flags.getChangeSet(id)).rejects.toMatchObject(missing);
    }
    await expect(flags.getChangeSet(7 as never)).rejects.toMatchObject({ code: 'invalid_input' });
  });

  it('keeps the history of deleted documents, and has none for unknown ones', async () => {
    await flags.createFlag(DEFAULT, { name: 'checkout' });
    await flags.archiveFlag(CHECKOUT);
    await flags.deleteFlag(CHECKOUT);
    expect((await flags.history(CHECKOUT)).items).toHaveLength(3);
    await expect(flags.history({ ...DEFAULT, flag: 'never' })).rejects.toMatchObject({ code: 'flag_not_found' });
    await expect(flags.history({ project: 'never' })).rejects.toMatchObject({ code: 'project_not_found' });
    for (const ref of [null, 7, { flag: 'checkout' }, { project: 7 }, { project: 'default', flag: 7 }]) {
      await expect(flags.history(ref as never)).rejects.toMatchObject({ code: 'invalid_input' });
    }
    await expect(flags.history({}, { after: 'x' })).rejects.toMatchObject({ code: 'invalid_input' });
    await expect(flags.history({}, { limit: 0 })).rejects.toMatchObject({ code: 'invalid_input' });
  });
});
