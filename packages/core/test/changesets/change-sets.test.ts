import { type Change, type ChangeSet, type Flags, memoryStorage, openFlags } from '../../src/index.js';
import { faultyStorage } from '../../src/testing.js';
import { everythingIn } from '../everything.js';
import { factsOf } from '../facts.js';
import { onEveryStorage } from '../on-every-storage.js';
import { CHECKOUT, DEFAULT, DEVELOPMENT, PRODUCTION } from '../references.js';
import { expectRefusal, refusalOf } from '../refusal.js';

describe('change sets', () => {
  const ID = '6f1c1f7e-6d0a-4c57-9b8e-4d5b1f2f7a01';
  const SHOP = { project: 'shop' } as const;

  /** Creates the flag `checkout`, on in production. */
  const LAUNCH: readonly Change<string>[] = [
    { op: 'createFlag', ref: DEFAULT, input: { name: 'checkout' } },
    { op: 'addStrategy', ref: PRODUCTION, input: { name: 'default' } },
    { op: 'enable', ref: PRODUCTION },
  ];

  const typesOf = ({ events }: Pick<ChangeSet, 'events'>) => events.map(({ type }) => type);

  onEveryStorage((start) => {
    let flags: Flags<string>;

    beforeEach(async () => {
      flags = await start();
    });

    describe('apply', () => {
      it('decides each change on the state after the earlier ones, in one commit', async () => {
        const set = await flags.apply(LAUNCH, { actor: 'ada', reason: 'Launch' });
        expect(typesOf(set)).toEqual(['flag-created', 'strategy-added', 'environment-enabled']);
        expect(set).toMatchObject({ actor: 'ada', reason: 'Launch', revisions: { 'flag/checkout': 1 } });
        expect(set.id).toMatch(/^[0-9a-f-]{36}$/);
        for (const event of set.events) {
          expect(event).toMatchObject({ changeSet: set.id, reason: 'Launch', actor: 'ada', at: set.at, revision: 1 });
        }
        expect((await flags.events.list({ flag: 'checkout' })).items.toReversed()).toEqual(set.events);
        expect(flags.isEnabled('checkout', {}, { environment: 'production' })).toBe(true);
      });

      it('stores the reason of a single operation, and refuses a reason that is not a string', async () => {
        await flags.createFlag(DEFAULT, { name: 'checkout' }, { reason: 'Launch' });
        await flags.disable(PRODUCTION, { actor: 'ada', reason: 'Launch' });
        await expectRefusal(flags, 'invalid_input', () => flags.archiveFlag(CHECKOUT, { reason: 7 as never }));
        const { items } = await flags.events.list({ flag: 'checkout' });
        expect(items.map(({ type, actor, reason }) => [type, actor, reason])).toEqual([
          ['flag-created', 'system', 'Launch'],
        ]);
      });

      it('changes nothing if one change is refused, and names that change', async () => {
        const broken: Change<string>[] = [...LAUNCH, { op: 'enable', ref: DEVELOPMENT }];
        const error = await expectRefusal(flags, 'environment_has_no_strategies', () => flags.apply(broken));
        expect(error.details).toEqual([{ message: error.message, path: '/changes/3' }]);
      });

      it.each<[string, Change<string>, string]>([
        ['an input', { op: 'setVariants', ref: CHECKOUT, input: [{ name: '' }] }, '/changes/1/input/0/name'],
        [
          'a segment',
          { op: 'addStrategy', ref: PRODUCTION, input: { name: 'a', segments: [9] } },
          '/changes/1/input/segments/0',
        ],
        [
          'a segment of a configuration',
          {
            op: 'configureEnvironment',
            ref: PRODUCTION,
            input: { enabled: true, strategies: [{ name: 'a', segments: [9] }] },
          },
          '/changes/1/input/strategies/0/segments/0',
        ],
        [
          'a reference',
          { op: 'enable', ref: { ...CHECKOUT, environment: 7 as unknown as string } },
          '/changes/1/ref/environment',
        ],
        ['an operation', { op: 'createToken' } as unknown as Change, '/changes/1/op'],
        ['no object', null as unknown as Change, '/changes/1'],
      ])('names the path of %s that is not valid', async (_, change, path) => {
        const create: Change<string> = { op: 'createFlag', ref: DEFAULT, input: { name: 'checkout' } };
        const error = await expectRefusal(flags, 'invalid_input', () => flags.apply([create, change]));
        expect(error.details[0]?.path).toBe(path);
        expect(error.message).toContain(path);
      });

      it('has no id if nothing changes', async () => {
        await flags.apply(LAUNCH);
        const set = await flags.apply([{ op: 'enable', ref: PRODUCTION }], { id: ID, reason: 'Again' });
        expect(set).toEqual({ id: null, at: set.at, actor: 'system', reason: 'Again', events: [], revisions: {} });
        expect(await flags.apply([])).toMatchObject({ id: null });
      });

      it('returns the first result for a repeated id, and changes nothing', async () => {
        const first = await flags.apply(LAUNCH, { id: ID.toUpperCase(), actor: 'ada', reason: 'Launch' });
        expect(first.id).toBe(ID);
        await flags.disable(PRODUCTION);
        expect(await flags.apply(LAUNCH, { id: ID, actor: 'ada', reason: 'Again' })).toEqual(first);
        const addition: Change<string> = { op: 'addStrategy', ref: DEVELOPMENT, input: { name: 'default' } };
        await expectRefusal(flags, 'id_taken', () => flags.apply(LAUNCH, { id: ID, actor: 'grace' }));
        await expectRefusal(flags, 'id_taken', () => flags.apply([addition], { id: ID, actor: 'ada' }));
        const repeated = await Promise.all(
          Array.from({ length: 5 }, () => flags.apply([addition], { id: ID.replace('6', '7') })),
        );
        expect(new Set(repeated.map((set) => JSON.stringify(set))).size).toBe(1);
        const { environments } = await flags.getFlag(CHECKOUT);
        expect(environments.find(({ name }) => name === 'development')?.strategies).toHaveLength(1);
      });

      it('generates an id for every single operation', async () => {
        await flags.createFlag(DEFAULT, { name: 'checkout' });
        await flags.updateFlag(CHECKOUT, { description: 'x', stale: true });
        const ids = (await flags.events.list({ flag: 'checkout' })).items.map(({ changeSet }) => changeSet);
        expect(ids[0]).toBe(ids[1]);
        expect(new Set(ids).size).toBe(2);
      });

      it.each([
        ['id', { id: 'no' }],
        ['reason', { reason: 'x'.repeat(1001) }],
        ['ifRevision/token~1a', { ifRevision: { 'token/a': 1 } }],
      ])('refuses an option that is not valid: %s', async (path, options) => {
        const error = await expectRefusal(flags, 'invalid_input', () => flags.apply(LAUNCH, options));
        expect(error.details[0]?.path).toBe(`/${path}`);
      });

      it('compares ifRevision with the stored revisions', async () => {
        await flags.apply(LAUNCH);
        const enable: Change<string> = { op: 'enable', ref: DEVELOPMENT };
        const add: Change<string> = { op: 'addStrategy', ref: DEVELOPMENT, input: { name: 'default' }, ifRevision: 1 };
        await expectRefusal(flags, 'revision_mismatch', () => flags.apply([{ ...add, ifRevision: 2 }, enable]));
        expect((await flags.apply([add, { ...enable, ifRevision: [1, 7] }])).revisions).toEqual({ 'flag/checkout': 2 });
        const create: Change<string> = { op: 'createFlag', ref: DEFAULT, input: { name: 'new' } };
        for (const ifRevision of [-1, 0]) {
          await expectRefusal(flags, 'revision_mismatch', () => flags.apply([{ ...create, ifRevision }]));
        }
        const stale = { 'project/default': 1, 'flag/checkout': 1 };
        const error = await expectRefusal(flags, 'revision_mismatch', () =>
          flags.apply([{ op: 'disable', ref: DEVELOPMENT }], { ifRevision: stale }),
        );
        expect(error.details[0]?.path).toBe('/ifRevision/flag~1checkout');
        await flags.apply([{ op: 'disable', ref: DEVELOPMENT }], { ifRevision: { ...stale, 'flag/checkout': 2 } });
      });

      it('refuses more than 500 changes, and more than 8 MiB', async () => {
        const many = Array.from(
          { length: 501 },
          (): Change<string> => ({ op: 'createFlag', ref: DEFAULT, input: { name: 'a' } }),
        );
        await expectRefusal(flags, 'change_set_too_large', () => flags.apply(many));
        const ofValues = (value: string) =>
          Array.from({ length: 9 }, (_, index): Change<string> => {
            const values = Array.from({ length: 50 }, () => value);
            const constraints = [{ contextName: 'userId', operator: 'IN', values } as const];
            return { op: 'createSegment', input: { name: `segment-${index}`, constraints } };
          });
        const large = ofValues('x'.repeat(10_000));
        const error = await expectRefusal(flags, 'change_set_too_large', () => flags.apply(large));
        // Three bytes per character.
        const wide = ofValues('€'.repeat(3300));
        await expectRefusal(flags, 'change_set_too_large', () => flags.apply(wide));
        expect(error.details[0]?.path).toMatch(/^\/changes\/\d$/);
        await flags.apply(large.slice(0, 7));
      });

      it('applies 500 changes of many flags', async () => {
        const changes = Array.from({ length: 250 }, (_, index): Change<string>[] => {
          const name = `flag-${index}`;
          const ref = { ...DEFAULT, flag: name, environment: 'production' };
          return [
            { op: 'createFlag', ref: DEFAULT, input: { name } },
            { op: 'addStrategy', ref, input: { name: 'default' } },
          ];
        }).flat();
        const set = await flags.apply(changes);
        expect(set.events).toHaveLength(500);
        expect(Object.keys(set.revisions)).toHaveLength(250);
        expect((await flags.listFlags(DEFAULT)).items).toHaveLength(250);
      });
    });

    describe('changes of one set', () => {
      it('create, archive and delete a flag, whose name is free again', async () => {
        const set = await flags.apply([
          ...LAUNCH,
          { op: 'archiveFlag', ref: CHECKOUT },
          { op: 'deleteFlag', ref: { flag: 'checkout' } },
        ]);
        expect(typesOf(set).slice(-2)).toEqual(['flag-archived', 'flag-deleted']);
        expect(set.revisions).toEqual({ 'flag/checkout': 1 });
        await refusalOf(flags.getFlag(CHECKOUT));
        expect((await flags.createFlag(DEFAULT, { name: 'checkout' })).revision).toBe(2);
      });

      it('delete a flag and create it again', async () => {
        await flags.apply(LAUNCH);
        const set = await flags.apply([
          { op: 'archiveFlag', ref: CHECKOUT },
          { op: 'deleteFlag', ref: CHECKOUT },
          { op: 'createFlag', ref: DEFAULT, input: { name: 'checkout', description: 'new' } },
        ]);
        expect(typesOf(set)).toEqual(['flag-archived', 'flag-deleted', 'flag-created']);
        expect(await flags.getFlag(CHECKOUT)).toMatchObject({ description: 'new', revision: 2 });
        expect(flags.isEnabled('checkout', {}, { environment: 'production' })).toBe(false);
      });

      it('archive and delete everything in a project, and then the project', async () => {
        await flags.createProject({ id: 'shop', name: 'Shop' });
        await flags.createFlag(SHOP, { name: 'cart' });
        await flags.createFlag(SHOP, { name: 'old' });
        await flags.segments.create({ name: 'beta', constraints: [], project: 'shop' });
        const cart = { ...SHOP, flag: 'cart' };
        await flags.apply([
          { op: 'archiveFlag', ref: cart },
          { op: 'deleteFlag', ref: cart },
          { op: 'archiveFlag', ref: { ...SHOP, flag: 'old' } },
          { op: 'deleteProject', ref: SHOP },
        ]);
        expect((await flags.listProjects()).items).toHaveLength(1);
        expect((await flags.segments.list()).items).toEqual([]);
        await flags.segments.create({ name: 'beta', constraints: [] });
      });

      it('delete a project, create it again, and fill it', async () => {
        await flags.createProject({ id: 'shop', name: 'Shop' });
        const set = await flags.apply([
          { op: 'deleteProject', ref: SHOP },
          { op: 'createProject', input: { id: 'shop', name: 'New shop' } },
          { op: 'createFlag', ref: SHOP, input: { name: 'cart' } },
        ]);
        expect(typesOf(set)).toEqual(['project-deleted', 'project-created', 'flag-created']);
        expect(await flags.getProject(SHOP)).toMatchObject({ name: 'New shop', flagCount: 1 });
      });

      it('clone a flag, depend on a flag and use a segment that the set has created', async () => {
        const copy = { ...DEFAULT, flag: 'copy' };
        await flags.apply([
          ...LAUNCH,
          { op: 'cloneFlag', ref: CHECKOUT, input: { name: 'copy' } },
          { op: 'addDependency', ref: copy, input: { flag: 'checkout' } },
          { op: 'createSegment', input: { name: 'beta', constraints: [] } },
          { op: 'addStrategy', ref: { ...copy, environment: 'production' }, input: { name: 'default', segments: [1] } },
        ]);
        expect((await flags.getFlag(CHECKOUT)).children).toEqual(['copy']);
        expect((await flags.segments.listUses({ segment: 1 })).items).toHaveLength(1);
        await expectRefusal(flags, 'flag_has_children', () => flags.archiveFlag(CHECKOUT));
        const error = await refusalOf(flags.apply([{ op: 'deleteSegment', ref: { segment: 1 } }]));
        expect(error).toMatchObject({ code: 'segment_in_use', details: [{ path: '/changes/0' }] });
      });

      it('see the children, the uses and the flags that the set has changed', async () => {
        const child = { ...DEFAULT, flag: 'child' };
        await flags.apply([...LAUNCH, { op: 'createFlag', ref: DEFAULT, input: { name: 'child' } }]);
        const depend: Change<string> = { op: 'addDependency', ref: child, input: { flag: 'checkout' } };
        const archive: Change<string> = { op: 'archiveFlag', ref: CHECKOUT };
        const error = await expectRefusal(flags, 'flag_has_children', () => flags.apply([depend, archive]));
        expect(error.details[0]?.path).toBe('/changes/1');
        await flags.apply([depend, { op: 'removeDependency', ref: child, input: { flag: 'checkout' } }, archive]);
        expect((await flags.getFlag(CHECKOUT)).archived).toBe(true);
      });

      it('cannot leave a project without owners', async () => {
        const change = (op: 'addMember' | 'removeMember', userId: number): Change<string> => {
          return { op, ref: DEFAULT, input: { userId, roleId: 4 } };
        };
        await flags.apply([change('addMember', 1), change('addMember', 2), change('removeMember', 1)]);
        await expectRefusal(flags, 'last_owner', () =>
          flags.apply([change('addMember', 3), change('removeMember', 2), change('removeMember', 3)]),
        );
      });
    });

    describe('plan', () => {
      it('returns the documents before and after with their events, and writes nothing', async () => {
        await flags.apply(LAUNCH);
        const before = await everythingIn(flags);
        const { documents } = await flags.plan([
          { op: 'disable', ref: PRODUCTION },
          { op: 'createSegment', input: { name: 'beta', constraints: [] } },
          { op: 'archiveFlag', ref: CHECKOUT },
        ]);
        expect(documents.map(({ kind, id, events }) => [kind, id, events.map(({ type }) => type)])).toEqual([
          ['flag', 'checkout', ['environment-disabled', 'flag-archived']],
          ['segment', '1', ['segment-created']],
        ]);
        expect(documents[0]).toMatchObject({ before: { archived: false }, after: { archived: true } });
        expect(documents[1]).toMatchObject({ before: null, after: { name: 'beta', createdBy: 'system' } });
        expect(await everythingIn(flags)).toEqual(before);
      });

      it('refuses the same input as apply, and shows no hash of a token', async () => {
        const error = await refusalOf(flags.plan([{ op: 'enable', ref: PRODUCTION }]));
        expect(error).toMatchObject({ code: 'flag_not_found', details: [{ path: '/changes/0' }] });
        await flags.createProject({ id: 'shop', name: 'Shop' });
        await flags.tokens.create({ name: 'shop', kind: 'client', project: 'shop' });
        const { documents } = await flags.plan([{ op: 'deleteProject', ref: SHOP }]);
        expect(documents.map(({ kind }) => kind)).toEqual(['project', 'token']);
        expect(JSON.stringify(documents)).not.toContain('hash');
      });
    });

    describe('configureEnvironment', () => {
      const strategiesIn = async () => {
        const { environments } = await flags.getFlag(CHECKOUT);
        return environments.find(({ name }) => name === 'production')?.strategies ?? [];
      };

      beforeEach(() => flags.createFlag(DEFAULT, { name: 'checkout' }));

      it('replaces the strategies and the switch with one event per change', async () => {
        const first = await flags.configureEnvironment(PRODUCTION, {
          enabled: true,
          strategies: [{ name: 'a' }, { name: 'b' }],
        });
        expect(first).toMatchObject({ name: 'production', enabled: true, strategies: [{ name: 'a' }, { name: 'b' }] });
        const [a, b] = first.strategies;
        const configure = () =>
          flags.configureEnvironment(PRODUCTION, { enabled: false, strategies: [{ ...b, name: 'b2' }, { name: 'c' }] });
        expect(await factsOf(flags, configure)).toEqual([
          'environment-disabled',
          'strategy-updated',
          'strategy-added',
          'strategy-removed',
        ]);
        expect(await strategiesIn()).toMatchObject([{ id: b?.id, name: 'b2' }, { name: 'c' }]);
        expect(JSON.stringify(await strategiesIn())).not.toContain(a?.id);
        const same = { enabled: false, strategies: await strategiesIn() };
        expect(await factsOf(flags, () => flags.configureEnvironment(PRODUCTION, same))).toEqual([]);
      });

      it.each([
        ['without sortOrder', [undefined, undefined, undefined]],
        ['with sortOrder', [30, 20, 10]],
        ['with some sortOrder', [undefined, 5, undefined]],
      ])('keeps the given order %s', async (_, orders) => {
        const given = (names: string[], ids: Readonly<Record<string, string>> = {}) =>
          names.map((name, index) => {
            const sortOrder = orders[index];
            return { name, ...(sortOrder !== undefined && { sortOrder }), ...(ids[name] && { id: ids[name] }) };
          });
        const names = async () => (await strategiesIn()).map(({ name }) => name);
        await flags.configureEnvironment(PRODUCTION, { enabled: true, strategies: given(['a', 'b', 'c']) });
        expect(await names()).toEqual(['a', 'b', 'c']);
        const ids = Object.fromEntries((await strategiesIn()).map(({ id, name }) => [name, id]));
        await flags.configureEnvironment(PRODUCTION, { enabled: true, strategies: given(['c', 'new', 'a'], ids) });
        expect(await names()).toEqual(['c', 'new', 'a']);
        expect((await strategiesIn()).map(({ id }) => id)).toEqual([ids.c, expect.any(String), ids.a]);
      });

      it('gives a strategy of another environment a new id, and refuses repeated ids', async () => {
        const { strategies } = await flags.configureEnvironment(DEVELOPMENT, {
          enabled: true,
          strategies: [{ name: 'a' }],
        });
        await flags.configureEnvironment(PRODUCTION, { enabled: true, strategies });
        expect((await strategiesIn())[0]?.id).not.toBe(strategies[0]?.id);
        const [own] = await strategiesIn();
        const twice = { enabled: true, strategies: [own, own] as { name: string }[] };
        const error = await expectRefusal(flags, 'invalid_input', () => flags.configureEnvironment(PRODUCTION, twice));
        expect(error.details[0]?.path).toBe('/strategies/1/id');
      });

      it('refuses an enabled environment without strategies', async () => {
        const none = { enabled: true, strategies: [] };
        await expectRefusal(flags, 'environment_has_no_strategies', () => flags.configureEnvironment(PRODUCTION, none));
      });
    });

    describe('moveFlag', () => {
      beforeEach(async () => {
        await flags.apply([...LAUNCH, { op: 'createProject', input: { id: 'shop', name: 'Shop' } }]);
      });

      it('moves a flag with its strategies, variants and history', async () => {
        const { events } = await flags.apply([{ op: 'moveFlag', ref: CHECKOUT, input: SHOP }]);
        expect(events).toMatchObject([
          {
            type: 'flag-moved',
            project: 'shop',
            flag: 'checkout',
            data: { project: 'shop' },
            before: { project: 'default' },
          },
        ]);
        expect((await flags.listFlags(DEFAULT)).items).toEqual([]);
        expect((await flags.listFlags(SHOP)).items.map(({ name }) => name)).toEqual(['checkout']);
        expect(flags.isEnabled('checkout', {}, { environment: 'production' })).toBe(true);
        expect(flags.configuration({ environment: 'production' }).flags[0]?.project).toBe('shop');
        await refusalOf(flags.getFlag(CHECKOUT));
        const moved = { ...SHOP, flag: 'checkout' };
        expect(await factsOf(flags, () => flags.moveFlag(moved, SHOP))).toEqual([]);
        await expectRefusal(flags, 'project_not_empty', () => flags.deleteProject(SHOP));
      });

      it('refuses an unknown project, an archived flag, dependencies and segments of the old project', async () => {
        const move = (input: { project: string } = SHOP) => flags.moveFlag(CHECKOUT, input);
        await expectRefusal(flags, 'project_not_found', () => move({ project: 'none' }));
        await flags.createFlag(DEFAULT, { name: 'parent' });
        await flags.addDependency(CHECKOUT, { flag: 'parent' });
        await expectRefusal(flags, 'parent_not_found', () => move());
        await expectRefusal(flags, 'flag_has_children', () => flags.moveFlag({ ...DEFAULT, flag: 'parent' }, SHOP));
        await flags.removeDependencies(CHECKOUT);
        const own = await flags.segments.create({ name: 'own', constraints: [], project: 'default' });
        const shared = await flags.segments.create({ name: 'shared', constraints: [] });
        const used = await flags.addStrategy(PRODUCTION, { name: 'default', segments: [own.id, shared.id] });
        await expectRefusal(flags, 'segment_in_use', () => move());
        await flags.updateStrategy({ ...PRODUCTION, strategy: used.id }, { name: 'default', segments: [shared.id] });
        await flags.archiveFlag(CHECKOUT);
        await expectRefusal(flags, 'flag_archived', () => move());
        await flags.reviveFlag(CHECKOUT);
        expect(await move()).toMatchObject({ name: 'checkout', project: 'shop' });
        expect(
          (await flags.segments.listUses({ segment: shared.id })).items.every(({ project }) => project === 'shop'),
        ).toBe(true);
      });
    });
  });

  it('pass on a failure of the storage, which is about no change of theirs', async () => {
    const storage = faultyStorage(memoryStorage());
    const flags = await openFlags<string>({ storage });
    const fault = storage.inject({ method: 'get' });
    const { code, message, details } = await refusalOf(flags.apply(LAUNCH));
    expect([code, details]).toEqual(['storage_unavailable', [{ message }]]);
    expect(fault.strikes()).toBeGreaterThan(0);
    await flags.close();
  });

  describe('a listener of the configuration', () => {
    it('never sees a state within a set', async () => {
      const flags = await openFlags<string>({ storage: memoryStorage() });
      await flags.createFlag(DEFAULT, { name: 'a' });
      await flags.createFlag(DEFAULT, { name: 'b' });
      const set = (op: 'enable' | 'disable'): Change<string>[] =>
        ['a', 'b'].map((flag) => ({ op, ref: { ...DEFAULT, flag, environment: 'production' } }));
      const add = ['a', 'b'].map((flag): Change<string> => {
        return { op: 'addStrategy', ref: { ...DEFAULT, flag, environment: 'production' }, input: { name: 'default' } };
      });
      await flags.apply(add);
      const seen: boolean[][] = [];
      flags.onConfigurationChange(() => {
        seen.push(['a', 'b'].map((flag) => flags.isEnabled(flag, {}, { environment: 'production' })));
      });
      await flags.apply(set('enable'));
      await flags.apply(set('disable'));
      expect(seen.length).toBeGreaterThan(0);
      expect(seen.filter(([a, b]) => a !== b)).toEqual([]);
      await flags.close();
    });
  });
});

describe('the id of a change set', () => {
  const DEFAULT = { project: 'default' };

  async function idAt(time: number): Promise<string> {
    const flags = await openFlags<string>({
      storage: memoryStorage(),
      now: () => new Date(time),
      usage: { interval: 0 },
    });
    const { id } = await flags.apply([{ op: 'createFlag', ref: DEFAULT, input: { name: 'checkout' } }]);
    await flags.close();
    return id ?? '';
  }

  it('is a UUID of version 7, which grows with time', async () => {
    const time = Date.parse('2026-03-01T12:00:00.000Z');
    const ids = [await idAt(time), await idAt(time + 1), await idAt(time + 2)];
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(ids.toSorted()).toEqual(ids);
  });

  it('exists while the clock shows a time before 1970', async () => {
    expect(await idAt(-1)).toMatch(/^00000000-0000-7/);
  });
});
