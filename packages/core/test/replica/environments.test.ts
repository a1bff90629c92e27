import { createFlags, memoryStorage } from '../../src/index.js';
import { onEveryStorage, type Start } from '../rules/on-every-storage.js';
import { CHECKOUT, DEFAULT, DEVELOPMENT, INHERITED_NAMES } from '../rules/references.js';
import { refusalOf } from '../rules/refusal.js';
import { SILENT } from './silent.js';
import { createSwitchedOn } from './switched-on.js';

const FALLBACK = { name: 'mine', enabled: true, payload: { type: 'string', value: 'of the caller' } } as const;

/** On in production, off in development. */
async function checkoutIn(start: Start) {
  const flags = await start(SILENT);
  await createSwitchedOn(flags, { flag: 'checkout' });
  return flags;
}

onEveryStorage((start) => {
  describe('the environment of an evaluation', () => {
    it('is production by default, or else the first', async () => {
      expect((await start(SILENT)).settings.environment).toBe('production');
      const flags = await start({ ...SILENT, environments: [{ name: 'one' }, { name: 'two' }] });
      await createSwitchedOn(flags, { flag: 'checkout', environment: 'one' });
      expect(flags.settings.environment).toBe('one');
      expect([flags.isEnabled('checkout'), flags.isEnabled('checkout', {}, { environment: 'two' })]).toEqual([
        true,
        false,
      ]);
    });

    it('is the one that the options name', async () => {
      const flags = await start({ ...SILENT, environment: 'development' });
      await createSwitchedOn(flags, { flag: 'checkout', environment: 'development' });
      expect([flags.isEnabled('checkout'), flags.isEnabled('checkout', {}, { environment: 'production' })]).toEqual([
        true,
        false,
      ]);
    });

    it('can be chosen for every call', async () => {
      const flags = await checkoutIn(start);
      const development = { environment: 'development' };
      await flags.setVariants(CHECKOUT, [{ name: 'blue' }]);
      expect(flags.isEnabled('checkout', {}, development)).toBe(false);
      expect(flags.getVariant('checkout', {}, development).name).toBe('disabled');
      expect(flags.explain('checkout', {}, development).reason).toBe('disabled');
      expect(flags.forContext({}, development).isEnabled('checkout')).toBe(false);
      expect(flags.configuration(development).flags).toMatchObject([{ name: 'checkout', enabled: false }]);
      await flags.addStrategy(DEVELOPMENT, { name: 'default' });
      await flags.enable(DEVELOPMENT);
      expect(flags.isEnabled('checkout', {}, development)).toBe(true);
      expect(flags.getVariant('checkout', {}, development).name).toBe('blue');
    });

    it.each(['none', '', ...INHERITED_NAMES])('is refused at once when it is unknown: %p', async (environment) => {
      const flags = await checkoutIn(start);
      const options = { environment, fallback: true };
      const calls = [
        () => flags.isEnabled('checkout', {}, options),
        () => flags.getVariant('checkout', {}, { environment, fallback: FALLBACK }),
        () => flags.explain('checkout', {}, options),
        () => flags.forContext({}, options),
        () => flags.configuration(options),
      ];
      for (const call of calls) expect(call).toThrow(expect.objectContaining({ code: 'environment_not_found' }));
      expect(calls[0]).toThrow(`There is no environment ${environment}; there are development, production.`);
    });
  });

  describe('the fallback', () => {
    it('answers for a flag that does not exist', async () => {
      const flags = await start(SILENT);
      expect([flags.isEnabled('none'), flags.isEnabled('none', {}, { fallback: true })]).toEqual([false, true]);
      expect(flags.getVariant('none')).toEqual({ name: 'disabled', enabled: false, feature_enabled: false });
      expect(flags.getVariant('none', {}, { fallback: FALLBACK })).toEqual({ ...FALLBACK, feature_enabled: false });
    });

    it('answers for an archived flag', async () => {
      const flags = await checkoutIn(start);
      await flags.archiveFlag(CHECKOUT);
      expect(flags.isEnabled('checkout', {}, { fallback: true })).toBe(true);
      expect(flags.getVariant('checkout', {}, { fallback: FALLBACK }).name).toBe('mine');
      expect(flags.explain('checkout').reason).toBe('unknown_flag');
    });

    it('is never used for a disabled flag', async () => {
      const flags = await start(SILENT);
      await flags.createFlag(DEFAULT, { name: 'checkout' });
      expect(flags.isEnabled('checkout', {}, { fallback: true })).toBe(false);
      expect(flags.getVariant('checkout', {}, { fallback: FALLBACK }).name).toBe('disabled');
    });

    it.each(INHERITED_NAMES)('answers for %s until there is such a flag', async (flag) => {
      const flags = await start(SILENT);
      expect(flags.isEnabled(flag, {}, { fallback: true })).toBe(true);
      await flags.createFlag(DEFAULT, { name: flag });
      expect(flags.isEnabled(flag, {}, { fallback: true })).toBe(false);
    });
  });
});

describe('options of an evaluation', () => {
  it('may be null where no types keep callers from it', async () => {
    const flags = await createFlags({ ...SILENT, storage: memoryStorage() });
    await createSwitchedOn(flags, { flag: 'checkout' });
    const nothing = null as never;
    expect([flags.isEnabled('checkout', nothing, nothing), flags.isEnabled('none', nothing, nothing)]).toEqual([
      true,
      false,
    ]);
    expect(flags.getVariant('none', nothing, nothing).enabled).toBe(false);
    expect(flags.forContext(nothing, nothing).isEnabled('checkout')).toBe(true);
    expect(flags.explain('checkout', nothing, nothing).enabled).toBe(true);
    await flags.close();
  });

  it.each(['none', '', 'toString', 7])('cannot make %p the default environment', async (environment) => {
    const opening = createFlags({ storage: memoryStorage(), environment: environment as string });
    const { code, details } = await refusalOf(opening);
    expect(code).toBe('invalid_input');
    expect(details).toEqual([expect.objectContaining({ path: '/environment' })]);
  });
});
