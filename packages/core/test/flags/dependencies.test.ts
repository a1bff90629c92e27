import type { DependencyInput, Flags } from '../../src/index.js';
import { eventsOf, factsOf } from '../facts.js';
import { onEveryStorage, type Start } from '../on-every-storage.js';
import { CHECKOUT, DEFAULT, DEVELOPMENT, INHERITED_NAMES, PRODUCTION } from '../references.js';
import { expectRefusal } from '../refusal.js';
import { DAY, settableClock } from '../settable-clock.js';

const PAYMENTS = { ...DEFAULT, flag: 'payments' };
const SEARCH = { ...DEFAULT, flag: 'search' };
const ON_PAYMENTS = { flag: 'payments', enabled: true, variants: [] };

async function withFlags(flags: Flags<string>): Promise<Flags<string>> {
  for (const name of ['checkout', 'payments', 'search']) await flags.createFlag(DEFAULT, { name });
  return flags;
}

/** Checkout depends on payments. */
async function withDependency(flags: Flags<string>): Promise<Flags<string>> {
  await withFlags(flags);
  await flags.addDependency(CHECKOUT, { flag: 'payments' });
  return flags;
}

async function familyOf(flags: Flags<string>, flag: string): Promise<unknown> {
  const { dependencies, children } = await flags.getFlag({ ...DEFAULT, flag });
  return { dependencies, children };
}

