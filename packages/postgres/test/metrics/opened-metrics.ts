import type { MetricsStorage, Storage } from '@flags/core';
import { Client } from 'pg';
import { postgresStorage } from '../../src/index.js';

export interface MetricsPlace {
  readonly url: string;
  readonly schema: string;
}

/** The metrics of a storage of their own, which is closed with them. */
export async function openedMetrics({ url, schema }: MetricsPlace): Promise<MetricsStorage> {
  return metricsOf(postgresStorage({ connectionString: url, schema }));
}

/** Those of a storage that is closed with them. */
export async function metricsOf(opening: Promise<Storage>): Promise<MetricsStorage> {
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

/** Has the database fail where a report that counts this flag is written, when other tables have been. */
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
