import { until } from '../../../../test/until.js';
import { createFlags, memoryStorage, memoryUsage } from '../../src/index.js';
import { faultyUsage } from '../../src/testing.js';
import { DEFAULT } from '../rules/references.js';

describe('the counts of a flag', () => {
  async function countedAfter(change: 'archived' | 'deleted') {
    const usage = memoryUsage();
    const flags = await createFlags({ storage: memoryStorage(), usage, pollInterval: 0, usageInterval: 0 });
    await flags.createFlag(DEFAULT, { name: 'checkout' });
    flags.isEnabled('checkout');
    await flags.archiveFlag({ ...DEFAULT, flag: 'checkout' });
    if (change === 'deleted') {
      await flags.deleteFlag({ flag: 'checkout' });
      await flags.createFlag(DEFAULT, { name: 'checkout' });
    }
    await flags.close();
    return usage.sum({ resolution: 'minute', by: ['flag'] });
  }

  it('still counts when it is archived', async () => {
    expect(await countedAfter('archived')).toEqual([{ flag: 'checkout', yes: 0, no: 1 }]);
  });

  it('is not told of a later flag of its name when it is deleted', async () => {
    expect(await countedAfter('deleted')).toEqual([]);
  });

  it('is not told of a later flag of its name when it could not be recorded before', async () => {
    const kept = memoryUsage();
    const usage = faultyUsage(kept);
    const failing = usage.inject({ method: 'record' });
    const onError = () => undefined;
    const flags = await createFlags({ storage: memoryStorage(), usage, pollInterval: 0, usageInterval: 1, onError });
    await flags.createFlag(DEFAULT, { name: 'checkout' });
    flags.isEnabled('checkout');
    await until(() => failing.strikes() > 0);
    await flags.archiveFlag({ ...DEFAULT, flag: 'checkout' });
    await flags.deleteFlag({ flag: 'checkout' });
    await flags.createFlag(DEFAULT, { name: 'checkout' });
    usage.heal();
    await flags.close();
    expect(await kept.sum({ resolution: 'minute', by: ['flag'] })).toEqual([]);
  });
});
