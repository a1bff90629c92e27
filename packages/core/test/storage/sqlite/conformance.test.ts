import { join } from 'node:path';
import Database from 'better-sqlite3';
import { sqliteStorage } from '../../../src/storage/sqlite/storage.js';
import { storageConformance } from '../../../src/testing/storage/conformance.js';
import { temporaryDirectory } from '../temporary-directory.js';

storageConformance('sqliteStorage of a path', async () => {
  const directory = temporaryDirectory();
  const path = join(directory.path, 'flags.db');
  return { storage: await sqliteStorage(path), again: () => sqliteStorage(path), dispose: directory.remove };
});

storageConformance("sqliteStorage of the host's handle, with a prefix", async () => {
  const directory = temporaryDirectory();
  const handles: Database.Database[] = [];
  const openStorage = () => {
    const database = new Database(join(directory.path, 'host.db'));
    database.pragma('journal_mode = WAL');
    database.defaultSafeIntegers(true);
    handles.push(database);
    return sqliteStorage({ database, tablePrefix: 'Feature_2_' });
  };
  const dispose = () => {
    for (const database of handles) database.close();
    directory.remove();
  };
  return { storage: await openStorage(), again: openStorage, dispose };
});

storageConformance('sqliteStorage in memory', async () => ({ storage: await sqliteStorage(':memory:') }));
