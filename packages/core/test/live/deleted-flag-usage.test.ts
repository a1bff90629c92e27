import { createFlags, memoryMetrics, memoryStorage } from '../../src/index.js';
import { DEFAULT } from '../rules/references.js';

describe('what was counted of a flag', () => {
  async function countedAfter(change: 'archived' | 'deleted') {
    const metrics = memoryMetrics();
    const flags = await createFlags({ storage: memoryStorage(), metrics, pollInterval: 0, usageInterval: 0 });
    await flags.createFlag(DEFAULT, { name: 'checkout' });
    flags.isEnabled('checkout');
    await flags.archiveFlag({ ...DEFAULT, flag: 'checkout' });
    if (change === 'deleted') {
      await flags.deleteFlag({ flag: 'checkout' });
      await flags.createFlag(DEFAULT, { name: 'checkout' });
    }
    await flags.close();
    return metrics.counts({ after: 0 });
  }

  it('still counts when it is archived', async () => {
    expect(await countedAfter('archived')).toEqual([{ flag: 'checkout', yes: 0, no: 1 }]);
  });

  it('is not told of a later flag of its name when it is deleted', async () => {
    expect(await countedAfter('deleted')).toEqual([]);
  });
});
