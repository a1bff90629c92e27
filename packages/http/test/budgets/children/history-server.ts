import { createRequire } from 'node:module';
import { type SqliteDatabase, sqliteStorage } from '@flags/core/sqlite';
import { fillHistory } from '../long-history.js';
import { serve } from '../served.js';

/** A database file, which is not flushed: the test does not measure the disk. */
serve(
  async (name) => {
    const Database = createRequire(__filename)('better-sqlite3') as new (file: string) => SqliteDatabase;
    const database = new Database(name);
    database.pragma('journal_mode = WAL');
    database.pragma('synchronous = OFF');
    return sqliteStorage({ database });
  },
  { fill: fillHistory, furnish: async () => undefined },
);
