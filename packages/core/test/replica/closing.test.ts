import { CHECKOUT } from '../rules/references.js';
import { openOnOneFile } from './on-one-file.js';
import { SILENT } from './silent.js';
import { createSwitchedOn } from './switched-on.js';

const ADA = { userId: 'ada' };

describe('closing', () => {
  const open = openOnOneFile();

  it('records the counts', async () => {
    const flags = await open({ ...SILENT, appName: 'shop' });
    await createSwitchedOn(flags, { flag: 'checkout' });
    for (let call = 0; call < 7; call++) flags.isEnabled('checkout');
    await flags.close();
    const next = await open(SILENT);
    expect(await next.listSeenFlags()).toEqual([{ appName: 'shop', flags: ['checkout'], metricsCount: 7 }]);
    expect((await next.getFlag(CHECKOUT)).lastSeenAt).not.toBeNull();
  });

  it('leaves evaluation answering from the last state', async () => {
    const flags = await open(SILENT);
    await createSwitchedOn(flags, { flag: 'checkout' });
    await flags.setVariants(CHECKOUT, [{ name: 'blue' }]);
    const pinned = flags.forContext(ADA);
    await flags.close();
    expect([flags.isEnabled('checkout', ADA), flags.getVariant('checkout', ADA).name]).toEqual([true, 'blue']);
    expect([pinned.isEnabled('checkout'), flags.forContext(ADA).isEnabled('checkout')]).toEqual([true, true]);
    expect(flags.isEnabled('checkout', ADA, { environment: 'development' })).toBe(false);
    expect(flags.explain('checkout', ADA).reason).toBe('strategy');
    expect(flags.configuration().flags).toHaveLength(1);
    await expect(flags.getFlag(CHECKOUT)).rejects.toMatchObject({ code: 'closed' });
  });

  it('makes a refresh say that the state is stale, and fails none', async () => {
    const flags = await open(SILENT);
    await flags.close();
    expect(await flags.refresh()).toMatchObject({ state: 'stale', error: expect.anything() });
  });

  it('waits for a refresh that is under way', async () => {
    const flags = await open(SILENT);
    const refreshing = flags.refresh();
    await flags.close();
    expect(await refreshing).toMatchObject({ state: 'current' });
  });
});
