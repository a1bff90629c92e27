import type { Flags } from '../../src/index.js';
import { onEveryStorage, type Start } from '../rules/on-every-storage.js';
import { CHECKOUT, DEFAULT, DEVELOPMENT, PRODUCTION } from '../rules/references.js';
import { SILENT } from './silent.js';
import { createSwitchedOn, onlyFor } from './switched-on.js';

const ADA = { userId: 'ada' };

async function checkoutOn(start: Start) {
  const flags = await start(SILENT);
  const [strategy] = await createSwitchedOn(flags, { flag: 'checkout' });
  return { flags, ref: { ...PRODUCTION, strategy: strategy?.id ?? '' } };
}

function isKnown(flags: Flags, flag: string): boolean {
  return flags.isEnabled(flag, {}, { fallback: true }) === flags.isEnabled(flag, {}, { fallback: false });
}

onEveryStorage((start) => {
  describe('the very next call after a change', () => {
    it('knows a flag that was created', async () => {
      const flags = await start(SILENT);
      expect(flags.isEnabled('checkout', ADA, { fallback: true })).toBe(true);
      await flags.createFlag(DEFAULT, { name: 'checkout' });
      expect(flags.isEnabled('checkout', ADA, { fallback: true })).toBe(false);
    });

    it('sees it switched on and off', async () => {
      const { flags } = await checkoutOn(start);
      expect(flags.isEnabled('checkout')).toBe(true);
      await flags.disable(PRODUCTION);
      expect(flags.isEnabled('checkout')).toBe(false);
      await flags.enable(PRODUCTION);
      expect(flags.isEnabled('checkout')).toBe(true);
    });

    it('sees strategies added, replaced, patched and removed', async () => {
      const { flags, ref } = await checkoutOn(start);
      await flags.updateStrategy(ref, onlyFor('ada'));
      expect([flags.isEnabled('checkout', ADA), flags.isEnabled('checkout', { userId: 'bob' })]).toEqual([true, false]);
      await flags.patchStrategy(ref, [{ op: 'replace', path: '/parameters/userIds', value: 'bob' }]);
      expect([flags.isEnabled('checkout', ADA), flags.isEnabled('checkout', { userId: 'bob' })]).toEqual([false, true]);
      const added = await flags.addStrategy(PRODUCTION, onlyFor('ada'));
      expect(flags.isEnabled('checkout', ADA)).toBe(true);
      await flags.removeStrategy({ ...PRODUCTION, strategy: added.id });
      expect(flags.isEnabled('checkout', ADA)).toBe(false);
      await flags.removeStrategy(ref);
      expect(flags.explain('checkout', ADA).reason).toBe('disabled');
    });

    it('sees variants set, patched and cleared', async () => {
      const { flags } = await checkoutOn(start);
      await flags.setVariants(CHECKOUT, [{ name: 'blue' }]);
      expect(flags.getVariant('checkout').name).toBe('blue');
      await flags.patchVariants(CHECKOUT, [{ op: 'replace', path: '/0/name', value: 'green' }]);
      expect(flags.getVariant('checkout').name).toBe('green');
      await flags.setVariants(CHECKOUT, []);
      expect(flags.getVariant('checkout')).toEqual({ name: 'disabled', enabled: false, feature_enabled: true });
    });

    it('sees a flag archived, revived switched off, and deleted', async () => {
      const { flags } = await checkoutOn(start);
      await flags.archiveFlag(CHECKOUT);
      expect(isKnown(flags, 'checkout')).toBe(false);
      await flags.reviveFlag({ flag: 'checkout' });
      expect([isKnown(flags, 'checkout'), flags.isEnabled('checkout')]).toEqual([true, false]);
      await flags.enable(PRODUCTION);
      expect(flags.isEnabled('checkout')).toBe(true);
      await flags.archiveFlag(CHECKOUT);
      await flags.deleteFlag({ flag: 'checkout' });
      expect(isKnown(flags, 'checkout')).toBe(false);
    });

    it('sees a flag that is created again under the name of a deleted one', async () => {
      const { flags } = await checkoutOn(start);
      await flags.archiveFlag(CHECKOUT);
      await flags.deleteFlag({ flag: 'checkout' });
      await createSwitchedOn(flags, { flag: 'checkout', strategies: [onlyFor('ada')] });
      expect([flags.isEnabled('checkout', ADA), flags.isEnabled('checkout')]).toEqual([true, false]);
    });

    it('knows a clone, switched off, with the strategies of its source', async () => {
      const { flags } = await checkoutOn(start);
      await flags.cloneFlag(CHECKOUT, { name: 'copy' });
      expect([isKnown(flags, 'copy'), flags.isEnabled('copy')]).toEqual([true, false]);
      await flags.enable({ ...PRODUCTION, flag: 'copy' });
      expect(flags.isEnabled('copy')).toBe(true);
    });

    it('sees the content of a segment, for every flag that uses it', async () => {
      const { flags, ref } = await checkoutOn(start);
      const users = (...values: readonly string[]) => [{ contextName: 'userId', operator: 'IN' as const, values }];
      const { id } = await flags.createSegment({ name: 'beta', constraints: users('ada') });
      await flags.updateStrategy(ref, { name: 'default', segments: [id] });
      await createSwitchedOn(flags, { flag: 'second', strategies: [{ name: 'default', segments: [id] }] });
      expect(['checkout', 'second'].map((flag) => flags.isEnabled(flag, ADA))).toEqual([true, true]);
      await flags.updateSegment({ segment: id }, { constraints: users('bob') });
      expect(['checkout', 'second'].map((flag) => flags.isEnabled(flag, ADA))).toEqual([false, false]);
      await flags.updateSegment({ segment: id }, { constraints: [] });
      expect(['checkout', 'second'].map((flag) => flags.isEnabled(flag, ADA))).toEqual([true, true]);
    });

    it('sees a segment created and deleted', async () => {
      const flags = await start(SILENT);
      const { id } = await flags.createSegment({ name: 'beta', constraints: [] });
      expect(flags.configuration().segments).toEqual([{ id, name: 'beta', constraints: [] }]);
      await flags.deleteSegment({ segment: id });
      expect(flags.configuration().segments).toEqual([]);
    });

    it('sees added and removed dependencies, and changes of a parent', async () => {
      const { flags } = await checkoutOn(start);
      await createSwitchedOn(flags, { flag: 'payments' });
      await flags.addDependency(CHECKOUT, { flag: 'payments' });
      expect(flags.isEnabled('checkout')).toBe(true);
      await flags.disable({ ...PRODUCTION, flag: 'payments' });
      expect(flags.isEnabled('checkout')).toBe(false);
      await flags.addDependency(CHECKOUT, { flag: 'payments', enabled: false });
      expect(flags.isEnabled('checkout')).toBe(true);
      await flags.enable({ ...PRODUCTION, flag: 'payments' });
      expect(flags.isEnabled('checkout')).toBe(false);
      await flags.removeDependency(CHECKOUT, { flag: 'payments' });
      expect(flags.isEnabled('checkout')).toBe(true);
    });

    it('sees that impressions are wanted', async () => {
      const { flags } = await checkoutOn(start);
      const told: string[] = [];
      flags.onImpression(({ flag }) => told.push(flag));
      flags.isEnabled('checkout');
      await flags.updateFlag(CHECKOUT, { impressionData: true });
      flags.isEnabled('checkout');
      expect(told).toEqual(['checkout']);
    });

    it('sees the changes of another actor of the same instance', async () => {
      const { flags } = await checkoutOn(start);
      const ada = flags.as('ada');
      await ada.disable(PRODUCTION);
      expect([flags.isEnabled('checkout'), ada.isEnabled('checkout')]).toEqual([false, false]);
    });

    it('is not affected by mutations of results or inputs', async () => {
      const { flags } = await checkoutOn(start);
      const variants = [{ name: 'blue', overrides: [{ contextName: 'userId', values: ['ada'] }] }];
      const set = await flags.setVariants(CHECKOUT, variants);
      const added = await flags.addStrategy(PRODUCTION, onlyFor('ada'));
      const before = structuredClone(flags.configuration());
      Object.assign(added.parameters ?? {}, { userIds: 'mallory' });
      for (const variant of [...set, ...variants]) Object.assign(variant, { name: 'green', overrides: [] });
      expect(flags.configuration()).toEqual(before);
      expect(flags.getVariant('checkout', ADA).name).toBe('blue');
    });

    it('sees nothing of a change that was refused', async () => {
      const { flags } = await checkoutOn(start);
      const { version: stamp } = flags.configuration();
      await expect(flags.enable(DEVELOPMENT)).rejects.toMatchObject({ code: 'environment_has_no_strategies' });
      await expect(flags.disable(PRODUCTION, { ifRevision: 99 })).rejects.toMatchObject({ code: 'revision_mismatch' });
      expect([flags.isEnabled('checkout'), flags.configuration().version]).toEqual([true, stamp]);
    });
  });
});
