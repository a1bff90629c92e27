import { type UsageStorage, usageOf } from '@flags/core/integration/postgres';
import { type PostgresStorageOptions, postgresStorage } from '../../src/index.js';

/** Opens a storage for its usage. Closing it closes the storage. */
export async function openedUsage(options: PostgresStorageOptions): Promise<UsageStorage> {
  const storage = await postgresStorage(options);
  const usage = usageOf(storage);
  if (!usage) throw new Error('The storage brings no usage.');
  return {
    ...usage,
    async close() {
      await usage.close();
      await storage.close();
    },
  };
}
