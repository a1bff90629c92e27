import type { Flags } from '../../src/index.js';
import { eventsOf } from '../facts.js';
import { onEveryStorage, type Start } from '../on-every-storage.js';
import { CHECKOUT, DEFAULT, DEVELOPMENT, PRODUCTION } from '../references.js';
import { expectRefusal, refusalOf } from '../refusal.js';
import { MINUTE, settableClock } from '../settable-clock.js';

const COPY = { ...DEFAULT, flag: 'copy' };
const ROLLOUT = { name: 'flexibleRollout', parameters: { rollout: 25, groupId: 'checkout', stickiness: 'default' } };

/** A flag with strategies, variants and reported metrics; stale, and on in production. */
async function lively(start: Start): Promise<{ flags: Flags<string>; clock: ReturnType<typeof settableClock> }> {
  const clock = settableClock();
  const flags = await start({ now: clock.now });
  await flags.createFlag(DEFAULT, {
    name: 'checkout',
    description: 'Original',
    type: 'experiment',
    impressionData: true,
  });
  await flags.addStrategy(DEVELOPMENT, { name: 'default' });
  await flags.addStrategy(PRODUCTION, ROLLOUT);
  await flags.addStrategy(PRODUCTION, { name: 'own', parameters: { groupId: 'elsewhere' } });
  await flags.enable(PRODUCTION);
  await flags.setVariants(CHECKOUT, [{ name: 'blue', weightType: 'fix', weight: 100 }, { name: 'green' }]);
  await flags.updateFlag(CHECKOUT, { stale: true });
  const counted = { start: clock.text(-MINUTE), stop: clock.text(), counts: { checkout: { yes: 1, no: 0 } } };
  await flags.reportMetrics({ application: 'web', ...counted });
  clock.advance(MINUTE);
  return { flags, clock };
}

onEveryStorage((start) => {
  describe('cloning a flag', () => {
    it('copies description, type and variants, but neither staleness nor lastSeenAt', async () => {
      const { flags, clock } = await lively(start);
      const { variants } = await flags.getFlag(CHECKOUT);
      expect(variants).toHaveLength(2);
      expect(await flags.cloneFlag(CHECKOUT, { name: 'copy' })).toMatchObject({
        name: 'copy',
        project: 'default',
        description: 'Original',
        type: 'experiment',
        stale: false,
        archived: false,
        createdAt: clock.text(),
        variants,
      });
    });

    it("copies strategies with new ids and the copy's name in group ids, off everywhere", async () => {
      const { flags } = await lively(start);
      await flags.cloneFlag(CHECKOUT, { name: 'copy' });
      const [source, copy] = await Promise.all([flags.getFlag(CHECKOUT), flags.getFlag(COPY)]);
      expect(copy.environments.map(({ enabled }) => enabled)).toEqual([false, false]);
      const [, production] = copy.environments;
      expect(production?.strategies).toMatchObject([
        { ...ROLLOUT, parameters: { ...ROLLOUT.parameters, groupId: 'copy' } },
        { name: 'own', parameters: { groupId: 'elsewhere' } },
      ]);
      const ids = [source, copy].flatMap((flag) => flag.environments.flatMap((e) => e.strategies.map(({ id }) => id)));
      expect(new Set(ids).size).toBe(6);
    });

    it('does not change the source, and makes an independent copy', async () => {
      const { flags } = await lively(start);
      const before = await flags.getFlag(CHECKOUT);
      await flags.cloneFlag(CHECKOUT, { name: 'copy' });
      await flags.setVariants(COPY, []);
      expect(await flags.getFlag(CHECKOUT)).toEqual(before);
    });

    it('is one event of the copy', async () => {
      const { flags } = await lively(start);
      const events = await eventsOf(flags, () => flags.cloneFlag(CHECKOUT, { name: 'copy' }));
      expect(events).toMatchObject([{ type: 'flag-created', flag: 'copy', project: 'default' }]);
    });

    it('refuses an existing name, even that of the source', async () => {
      const { flags } = await lively(start);
      await flags.createFlag(DEFAULT, { name: 'other' });
      await expectRefusal(flags, 'flag_exists', () => flags.cloneFlag(CHECKOUT, { name: 'other' }));
      await expectRefusal(flags, 'flag_exists', () => flags.cloneFlag(CHECKOUT, { name: 'checkout' }));
    });

    it.each([{}, { name: '' }, { name: 'a b' }, { name: 5 }, { name: '..' }, [], null])('refuses %j', async (input) => {
      const { flags } = await lively(start);
      await expectRefusal(flags, 'invalid_input', () => flags.cloneFlag(CHECKOUT, input as { name: string }));
    });

    it('refuses an archived source, an unknown one, and one of another project', async () => {
      const { flags } = await lively(start);
      await flags.createProject({ id: 'shop', name: 'Shop' });
      await expectRefusal(flags, 'flag_not_found', () =>
        flags.cloneFlag({ project: 'shop', flag: 'checkout' }, { name: 'copy' }),
      );
      await expectRefusal(flags, 'flag_not_found', () => flags.cloneFlag(COPY, { name: 'copy2' }));
      await flags.archiveFlag(CHECKOUT);
      await expectRefusal(flags, 'flag_archived', () => flags.cloneFlag(CHECKOUT, { name: 'copy' }));
    });

    it('refuses a source with another revision', async () => {
      const { flags } = await lively(start);
      const { revision } = await flags.getFlag(CHECKOUT);
      const stale = { ifRevision: revision - 1 };
      await expectRefusal(flags, 'revision_mismatch', () => flags.cloneFlag(CHECKOUT, { name: 'copy' }, stale));
      expect((await flags.cloneFlag(CHECKOUT, { name: 'copy' }, { ifRevision: revision })).name).toBe('copy');
    });

    it('makes one copy if many start at once under one name', async () => {
      const { flags } = await lively(start);
      const outcomes = await Promise.allSettled(
        Array.from({ length: 10 }, () => flags.cloneFlag(CHECKOUT, { name: 'copy' })),
      );
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    });

    it('never copies a flag that is archived at that moment', async () => {
      const { flags } = await lively(start);
      const clone = flags.cloneFlag(CHECKOUT, { name: 'copy' });
      const [outcome] = await Promise.allSettled([clone, flags.archiveFlag(CHECKOUT)]);
      const events = (await flags.events.list({ limit: 2 })).items.map(({ type }) => type);
      if (outcome.status === 'fulfilled') expect(events).toEqual(['flag-archived', 'flag-created']);
      else expect((await refusalOf(clone)).code).toBe('flag_archived');
    });
  });
});