onEveryStorage((start) => {
  describe('a dependency', () => {
    it('requires the parent to be on by default', async () => {
      const flags = await withFlags(await start());
      expect(await familyOf(flags, 'checkout')).toEqual({ dependencies: [], children: [] });
      expect(await flags.addDependency(CHECKOUT, { flag: 'payments' })).toEqual(ON_PAYMENTS);
      expect(await familyOf(flags, 'checkout')).toEqual({ dependencies: [ON_PAYMENTS], children: [] });
      expect(await familyOf(flags, 'payments')).toEqual({ dependencies: [], children: ['checkout'] });
    });

    it('is added to others, and keeps its position when it changes', async () => {
      const flags = await withDependency(await start());
      await flags.addDependency(CHECKOUT, { flag: 'search', enabled: false });
      await flags.addDependency(CHECKOUT, { flag: 'payments', variants: ['blue'] });
      expect(await familyOf(flags, 'checkout')).toEqual({
        dependencies: [
          { flag: 'payments', enabled: true, variants: ['blue'] },
          { flag: 'search', enabled: false, variants: [] },
        ],
        children: [],
      });
    });

    it('may be on a flag of any name', async () => {
      const flags = await withFlags(await start());
      for (const name of INHERITED_NAMES) {
        await flags.createFlag(DEFAULT, { name });
        await flags.addDependency(CHECKOUT, { flag: name });
      }
      const { dependencies } = await flags.getFlag(CHECKOUT);
      expect(dependencies.map(({ flag }) => flag)).toEqual(INHERITED_NAMES);
    });

    it('can be removed', async () => {
      const flags = await withDependency(await start());
      await flags.removeDependency(CHECKOUT, { flag: 'payments' });
      expect(await familyOf(flags, 'checkout')).toEqual({ dependencies: [], children: [] });
      expect(await familyOf(flags, 'payments')).toEqual({ dependencies: [], children: [] });
      await expectRefusal(flags, 'dependency_not_found', () => flags.removeDependency(CHECKOUT, { flag: 'payments' }));
    });

    it('can be removed with all others', async () => {
      const flags = await withDependency(await start());
      await flags.addDependency(CHECKOUT, { flag: 'search' });
      const facts = await factsOf(flags, () => flags.removeDependencies(CHECKOUT));
      expect(facts).toEqual(['dependency-removed', 'dependency-removed']);
      expect(await familyOf(flags, 'checkout')).toEqual({ dependencies: [], children: [] });
      expect(await factsOf(flags, () => flags.removeDependencies(CHECKOUT))).toEqual([]);
    });

    it('is recorded by one event of the child per change', async () => {
      const flags = await withFlags(await start());
      const events = await eventsOf(flags, async () => {
        await flags.addDependency(CHECKOUT, { flag: 'payments' });
        await flags.addDependency(CHECKOUT, { flag: 'payments', enabled: true });
        await flags.addDependency(CHECKOUT, { flag: 'payments', enabled: false });
        await flags.removeDependency(CHECKOUT, { flag: 'payments' });
      });
      const off = { ...ON_PAYMENTS, enabled: false };
      expect(events).toMatchObject([
        { type: 'dependency-added', ...CHECKOUT, data: ON_PAYMENTS, before: null },
        { type: 'dependency-updated', ...CHECKOUT, data: off, before: ON_PAYMENTS },
        { type: 'dependency-removed', ...CHECKOUT, data: null, before: off },
      ]);
    });

    it.each([
      {},
      { flag: '' },
      { flag: 'a b' },
      { flag: 5 },
      { flag: 'payments', enabled: 'yes' },
      { flag: 'payments', variants: 'blue' },
      { flag: 'payments', variants: [5] },
      { flag: 'payments', enabled: false, variants: ['blue'] },
      [],
      null,
    ])('is refused from %j', async (input) => {
      const flags = await withFlags(await start());
      await expectRefusal(flags, 'invalid_input', () => flags.addDependency(CHECKOUT, input as DependencyInput));
    });

    it('is refused on the flag itself', async () => {
      const flags = await withFlags(await start());
      await expectRefusal(flags, 'dependency_cycle', () => flags.addDependency(CHECKOUT, { flag: 'checkout' }));
    });

    it('is refused on a flag that is unknown, archived or of another project', async () => {
      const flags = await withFlags(await start());
      await flags.createProject({ id: 'shop', name: 'Shop' });
      await flags.createFlag({ project: 'shop' }, { name: 'basket' });
      await flags.archiveFlag(SEARCH);
      for (const flag of ['unknown', 'basket', 'search']) {
        await expectRefusal(flags, 'parent_not_found', () => flags.addDependency(CHECKOUT, { flag }));
      }
    });

    it('has only one level', async () => {
      const flags = await withDependency(await start());
      await expectRefusal(flags, 'dependency_too_deep', () => flags.addDependency(SEARCH, { flag: 'checkout' }));
      await expectRefusal(flags, 'dependency_too_deep', () => flags.addDependency(PAYMENTS, { flag: 'search' }));
      await expectRefusal(flags, 'dependency_too_deep', () => flags.addDependency(PAYMENTS, { flag: 'checkout' }));
    });

    it('still has one level after a child is revived', async () => {
      const flags = await withDependency(await start());
      await flags.archiveFlag(CHECKOUT);
      expect(await familyOf(flags, 'payments')).toEqual({ dependencies: [], children: [] });
      await expectRefusal(flags, 'dependency_too_deep', () => flags.addDependency(PAYMENTS, { flag: 'search' }));
      await flags.reviveFlag({ flag: 'checkout' });
      expect(await familyOf(flags, 'checkout')).toEqual({ dependencies: [ON_PAYMENTS], children: [] });
    });

    it('is not changed while the child is archived, unknown, or has another revision', async () => {
      const flags = await withDependency(await start());
      const unknown = { ...DEFAULT, flag: 'unknown' };
      await expectRefusal(flags, 'flag_not_found', () => flags.addDependency(unknown, { flag: 'payments' }));
      await expectRefusal(flags, 'flag_not_found', () => flags.removeDependencies(unknown));
      const stale = { ifRevision: 1 };
      await expectRefusal(flags, 'revision_mismatch', () => flags.addDependency(CHECKOUT, { flag: 'search' }, stale));
      await flags.archiveFlag(CHECKOUT);
      await expectRefusal(flags, 'flag_archived', () => flags.addDependency(CHECKOUT, { flag: 'search' }));
      await expectRefusal(flags, 'flag_archived', () => flags.removeDependency(CHECKOUT, { flag: 'payments' }));
      await expectRefusal(flags, 'flag_archived', () => flags.removeDependencies(CHECKOUT));
    });
  });

  describe('a parent', () => {
    it('is not archived while a live flag depends on it', async () => {
      const flags = await withDependency(await start());
      const error = await expectRefusal(flags, 'flag_has_children', () => flags.archiveFlag(PAYMENTS));
      expect(error.message).toContain('checkout');
      await flags.archiveFlag(CHECKOUT);
      await flags.archiveFlag(PAYMENTS);
    });

    it.each(['archived', 'deleted'])('is lost by a child that is revived while the parent is %s', async (state) => {
      const flags = await withDependency(await start());
      await flags.archiveFlag(CHECKOUT);
      await flags.archiveFlag(PAYMENTS);
      if (state === 'deleted') await flags.deleteFlag({ flag: 'payments' });
      const facts = await factsOf(flags, () => flags.reviveFlag({ flag: 'checkout' }));
      expect(facts).toEqual(['flag-revived', 'dependency-removed']);
      expect(await familyOf(flags, 'checkout')).toEqual({ dependencies: [], children: [] });
      if (state === 'archived') await flags.deleteFlag({ flag: 'payments' });
      await flags.createFlag(DEFAULT, { name: 'payments' });
      expect(await familyOf(flags, 'payments')).toEqual({ dependencies: [], children: [] });
    });

    it('is gone if it exists in another project only', async () => {
      const flags = await withDependency(await start());
      await flags.archiveFlag(CHECKOUT);
      await flags.archiveFlag(PAYMENTS);
      await flags.deleteFlag({ flag: 'payments' });
      await flags.createProject({ id: 'shop', name: 'Shop' });
      await flags.createFlag({ project: 'shop' }, { name: 'payments' });
      await flags.reviveFlag({ flag: 'checkout' });
      expect(await familyOf(flags, 'checkout')).toEqual({ dependencies: [], children: [] });
    });

    it('is left out as well when an import revives the child, unless the document names it', async () => {
      const flags = await withDependency(await start());
      await flags.archiveFlag(CHECKOUT);
      await flags.archiveFlag(PAYMENTS);
      await flags.deleteFlag({ flag: 'payments' });
      const child = { name: 'checkout', archived: false };
      const named = { ...child, dependencies: [{ flag: 'payments' }] };
      await expectRefusal(flags, 'invalid_input', () => flags.definitions.import({ version: 1, flags: [named] }));
      await flags.definitions.import({ version: 1, flags: [child] });
      expect(await familyOf(flags, 'checkout')).toEqual({ dependencies: [], children: [] });
    });

    it('loses deleted children, deleted alone or with their project', async () => {
      const flags = await withDependency(await start());
      await flags.archiveFlag(CHECKOUT);
      await flags.deleteFlag({ flag: 'checkout' });
      await flags.createFlag(DEFAULT, { name: 'checkout' });
      expect(await familyOf(flags, 'payments')).toEqual({ dependencies: [], children: [] });
      await flags.createProject({ id: 'shop', name: 'Shop' });
      for (const name of ['basket', 'stock']) await flags.createFlag({ project: 'shop' }, { name });
      await flags.addDependency({ project: 'shop', flag: 'basket' }, { flag: 'stock' });
      for (const flag of ['basket', 'stock']) await flags.archiveFlag({ project: 'shop', flag });
      await flags.deleteProject({ project: 'shop' });
      for (const name of ['basket', 'stock']) await flags.createFlag(DEFAULT, { name });
      expect(await familyOf(flags, 'stock')).toEqual({ dependencies: [], children: [] });
      await flags.addDependency({ ...DEFAULT, flag: 'stock' }, { flag: 'payments' });
    });

    it('has a new revision when a child is added, not when it changes or is removed', async () => {
      const flags = await withFlags(await start());
      const revisionOf = async () => (await flags.getFlag(PAYMENTS)).revision;
      const before = await revisionOf();
      await flags.addDependency(CHECKOUT, { flag: 'payments' });
      const after = await revisionOf();
      expect(after).toBeGreaterThan(before);
      await flags.addDependency(CHECKOUT, { flag: 'payments', enabled: false });
      await flags.removeDependencies(CHECKOUT);
      expect(await revisionOf()).toBe(after);
    });

    it('can be every flag of the project that has no parent itself', async () => {
      const flags = await withDependency(await start());
      await flags.createFlag(DEFAULT, { name: 'archived' });
      await flags.archiveFlag({ ...DEFAULT, flag: 'archived' });
      await flags.createProject({ id: 'shop', name: 'Shop' });
      await flags.createFlag({ project: 'shop' }, { name: 'basket' });
      expect((await flags.listPossibleParents(CHECKOUT)).items).toEqual(['payments', 'search']);
      expect((await flags.listPossibleParents(SEARCH)).items).toEqual(['payments']);
      expect((await flags.listPossibleParents(PAYMENTS)).items).toEqual([]);
      await expectRefusal(flags, 'flag_not_found', () => flags.listPossibleParents({ ...DEFAULT, flag: 'basket' }));
    });
  });

  describe('a copy', () => {
    const COPY = { ...DEFAULT, flag: 'copy' };

    it('depends on the flags of its source, except archived and deleted ones', async () => {
      const flags = await withDependency(await start());
      await flags.addDependency(CHECKOUT, { flag: 'search' });
      await flags.archiveFlag(CHECKOUT);
      await flags.archiveFlag(SEARCH);
      await flags.reviveFlag({ flag: 'checkout' });
      await flags.cloneFlag(CHECKOUT, { name: 'copy' });
      expect((await flags.getFlag(COPY)).dependencies).toEqual([ON_PAYMENTS]);
      expect((await flags.getFlag(PAYMENTS)).children).toEqual(['checkout', 'copy']);
    });

    it('has no dependency when archived flags depend on its name', async () => {
      const flags = await withDependency(await start());
      await flags.createFlag(DEFAULT, { name: 'copy' });
      await flags.addDependency(SEARCH, { flag: 'copy' });
      for (const flag of ['search', 'copy']) await flags.archiveFlag({ ...DEFAULT, flag });
      await flags.deleteFlag({ flag: 'copy' });
      await flags.cloneFlag(CHECKOUT, { name: 'copy' });
      expect((await flags.getFlag(COPY)).dependencies).toEqual([]);
    });
  });
});

