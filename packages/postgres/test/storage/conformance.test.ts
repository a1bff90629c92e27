import { storageConformance } from '@flags/core/testing';
import { type FreshDatabase, freshDatabase } from '@flags/test-postgres';
import { Pool } from 'pg';
import { extent } from '../../../../test/extent.js';
import { type PostgresStorageOptions, type PostgresStorageSettings, postgresStorage } from '../../src/index.js';
import { onEveryVersion } from '../server/on-every-version.js';

onEveryVersion((version, server) => {
  let database: FreshDatabase;
  let pool: Pool;
  let schemas = 0;

  beforeAll(async () => {
    database = await freshDatabase({ server: server() });
    pool = new Pool({ connectionString: database.url });
    // Dropping the database ends connections that the pool is still closing.
    pool.on('error', () => undefined);
  });

  afterAll(async () => {
    await pool.end();
    await database.drop();
  });

  function conforms(name: string, options: (place: PostgresStorageSettings) => PostgresStorageOptions): void {
    storageConformance(`postgresStorage of ${name}, on ${version},`, async () => {
      schemas += 1;
      const place = { schema: `Rule "${schemas}"`, tablePrefix: 'Feature_2_', listen: false };
      const open = () => postgresStorage(options(place));
      return { storage: await open(), again: open };
    });
  }

  conforms('a connection string', (place) => ({ connectionString: database.url, ...place }));
  const inFull = extent({ short: () => undefined, full: conforms });
  inFull("the host's pool", (place) => ({ pool, ...place }));
});
