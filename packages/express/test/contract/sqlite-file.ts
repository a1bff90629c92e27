import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Storage } from '@flags/core';
import { type SqliteDatabase, sqliteStorage } from '@flags/core/sqlite';

const Database: new (file: string) => SqliteDatabase = require('better-sqlite3');

export interface SqliteFile {
  readonly storage: Promise<Storage>;
  /** To be called when the storage is closed. */
  readonly remove: () => Promise<void>;
}

/** A new database file. It is never flushed to disk: no row of the table is about power cuts, and all of them wait for it. */
export async function createSqliteFile(): Promise<SqliteFile> {
  const directory = await mkdtemp(join(tmpdir(), 'flags-contract-'));
  const database = new Database(join(directory, 'flags.db'));
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = OFF');
  return {
    storage: sqliteStorage({ database }),
    async remove() {
      database.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
