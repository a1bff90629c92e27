import { expectSameOutcomes } from '../../../core/test/properties/same-outcomes.js';
import { STORAGES, type StorageKind } from '../../../core/test/properties/storages.js';
import { emptiedStorages } from '../emptied-storage.js';

jest.setTimeout(120_000);

describe('the same operations', () => {
  const empty = emptiedStorages();
  const postgres: StorageKind = {
    name: 'PostgreSQL',
    open: async () => ({ storage: await empty(), dispose: async () => undefined }),
  };

  it('come to the same on PostgreSQL as on every other storage', async () => {
    await expectSameOutcomes([...STORAGES, postgres], 10);
  });
});
