import type { MetricsStorage } from '@flags/core';
import { postgresStorage } from '../../src/index.js';

export interface MetricsPlace {
  readonly url: string;
  readonly schema: string;
}

/** The metrics of a storage of their own, which is closed with them. */
export async function openedMetrics({ url, schema }: MetricsPlace): Promise<MetricsStorage> {
  const storage = await postgresStorage({ connectionString: url, schema });
  const { metrics } = storage;
  if (!metrics) throw new Error('The storage brings no metrics.');
  return {
    ...metrics,
    async close() {
      await metrics.close();
      await storage.close();
    },
  };
}
