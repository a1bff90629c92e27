import type { FlagChanges, Flags, NewFlag } from '../../src/index.js';
import { eventsOf, factsOf } from '../facts.js';
import { onEveryStorage } from '../on-every-storage.js';
import { CHECKOUT, DEFAULT, INHERITED_NAMES } from '../references.js';
import { expectRefusal } from '../refusal.js';
import { settableClock } from '../settable-clock.js';

onEveryStorage((start) => {
  describe('creating a flag', () => {
    it('fills in the documented defaults', async () => {
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
      'accepts the name %j',
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
    ])('refuses %s, with its path', async (_, input, path) => {
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

    it('accepts the configured types only', async () => {
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
      const { items: list } = await flags.listFlags(DEFAULT);
      expect(list.map(({ name }) => name)).toEqual(['B', '_', '__proto__', 'a', 'b', 'constructor']);
      expect(list[0]).toMatchObject({
        name: 'B',
        project: 'default',
        type: 'release',
        stale: false,
        createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        lastSeenAt: null,
        environments: [{ name: 'dev', enabled: false }],
      });
      const shown = [{ name: 'dev', displayName: 'Development', enabled: false }];
      expect((await flags.getProject(DEFAULT)).flags[0]).toMatchObject({ name: 'B', environments: shown });
    });

    it('finds a flag in its own project only', async () => {
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

const OWNED = { labels: ['team-shop', 'beta'], owner: 'ada@example.org' };

async function owned(flags: Flags): Promise<Flags> {
  await flags.createFlag(DEFAULT, { name: 'checkout', ...OWNED });
  return flags;
}

onEveryStorage((start) => {
  describe('labels and owner', () => {
    it('are kept in the given order, and copied by a clone', async () => {
      const flags = await owned(await start());
      expect(await flags.getFlag(CHECKOUT)).toMatchObject(OWNED);
      expect(await flags.cloneFlag(CHECKOUT, { name: 'copy' })).toMatchObject(OWNED);
      expect(await flags.createFlag(DEFAULT, { name: 'plain' })).toMatchObject({ labels: [], owner: null });
    });

    it('change by an update, and stay when absent', async () => {
      const flags = await owned(await start());
      expect(await flags.updateFlag(CHECKOUT, { description: 'New' })).toMatchObject(OWNED);
      expect(await flags.updateFlag(CHECKOUT, { labels: ['a', 'b'], owner: null })).toMatchObject({
        labels: ['a', 'b'],
        owner: null,
      });
    });

    it('are in events, after and before, and are restored from them', async () => {
      const flags = await owned(await start());
      const events = await eventsOf(flags, () => flags.updateFlag(CHECKOUT, { labels: ['a'] }));
      expect(events).toMatchObject([
        { type: 'flag-updated', data: { labels: ['a'], owner: OWNED.owner }, before: OWNED },
      ]);
      const created = await flags.events.list({ type: 'flag-created' });
      expect(created.items).toMatchObject([{ data: OWNED }]);
    });

    it('record nothing when they stay the same', async () => {
      const flags = await owned(await start());
      expect(await factsOf(flags, () => flags.updateFlag(CHECKOUT, OWNED))).toEqual([]);
    });

    it('keep the values of the call, even if the caller changes its lists meanwhile', async () => {
      const flags = await start();
      const labels = ['a'];
      const creating = flags.createFlag(DEFAULT, { name: 'checkout', labels });
      labels.push('');
      expect((await creating).labels).toEqual(['a']);
      const more = ['b'];
      const changing = flags.changeLabels(CHECKOUT, { add: more });
      more.push('');
      expect((await changing).labels).toEqual(['a', 'b']);
    });

    it.each<[object, string]>([
      [{ labels: 'a' }, '/labels'],
      [{ labels: null }, '/labels'],
      [{ labels: [''] }, '/labels/0'],
      [{ labels: ['x'.repeat(51)] }, '/labels/0'],
      [{ labels: ['a', 7] }, '/labels/1'],
      [{ labels: ['\ud800'] }, '/labels/0'],
      [{ labels: ['a', 'b', 'a'] }, '/labels/2'],
      [{ labels: Array.from({ length: 21 }, (_, index) => `label-${index}`) }, '/labels'],
      [{ owner: '' }, '/owner'],
      [{ owner: 7 }, '/owner'],
      [{ owner: 'x'.repeat(201) }, '/owner'],
    ])('refuse %j', async (input, path) => {
      const flags = await owned(await start());
      const refuse = (change: () => Promise<unknown>) => expectRefusal(flags, 'invalid_input', change);
      const create = () => flags.createFlag(DEFAULT, { name: 'new', ...input } as NewFlag);
      expect((await refuse(create)).details).toContainEqual(expect.objectContaining({ path }));
      expect((await refuse(() => flags.updateFlag(CHECKOUT, input as FlagChanges))).details).toContainEqual(
        expect.objectContaining({ path }),
      );
    });
  });

  describe('changing labels', () => {
    it('appends and removes, in one event', async () => {
      const flags = await owned(await start());
      const changes = { add: ['new', 'beta'], remove: ['team-shop', 'unknown'] };
      expect(await factsOf(flags, () => flags.changeLabels(CHECKOUT, changes))).toEqual(['flag-updated']);
      expect((await flags.getFlag(CHECKOUT)).labels).toEqual(['beta', 'new']);
      expect(await factsOf(flags, () => flags.changeLabels(CHECKOUT, changes))).toEqual([]);
      expect(await factsOf(flags, () => flags.changeLabels(CHECKOUT, {}))).toEqual([]);
    });

    it('loses no label when several callers add at the same moment', async () => {
      const flags = await owned(await start());
      const labels = Array.from({ length: 18 }, (_, index) => `label-${index}`);
      await Promise.all(labels.map((label) => flags.changeLabels(CHECKOUT, { add: [label] })));
      expect([...(await flags.getFlag(CHECKOUT)).labels].sort()).toEqual([...OWNED.labels, ...labels].sort());
      await expectRefusal(flags, 'invalid_input', () => flags.changeLabels(CHECKOUT, { add: ['one-more'] }));
    });

    it.each([
      { add: [''] },
      { remove: 'a' },
      { add: Array.from({ length: 21 }, (_, index) => `label-${index}`) },
      null,
      7,
    ])('refuses %j', async (changes) => {
      const flags = await owned(await start());
      await expectRefusal(flags, 'invalid_input', () => flags.changeLabels(CHECKOUT, changes as never));
    });

    it('is refused for an archived flag, an unknown one and another revision', async () => {
      const flags = await owned(await start());
      const add = { add: ['a'] };
      await expectRefusal(flags, 'flag_not_found', () => flags.changeLabels({ ...DEFAULT, flag: 'none' }, add));
      await expectRefusal(flags, 'revision_mismatch', () => flags.changeLabels(CHECKOUT, add, { ifRevision: 7 }));
      await flags.archiveFlag(CHECKOUT);
      await expectRefusal(flags, 'flag_archived', () => flags.changeLabels(CHECKOUT, add));
    });
  });
});