async function checkoutIn(start: Start): Promise<{ flags: Flags<string>; strategy: string }> {
  const flags = await start();
  await flags.createFlag(DEFAULT, { name: 'checkout' });
  const { id } = await flags.addStrategy(PRODUCTION, { name: 'default' });
  return { flags, strategy: id };
}

async function enabledIn(flags: Flags<string>): Promise<readonly boolean[]> {
  return (await flags.getFlag(CHECKOUT)).environments.map(({ enabled }) => enabled);
}

onEveryStorage((start) => {
  describe('switching an environment', () => {
    it('keeps it off while it has no strategies', async () => {
      const { flags } = await checkoutIn(start);
      await expectRefusal(flags, 'environment_has_no_strategies', () => flags.enable(DEVELOPMENT));
    });

    it('enables and disables it, and does not change the others', async () => {
      const { flags } = await checkoutIn(start);
      await flags.enable(PRODUCTION);
      expect(await enabledIn(flags)).toEqual([false, true]);
      expect((await flags.listFlags(DEFAULT)).items[0]?.environments.map(({ enabled }) => enabled)).toEqual([
        false,
        true,
      ]);
      await flags.disable(PRODUCTION);
      expect(await enabledIn(flags)).toEqual([false, false]);
    });

    it('counts a disabled strategy as a strategy', async () => {
      const { flags } = await checkoutIn(start);
      await flags.addStrategy(DEVELOPMENT, { name: 'default', disabled: true });
      await flags.enable(DEVELOPMENT);
      expect(await enabledIn(flags)).toEqual([true, false]);
    });

    it('is one event each way, and none when repeated', async () => {
      const { flags } = await checkoutIn(start);
      const place = { flag: 'checkout', project: 'default', environment: 'production' };
      expect(await eventsOf(flags, () => flags.enable(PRODUCTION))).toMatchObject([
        { type: 'environment-enabled', ...place },
      ]);
      expect(await factsOf(flags, () => flags.enable(PRODUCTION))).toEqual([]);
      expect(await eventsOf(flags, () => flags.disable(PRODUCTION))).toMatchObject([
        { type: 'environment-disabled', ...place },
      ]);
      expect(await factsOf(flags, () => flags.disable(PRODUCTION))).toEqual([]);
      expect(await factsOf(flags, () => flags.disable(DEVELOPMENT))).toEqual([]);
    });

    it('switches it off with the removal of the last strategy, by a separate event', async () => {
      const { flags, strategy } = await checkoutIn(start);
      await flags.enable(PRODUCTION);
      const facts = await factsOf(flags, () => flags.removeStrategy({ ...PRODUCTION, strategy }));
      expect(facts).toEqual(['strategy-removed', 'environment-disabled']);
      expect(await enabledIn(flags)).toEqual([false, false]);
    });

    it('keeps it on while a strategy is left', async () => {
      const { flags, strategy } = await checkoutIn(start);
      await flags.addStrategy(PRODUCTION, { name: 'second' });
      await flags.enable(PRODUCTION);
      expect(await factsOf(flags, () => flags.removeStrategy({ ...PRODUCTION, strategy }))).toEqual([
        'strategy-removed',
      ]);
      expect(await enabledIn(flags)).toEqual([false, true]);
    });

    it('never leaves it on without a strategy, however removal and switching cross', async () => {
      const { flags } = await checkoutIn(start);
      for (let round = 0; round < 10; round++) {
        const { id } = await flags.addStrategy(DEVELOPMENT, { name: 'default' });
        const removal = flags.removeStrategy({ ...DEVELOPMENT, strategy: id });
        await Promise.allSettled([flags.enable(DEVELOPMENT), removal, flags.enable(DEVELOPMENT)]);
        expect((await flags.getFlag(CHECKOUT)).environments[0]).toMatchObject({ enabled: false, strategies: [] });
      }
    });

    it.each(['enable', 'disable'] as const)('refuses to %s unknown documents', async (operation) => {
      const { flags } = await checkoutIn(start);
      const change = flags[operation].bind(flags);
      await expectRefusal(flags, 'project_not_found', () => change({ ...PRODUCTION, project: 'none' }));
      await expectRefusal(flags, 'flag_not_found', () => change({ ...PRODUCTION, flag: 'none' }));
      await expectRefusal(flags, 'environment_not_found', () => change({ ...PRODUCTION, environment: 'toString' }));
    });
  });
});

