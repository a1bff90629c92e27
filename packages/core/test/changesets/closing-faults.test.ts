import { createFlags } from '../../src/create-flags.js';
import { memoryUsage } from '../../src/storage/memory/memory-usage.js';
import { memoryStorage } from '../../src/storage/memory/storage.js';

const FAULT = new Error('The usage cannot be closed.');

it('closes the storage also when usage cannot be closed', async () => {
  const storage = memoryStorage();
  const flags = await createFlags({
    storage,
    usage: { ...memoryUsage(), close: () => Promise.reject(FAULT) },
  });
  await expect(flags.close()).rejects.toBe(FAULT);
  await expect(storage.list({ kind: 'flag', part: 'body' })).rejects.toMatchObject({ code: 'closed' });
});
