import type { FlagChanges, NewFlag } from '../../src/index.js';
import { factsOf } from './facts.js';
import { onEveryStorage } from './on-every-storage.js';
import { CHECKOUT, DEFAULT, INHERITED_NAMES } from './references.js';
import { expectRefusal } from './refusal.js';
import { settableClock } from './settable-clock.js';

onEveryStorage((start) => {
  describe('creating a flag', () => {
    it('gives it the documented defaults', async () => {
      const clock = settableClock();
      const flags = await start({ now: clock.now });
      expect(await flags.createFlag(DEFAULT, { name: 'checkout' })).toEqual({
        name: 'checkout',
        project: 'default',
        description: '',
        type: 'release',
        stale: false,
        impressionData: false,
        archived: false,
        createdAt: clock.text(),
        variants: [],
        labels: [],
        owner: null,
        revision: 1,
      });
    });

    it('keeps the given members', async () => {
      const flags = await start();
      const input = { name: 'checkout', description: 'The new one', type: 'kill-switch', impressionData: true };
      expect(await flags.createFlag(DEFAULT, input)).toMatchObject(input);
      expect(await flags.getFlag(CHECKOUT)).toMatchObject(input);
    });

    it('leaves it off and without strategies in every environment, in the configured order', async () => {
      const flags = await start({ environments: [{ name: 'test' }, { name: 'acceptance' }, { name: 'live' }] });
      await flags.createFlag(DEFAULT, { name: 'checkout' });
      expect((await flags.getFlag(CHECKOUT)).environments).toEqual([
        { name: 'test', enabled: false, strategies: [] },
        { name: 'acceptance', enabled: false, strategies: [] },
        { name: 'live', enabled: false, strategies: [] },
      ]);
    });

    it('ignores members that only the service sets', async () => {
      const flags = await start();
      const input = {
        name: 'checkout',
        createdAt: '2000-01-01',
        archived: true,
        stale: true,
        variants: [{}],
        project: 'x',
      };
      const flag = await flags.createFlag(DEFAULT, input);
      expect(flag).toMatchObject({ archived: false, stale: false, variants: [], project: 'default' });
      expect(flag.createdAt).not.toBe('2000-01-01');
    });

    it.each(['a', 'A.b-c_d~e!f*g(h)', "it's", '...', 'x'.repeat(100), ...INHERITED_NAMES])(
      'takes the name %j',
      async (name) => {
        const flags = await start();
        expect((await flags.createFlag(DEFAULT, { name })).name).toBe(name);
        expect((await flags.getFlag({ ...DEFAULT, flag: name })).name).toBe(name);
      },
    );

    it.each(['', '.', '..', 'a b', 'a/b', 'a%20b', 'ä', '日本', 'a\u0000', '\ud800', 'x'.repeat(101), 'a?b', 'a#b'])(
      'refuses the name %j',
      async (name) => {
        const flags = await start();
        const error = await expectRefusal(flags, 'invalid_input', () => flags.createFlag(DEFAULT, { name }));
        expect(error.details).toContainEqual(expect.objectContaining({ path: '/name' }));
      },
    );

    it.each([
      ['no name', {}, ''],
      ['a number for a name', { name: 1 }, '/name'],
      ['null for a name', { name: null }, '/name'],
      ['an unknown type', { name: 'a', type: 'other' }, '/type'],
      ['an inherited member for a type', { name: 'a', type: 'constructor' }, '/type'],
      ['a number for a description', { name: 'a', description: 1 }, '/description'],
      ['text for impression data', { name: 'a', impressionData: 'true' }, '/impressionData'],
      ['a list', [], ''],
      ['null', null, ''],
      ['text', 'checkout', ''],
    ])('refuses %s and says where the fault is', async (_, input, path) => {
      const flags = await start();
      const error = await expectRefusal(flags, 'invalid_input', () => flags.createFlag(DEFAULT, input as NewFlag));
      expect(error.details.map((detail) => detail.path ?? '').some((found) => found.startsWith(path))).toBe(true);
    });

    it('reports all issues at once', async () => {
      const flags = await start();
      const input = { name: 'a b', type: 'other', description: 1 } as unknown as NewFlag;
      const error = await expectRefusal(flags, 'invalid_input', () => flags.createFlag(DEFAULT, input));
      expect(error.details.map(({ path }) => path)).toEqual(expect.arrayContaining(['/name', '/type', '/description']));
    });

    it('takes the configured types only', async () => {
      const flags = await start({
        flagTypes: [
          { name: 'release', lifetimeDays: 1 },
          { name: 'ops', lifetimeDays: null },
        ],
      });
      expect((await flags.createFlag(DEFAULT, { name: 'a', type: 'ops' })).type).toBe('ops');
      await expectRefusal(flags, 'invalid_input', () => flags.createFlag(DEFAULT, { name: 'b', type: 'kill-switch' }));
    });

    it('refuses a name that is taken in any project or by an archived flag; names are case-sensitive', async () => {
      const flags = await start();
      await flags.createProject({ id: 'shop', name: 'Shop' });
      await flags.createFlag(DEFAULT, { name: 'checkout' });
      await expectRefusal(flags, 'flag_exists', () => flags.createFlag(DEFAULT, { name: 'checkout' }));
      await expectRefusal(flags, 'flag_exists', () => flags.createFlag({ project: 'shop' }, { name: 'checkout' }));
      await flags.archiveFlag(CHECKOUT);
      await expectRefusal(flags, 'flag_exists', () => flags.createFlag(DEFAULT, { name: 'checkout' }));
      expect((await flags.createFlag(DEFAULT, { name: 'Checkout' })).name).toBe('Checkout');
    });

    it('refuses an unknown project', async () => {
      const flags = await start();
      await expectRefusal(flags, 'project_not_found', () => flags.createFlag({ project: 'shop' }, { name: 'a' }));
    });
  });

  describe('finding flags', () => {
    it('lists the project’s flags in code-point order with every environment', async () => {
      const flags = await start({ environments: [{ name: 'dev', displayName: 'Development' }] });
      for (const name of ['b', 'a', 'B', '_', 'constructor', '__proto__']) await flags.createFlag(DEFAULT, { name });
      const list = await flags.listFlags(DEFAULT);
      expect(list.map(({ name }) => name)).toEqual(['B', '_', '__proto__', 'a', 'b', 'constructor']);
      expect(list[0]).toEqual({
        name: 'B',
        type: 'release',
        stale: false,
        createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        lastSeenAt: null,
        environments: [{ name: 'dev', displayName: 'Development', enabled: false }],
      });
    });

    it('finds a flag under its own project only', async () => {
      const flags = await start();
      await flags.createProject({ id: 'shop', name: 'Shop' });
      await flags.createFlag(DEFAULT, { name: 'checkout' });
      await expectRefusal(flags, 'flag_not_found', () => flags.getFlag({ project: 'shop', flag: 'checkout' }));
      await expectRefusal(flags, 'flag_not_found', () => flags.getFlag({ ...DEFAULT, flag: 'toString' }));
      await expectRefusal(flags, 'project_not_found', () => flags.getFlag({ project: 'none', flag: 'checkout' }));
      await expectRefusal(flags, 'project_not_found', () => flags.listFlags({ project: 'none' }));
    });
  });

  describe('updating a flag', () => {
    it('changes the given members and keeps the rest', async () => {
      const flags = await start();
      await flags.createFlag(DEFAULT, {
        name: 'checkout',
        description: 'Old',
        type: 'experiment',
        impressionData: true,
      });
      expect(await flags.updateFlag(CHECKOUT, { description: 'New' })).toMatchObject({
        description: 'New',
        type: 'experiment',
        impressionData: true,
        revision: 2,
      });
      expect(await flags.updateFlag(CHECKOUT, { description: null, type: 'operational', stale: true })).toMatchObject({
        description: null,
        type: 'operational',
        stale: true,
        impressionData: true,
      });
    });

    it('ignores the members that cannot change', async () => {
      const flags = await start();
      const created = await flags.createFlag(DEFAULT, { name: 'checkout' });
      const changes = {
        name: 'other',
        project: 'x',
        createdAt: '2000',
        lastSeen: '2000',
        lastSeenAt: '2000',
        archived: true,
      };
      expect(await factsOf(flags, () => flags.updateFlag(CHECKOUT, changes as FlagChanges))).toEqual([]);
      expect(await flags.getFlag(CHECKOUT)).toMatchObject(created);
    });

    it.each([{ type: 'other' }, { type: null }, { description: 1 }, { stale: 'yes' }, { impressionData: 1 }])(
      'refuses %j',
      async (changes) => {
        const flags = await start();
        await flags.createFlag(DEFAULT, { name: 'checkout' });
        await expectRefusal(flags, 'invalid_input', () =>
          flags.updateFlag(CHECKOUT, changes as unknown as FlagChanges),
        );
      },
    );

    it('refuses an unknown flag and one of another project', async () => {
      const flags = await start();
      await flags.createProject({ id: 'shop', name: 'Shop' });
      await flags.createFlag(DEFAULT, { name: 'checkout' });
      await expectRefusal(flags, 'flag_not_found', () => flags.updateFlag({ ...DEFAULT, flag: 'x' }, { stale: true }));
      await expectRefusal(flags, 'flag_not_found', () =>
        flags.updateFlag({ project: 'shop', flag: 'checkout' }, { stale: true }),
      );
    });
  });
});
