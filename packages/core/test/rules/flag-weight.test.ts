import type { Constraint, StrategyInput } from '../../src/index.js';
import { SILENT } from '../replica/silent.js';
import { onEveryStorage } from './on-every-storage.js';
import { CHECKOUT, DEFAULT, DEVELOPMENT, PRODUCTION } from './references.js';
import { expectRefusal } from './refusal.js';

/** Three of them fit into what one evaluation may cost, four do not. */
const HEAVY: Constraint = { contextName: 'userId', operator: 'REGEX', value: '[ab]*a[abc]{300}[!?]' };

function heavy(count: number, more: Partial<StrategyInput> = {}): StrategyInput {
  return { name: 'default', constraints: Array.from({ length: count }, () => HEAVY), ...more };
}

onEveryStorage((start) => {
  describe('the cost of an evaluation', () => {
    async function startWithCheckout() {
      const flags = await start(SILENT);
      await flags.createFlag(DEFAULT, { name: 'checkout' });
      return flags;
    }

    it('limits the constraints of a strategy, and names the first one above the limit', async () => {
      const flags = await startWithCheckout();
      const { message, details } = await expectRefusal(flags, 'invalid_input', () =>
        flags.addStrategy(PRODUCTION, heavy(5)),
      );
      expect(message).toContain('use fewer or simpler regular expressions');
      expect(details).toEqual([expect.objectContaining({ path: '/constraints/3' })]);
      const contains = (count: number): Constraint => ({
        contextName: 'userId',
        operator: 'STR_CONTAINS',
        values: Array.from({ length: count }, (_, i) => `${'x'.repeat(100)}${i}`),
      });
      await flags.addStrategy(PRODUCTION, { name: 'default', constraints: [contains(300)] });
      await expectRefusal(flags, 'invalid_input', () =>
        flags.addStrategy(DEVELOPMENT, { name: 'default', constraints: [contains(500)] }),
      );
    });

    it('limits the strategies of a flag together, in each environment', async () => {
      const flags = await startWithCheckout();
      await flags.addStrategy(PRODUCTION, heavy(2));
      const { id: strategy } = await flags.addStrategy(PRODUCTION, heavy(1));
      const place = { ...PRODUCTION, strategy };
      const { message } = await expectRefusal(flags, 'invalid_input', () => flags.addStrategy(PRODUCTION, heavy(1)));
      expect(message).toContain('checkout in production');
      await expectRefusal(flags, 'invalid_input', () => flags.updateStrategy(place, heavy(2)));
      const patch = [{ op: 'add', path: '/constraints/-', value: HEAVY }] as const;
      await expectRefusal(flags, 'invalid_input', () => flags.patchStrategy(place, patch));
      await flags.updateStrategy(place, heavy(1, { title: 'the same' }));
      await flags.updateStrategy(place, heavy(2, { disabled: true }));
      await flags.addStrategy(DEVELOPMENT, heavy(3));
      expect((await flags.getFlag(CHECKOUT)).environments.map(({ strategies }) => strategies.length)).toEqual([1, 2]);
    });

    it('counts segments, also when they change', async () => {
      const flags = await startWithCheckout();
      const { constraints = [] } = heavy(2);
      const one = await flags.createSegment({ name: 'one', constraints });
      const other = await flags.createSegment({ name: 'other', constraints });
      await expectRefusal(flags, 'invalid_input', () =>
        flags.addStrategy(PRODUCTION, { name: 'default', segments: [one.id, other.id] }),
      );
      await flags.updateSegment({ segment: other.id }, { constraints: [HEAVY] });
      await flags.addStrategy(PRODUCTION, { name: 'default', segments: [one.id, other.id] });
      const { message, details } = await expectRefusal(flags, 'invalid_input', () =>
        flags.updateSegment({ segment: other.id }, { constraints }),
      );
      expect(message).toContain('checkout in production');
      expect(details).toEqual([expect.objectContaining({ path: '/constraints' })]);
      await expectRefusal(flags, 'invalid_input', () =>
        flags.createSegment({ name: 'heavy', constraints: heavy(4).constraints ?? [] }),
      );
    });
  });
});
