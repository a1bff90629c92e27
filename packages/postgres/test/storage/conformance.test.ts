import { storageConformance } from '@flags/core/testing';
import { extent } from '../../../../test/extent.js';
import { type PostgresStorageOptions, type PostgresStorageSettings, postgresStorage } from '../../src/index.js';
import { deletionOfRows, ownDatabase } from '../own-database.js';
import { onEveryVersion } from '../server/on-every-version.js';

const SCHEMA = 'A "rule"';

onEveryVersion((version, server) => {
  const database = ownDatabase(() => ({ server: server() }));

  function conforms(name: string, options: (place: PostgresStorageSettings) => PostgresStorageOptions): void {
    const open = () => postgresStorage(options({ schema: SCHEMA, tablePrefix: 'Feature_2_', listen: false }));
    let empty: string;
    // Creating the tables takes longer than a rule: all rules share them.
    beforeAll(async () => {
      await (await open()).close();
      empty = await deletionOfRows(database, SCHEMA);
    });
    storageConformance(`postgresStorage of ${name}, on ${version},`, async () => {
      await database.ask(empty);
      return { storage: await open(), again: open };
    });
  }

  conforms("the host's pool", (place) => ({ pool: database.pool(), ...place }));
  const inFull = extent({ short: () => undefined, full: conforms });
  inFull('a connection string', (place) => ({ connectionString: database.url(), ...place }));
});