async function healthOf(flags: Flags<string>): Promise<number> {
  const { health } = await flags.getProject(DEFAULT);
  expect((await flags.listProjects()).items).toMatchObject([{ health }]);
  return health;
}

onEveryStorage((start) => {
  describe('a project’s health', () => {
    it('is 100 without flags', async () => {
      expect(await healthOf(await start())).toBe(100);
    });

    it('decreases by the share of stale flags, rounded', async () => {
      const flags = await start();
      for (const name of ['a', 'b', 'checkout']) await flags.createFlag(DEFAULT, { name });
      expect(await healthOf(flags)).toBe(100);
      await flags.updateFlag(CHECKOUT, { stale: true });
      expect(await healthOf(flags)).toBe(67);
      await flags.updateFlag({ ...DEFAULT, flag: 'a' }, { stale: true });
      expect(await healthOf(flags)).toBe(33);
      await flags.updateFlag(CHECKOUT, { stale: false });
      expect(await healthOf(flags)).toBe(67);
    });

    it('ignores archived flags', async () => {
      const flags = await start();
      for (const name of ['a', 'checkout']) await flags.createFlag(DEFAULT, { name });
      await flags.updateFlag(CHECKOUT, { stale: true });
      await flags.archiveFlag(CHECKOUT);
      expect(await healthOf(flags)).toBe(100);
    });

    it.each([
      ['release', 40],
      ['experiment', 40],
      ['operational', 7],
    ])('counts a flag of type %s as potentially stale after %i days', async (type, days) => {
      const clock = settableClock();
      const flags = await start({ now: clock.now });
      await flags.createFlag(DEFAULT, { name: 'checkout', type });
      clock.advance(days * DAY - 1000);
      expect(await healthOf(flags)).toBe(100);
      clock.advance(2000);
      expect(await healthOf(flags)).toBe(0);
    });

    it.each(['kill-switch', 'permission'])('never counts a flag of type %s as potentially stale', async (type) => {
      const clock = settableClock();
      const flags = await start({ now: clock.now });
      await flags.createFlag(DEFAULT, { name: 'checkout', type });
      clock.advance(10_000 * DAY);
      expect(await healthOf(flags)).toBe(100);
    });

    it('counts a flag that is both stale and old once', async () => {
      const clock = settableClock();
      const flags = await start({ now: clock.now });
      await flags.createFlag(DEFAULT, { name: 'checkout' });
      clock.advance(41 * DAY);
      await flags.createFlag(DEFAULT, { name: 'young' });
      await flags.updateFlag(CHECKOUT, { stale: true });
      expect(await healthOf(flags)).toBe(50);
      expect(await flags.getProject(DEFAULT)).toMatchObject({
        flagCount: 2,
        staleCount: 1,
        potentiallyStaleCount: 0,
      });
      await flags.updateFlag(CHECKOUT, { stale: false });
      expect(await flags.getProject(DEFAULT)).toMatchObject({
        flagCount: 2,
        staleCount: 0,
        potentiallyStaleCount: 1,
      });
    });

    it('follows configured lifetimes', async () => {
      const clock = settableClock();
      const flags = await start({ now: clock.now, flagTypes: [{ name: 'release', lifetimeDays: 1 }] });
      await flags.createFlag(DEFAULT, { name: 'checkout' });
      clock.advance(2 * DAY);
      expect(await healthOf(flags)).toBe(0);
    });
  });
});
