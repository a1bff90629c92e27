import type { MetricsStorage, Storage } from '@flags/core';
import { Client } from 'pg';
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

/** Makes the database fail reports that count this flag, after other tables were written. */
export async function refuseFlag({ url, schema }: MetricsPlace, flag: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(`
    CREATE FUNCTION ${schema}.refuse() RETURNS trigger LANGUAGE plpgsql
    AS $$ BEGIN RAISE EXCEPTION 'injected fault'; END $$;
    CREATE TRIGGER fault BEFORE INSERT ON ${schema}.flags_counters
    FOR EACH ROW WHEN (NEW.flag = '${flag}') EXECUTE FUNCTION ${schema}.refuse()`);
  await client.end();
}
