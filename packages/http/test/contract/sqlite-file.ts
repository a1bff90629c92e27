import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Storage } from '@flags/core';
import { type SqliteDatabase, sqliteStorage } from '@flags/core/sqlite';

const Database: new (file: string) => SqliteDatabase = require('better-sqlite3');

export interface SqliteFile {
  readonly path: string;
  readonly storage: Promise<Storage>;
  /** Call it when the storage is closed. */
  readonly remove: () => Promise<void>;
}

/** A new database file, or another connection to one. It is never flushed to disk: no row of the table is about power cuts, and all of them wait for it. */
export async function createSqliteFile(existing?: string): Promise<SqliteFile> {
  const path = existing ?? join(await mkdtemp(join(tmpdir(), 'flags-contract-')), 'flags.db');
  const database = new Database(path);
  database.pragma('synchronous = OFF');
  database.pragma('journal_mode = WAL');
  return {
    path,
    storage: sqliteStorage({ database }),
    async remove() {
      database.close();
      if (existing === undefined) await rm(dirname(path), { recursive: true, force: true });
    },
  };
}
