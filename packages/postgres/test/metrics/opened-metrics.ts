import type { MetricsStorage, Storage } from '@flags/core';
import { postgresStorage } from '../../src/index.js';

export interface MetricsPlace {
  readonly url: string;
  readonly schema: string;
}

/** Opens a storage for its metrics. Closing them closes the storage. */
export async function openedMetrics({ url, schema }: MetricsPlace): Promise<MetricsStorage> {
  return metricsOf(postgresStorage({ connectionString: url, schema }));
}

/** The metrics of a storage. Closing them closes the storage. */
async function metricsOf(opening: Promise<Storage>): Promise<MetricsStorage> {
  const storage = await opening;
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
