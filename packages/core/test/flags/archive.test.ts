import type { Flags } from '../../src/index.js';
import { listFlagEntries } from '../../src/router.operations.js';
import { eventsOf, factsOf } from '../facts.js';
import { onEveryStorage, type Start } from '../on-every-storage.js';
import { CHECKOUT, DEFAULT, DEVELOPMENT, PRODUCTION } from '../references.js';
import { expectRefusal } from '../refusal.js';

const FLAG = { flag: 'checkout' };

async function archived(start: Start): Promise<{ flags: Flags<string>; strategy: string }> {
  const flags = await start();
  await flags.createFlag(DEFAULT, { name: 'checkout' });
  const { id } = await flags.addStrategy(PRODUCTION, { name: 'default' });
  await flags.enable(PRODUCTION);
  await flags.setVariants(CHECKOUT, [{ name: 'blue' }]);
  await flags.archiveFlag(CHECKOUT);
  return { flags, strategy: id };
}

onEveryStorage((start) => {
  describe('an archived flag', () => {
    it('is found as archived, with its strategies and enabled states', async () => {
      const { flags, strategy } = await archived(start);
      expect(await flags.getFlag(CHECKOUT)).toMatchObject({
        archived: true,
        environments: [{ enabled: false }, { enabled: true, strategies: [{ id: strategy }] }],
      });
    });

    it('is listed in the archive, and not in its project', async () => {
      const { flags } = await archived(start);
      await flags.createProject({ id: 'shop', name: 'Shop' });
      expect((await flags.listFlags(DEFAULT)).items).toEqual([]);
      expect(await flags.getProject(DEFAULT)).toMatchObject({ flags: [], flagCount: 0 });
      expect((await flags.listFlags({ archived: true })).items).toMatchObject([
        { name: 'checkout', project: 'default' },
      ]);
      expect((await flags.listFlags({ ...DEFAULT, archived: true })).items).toHaveLength(1);
      expect((await flags.listFlags({ project: 'shop', archived: true })).items).toEqual([]);
      await expectRefusal(flags, 'project_not_found', () => flags.listFlags({ project: 'none', archived: true }));
    });

    it('is listed with its time of archiving and its metadata', async () => {
      const now = new Date('2026-01-01T10:00:00.000Z');
      const flags = await start({ now: () => now });
      await flags.createFlag(DEFAULT, { name: 'checkout', description: 'The checkout', impressionData: true });
      await flags.archiveFlag(CHECKOUT);
      const details = { archived: true, archivedAt: now.toISOString(), description: 'The checkout' };
      expect((await flags.listFlags({ archived: true })).items).toMatchObject([details]);
      expect((await listFlagEntries(flags, { archived: true })).items).toMatchObject([
        { ...details, impressionData: true },
      ]);
      await flags.reviveFlag(FLAG);
      now.setUTCFullYear(2027);
      await flags.archiveFlag(CHECKOUT);
      expect((await flags.listFlags({ archived: true })).items).toMatchObject([{ archivedAt: now.toISOString() }]);
    });

    it('can be archived again, without an event', async () => {
      const { flags } = await archived(start);
      expect(await factsOf(flags, () => flags.archiveFlag(CHECKOUT))).toEqual([]);
    });

    it.each<[string, (flags: Flags<string>, strategy: string) => Promise<unknown>]>([
      ['update', (flags) => flags.updateFlag(CHECKOUT, { stale: true })],
      ['clone', (flags) => flags.cloneFlag(CHECKOUT, { name: 'copy' })],
      ['addition of a strategy', (flags) => flags.addStrategy(PRODUCTION, { name: 'default' })],
      [
        'update of a strategy',
        (flags, strategy) => flags.updateStrategy({ ...PRODUCTION, strategy }, { name: 'other' }),
      ],
      ['removal of a strategy', (flags, strategy) => flags.removeStrategy({ ...PRODUCTION, strategy })],
      ['switching on', (flags) => flags.enable(DEVELOPMENT)],
      ['switching on an enabled environment', (flags) => flags.enable(PRODUCTION)],
      ['switching off', (flags) => flags.disable(PRODUCTION)],
      ['switching off a disabled environment', (flags) => flags.disable(DEVELOPMENT)],
      ['setting of variants', (flags) => flags.setVariants(CHECKOUT, [])],
    ])('refuses the %s', async (_, change) => {
      const { flags, strategy } = await archived(start);
      await expectRefusal(flags, 'flag_archived', () => change(flags, strategy));
    });
  });

  describe('archiving', () => {
    it('is one event', async () => {
      const flags = await start();
      await flags.createFlag(DEFAULT, { name: 'checkout' });
      const events = await eventsOf(flags, () => flags.archiveFlag(CHECKOUT));
      expect(events).toMatchObject([{ type: 'flag-archived', flag: 'checkout', project: 'default' }]);
    });

    it('refuses an unknown flag and one of another project', async () => {
      const flags = await start();
      await flags.createProject({ id: 'shop', name: 'Shop' });
      await flags.createFlag(DEFAULT, { name: 'checkout' });
      await expectRefusal(flags, 'flag_not_found', () => flags.archiveFlag({ ...DEFAULT, flag: 'none' }));
      await expectRefusal(flags, 'flag_not_found', () => flags.archiveFlag({ project: 'shop', ...FLAG }));
      await expectRefusal(flags, 'project_not_found', () => flags.archiveFlag({ project: 'none', ...FLAG }));
    });
  });

  describe('reviving', () => {
    it('brings the flag back with its strategies and variants, off everywhere', async () => {
      const { flags, strategy } = await archived(start);
      expect(await flags.reviveFlag(FLAG)).toMatchObject({ name: 'checkout', archived: false });
      expect(await flags.getFlag(CHECKOUT)).toMatchObject({
        archived: false,
        variants: [{ name: 'blue', weight: 1000 }],
        environments: [{ enabled: false }, { enabled: false, strategies: [{ id: strategy }] }],
      });
      expect((await flags.listFlags(DEFAULT)).items).toHaveLength(1);
      expect((await flags.listFlags({ archived: true })).items).toEqual([]);
    });

    it('is recorded once, and not at all for a flag that is not archived', async () => {
      const { flags } = await archived(start);
      const facts = await factsOf(flags, () => flags.reviveFlag(FLAG));
      expect(facts.filter((type) => type === 'flag-revived')).toHaveLength(1);
      expect(await factsOf(flags, () => flags.reviveFlag(FLAG))).toEqual([]);
    });

    it('refuses an unknown flag', async () => {
      const { flags } = await archived(start);
      await expectRefusal(flags, 'flag_not_found', () => flags.reviveFlag({ flag: 'toString' }));
    });

    it('lets the flag be changed again', async () => {
      const { flags } = await archived(start);
      await flags.reviveFlag(FLAG);
      await flags.enable(PRODUCTION);
      expect((await flags.getFlag(CHECKOUT)).environments[1]?.enabled).toBe(true);
    });
  });

  describe('deleting', () => {
    it('deletes an archived flag permanently, and frees its name', async () => {
      const { flags } = await archived(start);
      expect(await factsOf(flags, () => flags.deleteFlag(FLAG))).toEqual(['flag-deleted']);
      await expectRefusal(flags, 'flag_not_found', () => flags.getFlag(CHECKOUT));
      expect(await flags.createFlag(DEFAULT, { name: 'checkout' })).toMatchObject({ variants: [], archived: false });
      const { environments } = await flags.getFlag(CHECKOUT);
      expect(environments.flatMap(({ strategies }) => strategies)).toEqual([]);
    });

    it('gives a new flag of the same name a revision that the old one never had', async () => {
      const { flags } = await archived(start);
      const { revision } = await flags.getFlag(CHECKOUT);
      await flags.deleteFlag(FLAG);
      expect((await flags.createFlag(DEFAULT, { name: 'checkout' })).revision).toBeGreaterThan(revision);
    });

    it('deletes the time when the flag was last seen', async () => {
      const { flags } = await archived(start);
      const now = new Date().toISOString();
      const counted = { start: now, stop: now, counts: { checkout: { yes: 1, no: 1 } } };
      await flags.reportMetrics({ application: 'web', ...counted });
      expect((await flags.getFlag(CHECKOUT)).lastSeenAt).not.toBeNull();
      await flags.deleteFlag(FLAG);
      await flags.createFlag(DEFAULT, { name: 'checkout' });
      expect((await flags.getFlag(CHECKOUT)).lastSeenAt).toBeNull();
    });

    it('refuses a flag that is not archived, and an unknown one', async () => {
      const { flags } = await archived(start);
      await flags.reviveFlag(FLAG);
      await expectRefusal(flags, 'flag_not_archived', () => flags.deleteFlag(FLAG));
      await expectRefusal(flags, 'flag_not_found', () => flags.deleteFlag({ flag: '__proto__' }));
    });
  });
});
