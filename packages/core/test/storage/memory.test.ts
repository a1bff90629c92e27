import { memoryStorage } from '../../src/storage/memory/storage.js';
import { storageConformance } from '../../src/testing/storage/conformance.js';

storageConformance('memoryStorage', () => ({ storage: memoryStorage() }));

describe('memoryStorage', () => {
  it('refuses every call after it was closed', async () => {
    const storage = memoryStorage();
    await storage.close();
    const closed = { name: 'FlagsError', code: 'closed' };
    await expect(storage.get({ kind: 'flag', id: 'a' })).rejects.toMatchObject(closed);
    await expect(storage.list({ kind: 'flag', part: 'body' })).rejects.toMatchObject(closed);
    await expect(storage.commit({ writes: [], events: [] })).rejects.toMatchObject(closed);
    await expect(storage.events({ order: 'oldest-first', limit: 1 })).rejects.toMatchObject(closed);
  });

  it('offers metrics at the same place', async () => {
    expect(await memoryStorage().metrics?.counts({ after: 0 })).toEqual([]);
  });
});
