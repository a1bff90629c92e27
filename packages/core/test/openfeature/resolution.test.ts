import { createFlags, type Flags, memoryStorage, memoryUsage } from '@flags/core';
import { resolveAll, resolveSwitch, resolveVariant } from '@flags/core/integration';

const CHECKOUT = { project: 'default', flag: 'checkout' };
const PRODUCTION = { ...CHECKOUT, environment: 'production' };
const ADA = { context: { targetingKey: 'ada' } };
function metadata(enabled: boolean) {
  return { project: 'default', type: 'release', enabled, stale: false, impressionData: false };
}

let flags: Flags;

beforeEach(async () => {
  flags = await createFlags({ storage: memoryStorage() });
  await flags.createFlag({ project: 'default' }, { name: 'checkout' });
  await flags.addStrategy(PRODUCTION, { name: 'userWithId', parameters: { userIds: 'ada' } });
  await flags.enable(PRODUCTION);
});

afterEach(() => flags.close());

describe('a resolution', () => {
  it('returns whether a flag is on, the reason, and the flag', () => {
    const answer = (enabled: boolean) => ({ flag: 'checkout', enabled, metadata: metadata(enabled) });
    expect(resolveSwitch(flags, 'checkout', ADA)).toEqual({ ...answer(true), reason: 'TARGETING_MATCH' });
    expect(resolveSwitch(flags, 'checkout', { context: {} })).toEqual({
      ...answer(false),
      reason: 'TARGETING_MATCH',
    });
  });

  it('is counted, alone and among those that are included', async () => {
    const usage = memoryUsage();
    const counting = await createFlags({ storage: memoryStorage(), usage });
    for (const name of ['checkout', 'hidden']) await counting.createFlag({ project: 'default' }, { name });
    resolveSwitch(counting, 'checkout', ADA);
    resolveVariant(counting, 'checkout', ADA);
    await resolveAll(counting, ADA, { names: ['checkout'] });
    await counting.close();
    const later = await createFlags({ storage: memoryStorage(), usage });
    expect([...(await later.countEvaluations()).lastHour]).toEqual([['checkout', { yes: 0, no: 3 }]]);
    await later.close();
  });

  it('is for the environment that is named', () => {
    const scope = { ...ADA, environment: 'development' };
    expect(resolveSwitch(flags, 'checkout', scope)).toMatchObject({ enabled: false, reason: 'DISABLED' });
    expect(() => resolveSwitch(flags, 'checkout', { ...ADA, environment: 'nowhere' })).toThrow('nowhere');
  });

  it('has the variant, with its payload', async () => {
    await flags.setVariants(CHECKOUT, [{ name: 'blue', payload: { type: 'number', value: '7' } }]);
    const resolution = resolveVariant(flags, 'checkout', ADA);
    expect(resolution).toMatchObject({
      enabled: true,
      variant: { name: 'blue', payload: { type: 'number', value: '7' } },
    });
    const off = resolveVariant(flags, 'checkout', { context: {} });
    expect(off).not.toHaveProperty('variant');
    expect(off).toMatchObject({ enabled: false, withholdsPayload: true });
  });

  it.each([resolveSwitch, resolveVariant])('is none for a flag that does not exist, by %p', (resolve) => {
    for (const name of ['unknown', '', '__proto__', 'constructor', '\u{1F600}']) {
      expect(resolve(flags, name, ADA)).toBeUndefined();
    }
  });

  it('finds every flag among many, whatever their names', async () => {
    const names = ['__proto__', 'constructor', 'A', 'Z', 'a', 'a-b', 'a.b', 'a1', 'toString', 'z', '~'];
    for (const name of names) await flags.createFlag({ project: 'default' }, { name });
    expect(names.map((name) => resolveSwitch(flags, name, ADA)?.flag)).toEqual(names);
    const all = await resolveAll(flags, ADA);
    expect(all.map(({ flag }) => flag)).toEqual([...names, 'checkout'].sort());
    expect(all.filter(({ enabled }) => enabled).map(({ flag }) => flag)).toEqual(['checkout']);
  });
});
