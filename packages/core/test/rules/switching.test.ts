import type { Flags } from '../../src/index.js';
import { eventsOf, factsOf } from './facts.js';
import { onEveryStorage, type Start } from './on-every-storage.js';
import { CHECKOUT, DEFAULT, DEVELOPMENT, PRODUCTION } from './references.js';
import { expectRefusal } from './refusal.js';

async function checkoutIn(start: Start): Promise<{ flags: Flags; strategy: string }> {
  const flags = await start();
  await flags.createFlag(DEFAULT, { name: 'checkout' });
  const { id } = await flags.addStrategy(PRODUCTION, { name: 'default' });
  return { flags, strategy: id };
}

async function enabledIn(flags: Flags): Promise<readonly boolean[]> {
  return (await flags.getFlag(CHECKOUT)).environments.map(({ enabled }) => enabled);
}

onEveryStorage((start) => {
  describe('switching', () => {
    it('keeps an environment off while it has no strategies', async () => {
      const { flags } = await checkoutIn(start);
      await expectRefusal(flags, 'environment_has_no_strategies', () => flags.enable(DEVELOPMENT));
    });

    it('enables and disables one environment, and does not change the others', async () => {
      const { flags } = await checkoutIn(start);
      await flags.enable(PRODUCTION);
      expect(await enabledIn(flags)).toEqual([false, true]);
      expect((await flags.listFlags(DEFAULT))[0]?.environments.map(({ enabled }) => enabled)).toEqual([false, true]);
      await flags.disable(PRODUCTION);
      expect(await enabledIn(flags)).toEqual([false, false]);
    });

    it('counts a disabled strategy as a strategy', async () => {
      const { flags } = await checkoutIn(start);
      await flags.addStrategy(DEVELOPMENT, { name: 'default', disabled: true });
      await flags.enable(DEVELOPMENT);
      expect(await enabledIn(flags)).toEqual([true, false]);
    });

    it('is one fact each way, and none when repeated', async () => {
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

    it('switches off with the removal of the last strategy, as a fact of its own', async () => {
      const { flags, strategy } = await checkoutIn(start);
      await flags.enable(PRODUCTION);
      const facts = await factsOf(flags, () => flags.removeStrategy({ ...PRODUCTION, strategy }));
      expect(facts).toEqual(['strategy-removed', 'environment-disabled']);
      expect(await enabledIn(flags)).toEqual([false, false]);
    });

    it('stays on while a strategy is left', async () => {
      const { flags, strategy } = await checkoutIn(start);
      await flags.addStrategy(PRODUCTION, { name: 'second' });
      await flags.enable(PRODUCTION);
      expect(await factsOf(flags, () => flags.removeStrategy({ ...PRODUCTION, strategy }))).toEqual([
        'strategy-removed',
      ]);
      expect(await enabledIn(flags)).toEqual([false, true]);
    });

    it('never leaves an environment on without a strategy, however removal and switching cross', async () => {
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
