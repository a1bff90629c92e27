import type { Awaitable } from '../../src/awaitable.js';
import { memoryStorage } from '../../src/index.js';
import { sqliteStorage } from '../../src/sqlite.js';
import type { Storage } from '../../src/storage/port.js';

export interface StorageKind {
  readonly name: string;
  /** Gives an empty one, in this file if it needs any; of each file of a test, one. */
  readonly open: (file: string) => Awaitable<Storage>;
}

/** The storages that rules are run on. A package that has another one puts it in the place of these. */
export const STORAGES: readonly StorageKind[] = [
  { name: 'memory', open: () => memoryStorage() },
  { name: 'SQLite', open: (file) => sqliteStorage(file) },
];
