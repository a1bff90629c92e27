import { join } from 'node:path';
import Database from 'better-sqlite3';
import { findNodeSqlite, type NodeDatabase } from '../../../src/storage/sqlite/node-database.js';
import { sqliteStorage } from '../../../src/storage/sqlite/storage.js';
import { storageConformance } from '../../../src/testing/storage/conformance.js';
import { temporaryDirectory } from '../temporary-directory.js';

storageConformance('sqliteStorage of a path', async () => {
  const directory = temporaryDirectory();
  const path = join(directory.path, 'flags.db');
  return { storage: await sqliteStorage(path), again: () => sqliteStorage(path), dispose: directory.remove };
});

/** Storages on handles of the host, with a prefix, all on one new file. */
async function onHandles<T extends Database.Database | NodeDatabase>(open: (path: string) => T) {
  const directory = temporaryDirectory();
  const handles: T[] = [];
  const openStorage = () => {
    const database = open(join(directory.path, 'host.db'));
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF');
    handles.push(database);
    return sqliteStorage({ database, tablePrefix: 'Feature_2_' });
  };
  const dispose = () => {
    for (const database of handles) database.close();
    directory.remove();
  };
  return { storage: await openStorage(), again: openStorage, dispose };
}

storageConformance("sqliteStorage of the host's handle, with a prefix", () =>
  onHandles((path) => new Database(path).defaultSafeIntegers(true)),
);

const nodeSqlite = findNodeSqlite();
if (nodeSqlite) {
  storageConformance('sqliteStorage of a DatabaseSync of the host', () =>
    onHandles((path) => new nodeSqlite.DatabaseSync(path, { timeout: 0 })),
  );
}

storageConformance('sqliteStorage in memory', async () => ({ storage: await sqliteStorage(':memory:') }));
