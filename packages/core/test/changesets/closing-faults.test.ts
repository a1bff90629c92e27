import { createFlags } from '../../src/create-flags.js';
import { memoryMetrics } from '../../src/storage/memory/metrics.js';
import { memoryStorage } from '../../src/storage/memory/storage.js';

const FAULT = new Error('The metrics cannot be closed.');

it('closes the storage also when metrics cannot be closed', async () => {
  const storage = memoryStorage();
  const flags = await createFlags({
    storage,
    metrics: { ...memoryMetrics(), close: () => Promise.reject(FAULT) },
  });
  await expect(flags.close()).rejects.toBe(FAULT);
  await expect(storage.list({ kind: 'flag', part: 'body' })).rejects.toMatchObject({ code: 'closed' });
});
