import { until } from '../../../../test/until.js';
import type { Flags } from '../../src/index.js';
import { onEveryStorage, type Start } from '../rules/on-every-storage.js';
import { CHECKOUT, DEFAULT, PRODUCTION } from '../rules/references.js';
import { SILENT } from './silent.js';
import { createSwitchedOn, onlyFor } from './switched-on.js';

async function threeFlags(start: Start): Promise<Flags> {
  const flags = await start(SILENT);
  await createSwitchedOn(flags, { flag: 'zebra', strategies: [onlyFor('ada')] });
  await createSwitchedOn(flags, { flag: 'checkout' });
  await flags.createFlag(DEFAULT, { name: 'off', impressionData: true });
  await flags.setVariants(CHECKOUT, [{ name: 'blue', payload: { type: 'string', value: 'b' } }]);
  return flags;
}

const OFF = { name: 'disabled', enabled: false, feature_enabled: false };
const ALL_FOR_ADA = [
  {
    name: 'checkout',
    enabled: true,
    variant: { name: 'blue', enabled: true, feature_enabled: true, payload: { type: 'string', value: 'b' } },
    impressionData: false,
  },
  { name: 'off', enabled: false, variant: OFF, impressionData: true },
  {
    name: 'zebra',
    enabled: true,
    variant: { name: 'disabled', enabled: false, feature_enabled: true },
    impressionData: false,
  },
];

onEveryStorage((start) => {
  describe('a pinned context', () => {
    it('answers for its context', async () => {
      const flags = await threeFlags(start);
      expect(flags.forContext({ userId: 'ada' }).isEnabled('zebra')).toBe(true);
      expect(flags.forContext({ userId: 'bob' }).isEnabled('zebra')).toBe(false);
    });

    it('does not show concurrent changes', async () => {
      const flags = await threeFlags(start);
      const { id } = await flags.createSegment({ name: 'all', constraints: [] });
      await createSwitchedOn(flags, { flag: 'segmented', strategies: [{ name: 'default', segments: [id] }] });
      const pinned = flags.forContext({ userId: 'ada' });
      const before = pinned.evaluateAll();
      const nobody = [{ contextName: 'userId', operator: 'IN' as const, values: ['nobody'] }];
      await flags.updateSegment({ segment: id }, { constraints: nobody });
      await flags.disable(PRODUCTION);
      await flags.setVariants(CHECKOUT, []);
      await flags.archiveFlag({ ...DEFAULT, flag: 'zebra' });
      await createSwitchedOn(flags, { flag: 'later' });
      expect(pinned.evaluateAll()).toEqual(before);
      expect([pinned.isEnabled('checkout'), pinned.getVariant('checkout').name]).toEqual([true, 'blue']);
      expect([pinned.isEnabled('later'), pinned.isEnabled('later', true)]).toEqual([false, true]);
      const now = flags.forContext({ userId: 'ada' }).evaluateAll();
      expect(now.filter(({ enabled }) => enabled).map(({ name }) => name)).toEqual(['later']);
    });

    it('evaluates all flags that are not archived, in name order', async () => {
      const flags = await threeFlags(start);
      await createSwitchedOn(flags, { flag: 'archived' });
      await flags.archiveFlag({ ...DEFAULT, flag: 'archived' });
      expect(flags.forContext({ userId: 'ada' }).evaluateAll()).toEqual(ALL_FOR_ADA);
    });

    it('counts single evaluations, not evaluations of all flags', async () => {
      const flags = await start({ ...SILENT, usageInterval: 5 });
      await createSwitchedOn(flags, { flag: 'all-at-once' });
      await createSwitchedOn(flags, { flag: 'asked' });
      const impressions: string[] = [];
      flags.onImpression(({ flag }) => impressions.push(flag));
      await flags.updateFlag({ ...DEFAULT, flag: 'asked' }, { impressionData: true });
      await flags.updateFlag({ ...DEFAULT, flag: 'all-at-once' }, { impressionData: true });
      const pinned = flags.forContext({ userId: 'ada' });
      pinned.evaluateAll();
      pinned.isEnabled('asked');
      await until(async () => (await flags.countEvaluations()).lastHour.size > 0);
      const { lastHour } = await flags.countEvaluations();
      expect(Object.fromEntries(lastHour)).toEqual({ asked: { yes: 1, no: 0 } });
      expect(impressions).toEqual(['asked']);
    });
  });
});
