import { createRequire } from 'node:module';
import { memoryStorage } from '@flags/core';
import { type SqliteDatabase, sqliteStorage } from '@flags/core/sqlite';
import { fillStorage, furnish } from '../definitions.js';
import { serve } from '../served.js';

/** `memory`, or the path of a database file, which is not flushed: the test does not measure the disk. */
serve(
  async (name) => {
    if (name === 'memory') return memoryStorage();
    const Database = createRequire(__filename)('better-sqlite3') as new (file: string) => SqliteDatabase;
    const database = new Database(name);
    database.pragma('journal_mode = WAL');
    database.pragma('synchronous = OFF');
    return sqliteStorage({ database });
  },
  { fill: fillStorage, furnish },
);
