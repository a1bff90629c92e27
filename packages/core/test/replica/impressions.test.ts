import type { Flags, Impression } from '../../src/index.js';
import { onEveryStorage, type Start } from '../rules/on-every-storage.js';
import { CHECKOUT, DEFAULT, DEVELOPMENT } from '../rules/references.js';
import { SILENT } from './silent.js';
import { createSwitchedOn } from './switched-on.js';

const ADA = { userId: 'ada' };

async function observed(start: Start) {
  const errors: unknown[] = [];
  const flags = await start({ ...SILENT, onError: (error) => errors.push(error) });
  await createSwitchedOn(flags, { flag: 'checkout' });
  await createSwitchedOn(flags, { flag: 'unobserved' });
  await flags.updateFlag(CHECKOUT, { impressionData: true });
  return { flags, errors };
}

function recordIn(flags: Flags): readonly Impression[] {
  const impressions: Impression[] = [];
  flags.onImpression((impression) => impressions.push(impression));
  return impressions;
}

onEveryStorage((start) => {
  describe('impressions', () => {
    it('report evaluations of a flag with impression data: environment, context and result', async () => {
      const { flags } = await observed(start);
      const impressions = recordIn(flags);
      flags.isEnabled('checkout', ADA);
      flags.isEnabled('checkout', ADA, { environment: 'development' });
      expect(impressions).toEqual([
        { flag: 'checkout', context: ADA, enabled: true, environment: 'production' },
        { flag: 'checkout', context: ADA, enabled: false, environment: 'development' },
      ]);
    });

    it('contain the variant if it was requested', async () => {
      const { flags } = await observed(start);
      await flags.setVariants(CHECKOUT, [{ name: 'blue' }]);
      const impressions = recordIn(flags);
      const variant = flags.getVariant('checkout', ADA);
      expect(impressions).toMatchObject([{ flag: 'checkout', variant: { name: 'blue' } }]);
      expect(impressions[0]?.variant).toBe(variant);
    });

    it('come during the call, from pinned contexts as well', async () => {
      const { flags } = await observed(start);
      const impressions = recordIn(flags);
      const pinned = flags.forContext(ADA);
      pinned.isEnabled('checkout');
      expect(impressions).toHaveLength(1);
      pinned.getVariant('checkout');
      expect(impressions).toHaveLength(2);
    });

    it('do not tell of flags that do not want them, of unknown ones, nor of explanations', async () => {
      const { flags } = await observed(start);
      const impressions = recordIn(flags);
      flags.isEnabled('unobserved', ADA);
      flags.isEnabled('none', ADA, { fallback: true });
      flags.explain('checkout', ADA);
      flags.forContext(ADA).evaluateAll();
      expect(impressions).toEqual([]);
    });

    it('end when the listener is taken away, which may be done twice and ends no other', async () => {
      const { flags } = await observed(start);
      const told: string[] = [];
      const listener = () => void told.push('same');
      const stop = flags.onImpression(listener);
      flags.onImpression(listener);
      flags.isEnabled('checkout');
      expect(told).toHaveLength(2);
      stop();
      stop();
      flags.isEnabled('checkout');
      expect(told).toHaveLength(3);
    });

    it('reach the other listeners, and the caller its answer, when one throws', async () => {
      const { flags, errors } = await observed(start);
      const failure = new Error('The listener failed.');
      flags.onImpression(() => {
        throw failure;
      });
      const impressions = recordIn(flags);
      expect(flags.isEnabled('checkout', ADA)).toBe(true);
      expect(flags.getVariant('checkout', ADA).feature_enabled).toBe(true);
      expect(impressions).toHaveLength(2);
      expect(errors).toEqual([failure, failure]);
    });

    it('reach a listener that was added through another actor', async () => {
      const { flags } = await observed(start);
      const impressions = recordIn(flags.as('ada'));
      await flags.addStrategy(DEVELOPMENT, { name: 'default' });
      flags.isEnabled('checkout');
      expect(impressions).toHaveLength(1);
    });

    it('may evaluate in the listener', async () => {
      const { flags } = await observed(start);
      const answers: boolean[] = [];
      flags.onImpression(() => answers.push(flags.isEnabled('unobserved')));
      flags.isEnabled('checkout');
      await flags.disable({ ...DEFAULT, flag: 'unobserved', environment: 'production' });
      flags.isEnabled('checkout');
      expect(answers).toEqual([true, false]);
    });
  });
});
