import { join } from 'node:path';
import type { Awaitable } from '../../src/awaitable.js';
import { sqliteStorage } from '../../src/sqlite.js';
import { memoryStorage } from '../../src/storage/memory.js';
import type { Storage } from '../../src/storage/port.js';
import { temporaryDirectory } from '../storage/temporary-directory.js';

export interface OpenStorage {
  readonly storage: Storage;
  readonly dispose: () => Promise<void>;
}

export interface StorageKind {
  readonly name: string;
  readonly open: () => Promise<OpenStorage>;
}

async function opened(storage: Awaitable<Storage>, afterwards: () => void = () => undefined): Promise<OpenStorage> {
  const ready = await storage;
  return {
    storage: ready,
    dispose: async () => {
      await ready.close();
      afterwards();
    },
  };
}

export const STORAGES: readonly StorageKind[] = [
  { name: 'memory', open: () => opened(memoryStorage()) },
  {
    name: 'a SQLite file',
    open: () => {
      const directory = temporaryDirectory();
      return opened(sqliteStorage(join(directory.path, 'flags.db')), directory.remove);
    },
  },
  { name: 'SQLite in memory', open: () => opened(sqliteStorage(':memory:')) },
];
