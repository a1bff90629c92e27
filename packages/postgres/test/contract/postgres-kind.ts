import type { StorageKind } from '../../../express/test/contract/contract-host.js';
import { emptiedStorages } from '../emptied-storage.js';

/** Where hosts of the contract keep their state; for one file of tests. */
export function postgresKind(): StorageKind {
  const empty = emptiedStorages();
  return { name: 'PostgreSQL', open: async () => ({ storage: await empty(), remove: async () => undefined }) };
}
