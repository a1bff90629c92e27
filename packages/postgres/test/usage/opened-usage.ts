import type { UsageStorage } from '@flags/core';
import { postgresStorage } from '../../src/index.js';

export interface UsagePlace {
  readonly url: string;
  readonly schema: string;
}

/** Opens a storage for its usage. Closing it closes the storage. */
export async function openedUsage({ url, schema }: UsagePlace): Promise<UsageStorage> {
  const storage = await postgresStorage({ connectionString: url, schema });
  const { usage } = storage;
  if (!usage) throw new Error('The storage brings no usage.');
  return {
    ...usage,
    async close() {
      await usage.close();
      await storage.close();
    },
  };
}
