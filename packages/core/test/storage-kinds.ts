import { join } from 'node:path';
import Database from 'better-sqlite3';
import { extent } from '../../../test/extent.js';
import { memoryStorage } from '../src/index.js';
import { sqliteStorage } from '../src/sqlite.js';
import type { FlagsStorage } from '../src/storage/port.js';
import { temporaryDirectory } from './storage/temporary-directory.js';

/** A kind of storage that tests run on. All test suites share the kinds of this file. */
export interface StorageKind {
  readonly name: string;
  /** Opens an empty storage. Storages that one test has open at the same time have different ids. */
  readonly open: (id?: string) => Promise<OpenStorage>;
}

export interface OpenStorage {
  readonly storage: FlagsStorage;
  /** Closes the storage, if it is still open, and removes its files. */
  readonly dispose: () => Promise<void>;
}

export const MEMORY: StorageKind = {
  name: 'memory',
  async open() {
    const storage = memoryStorage();
    return { storage, dispose: async () => storage.close() };
  },
};

/**
 * A storage on a SQLite file that is never flushed to the disk: no rule is about power failures, and flushing is most of the
 * time of a test. The tests of the SQLite storage itself open files as users do.
 */
export async function openWithoutFlushing(path: string): Promise<FlagsStorage> {
  const database = new Database(path);
  database.pragma('synchronous = OFF');
  database.pragma('journal_mode = WAL');
  const storage = await sqliteStorage({ database });
  return {
    ...storage,
    async close() {
      await storage.close();
      database.close();
    },
  };
}

/** A SQLite file of its own, {@link openWithoutFlushing}. */
export const SQLITE: StorageKind = {
  name: 'SQLite',
  async open() {
    const directory = temporaryDirectory();
    const storage = await openWithoutFlushing(join(directory.path, 'flags.db'));
    return {
      storage,
      async dispose() {
        await storage.close();
        directory.remove();
      },
    };
  },
};

const SQLITE_IN_MEMORY: StorageKind = {
  name: 'SQLite in memory',
  async open() {
    const storage = await sqliteStorage(':memory:');
    return { storage, dispose: async () => storage.close() };
  },
};

/** Each rule holds on these. A package that has another storage puts it in the place of these. */
export const STORAGES: readonly StorageKind[] = [MEMORY, SQLITE];

/** Random operations are tried on these. In the short form, SQLite in memory runs the conformance suite only. */
export const PROPERTY_STORAGES: readonly StorageKind[] = extent({
  short: STORAGES,
  full: [...STORAGES, SQLITE_IN_MEMORY],
});
