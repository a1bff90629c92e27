import type { StorageKind } from '../../../core/test/storage-kinds.js';
import { emptiedStorages } from '../emptied-storage.js';

/** PostgreSQL as a kind of storage, for the tests of one file. */
export function postgresKind(): StorageKind {
  const empty = emptiedStorages();
  return { name: 'PostgreSQL', open: async (id) => ({ storage: await empty(id), dispose: async () => undefined }) };
}
