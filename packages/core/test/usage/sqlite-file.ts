import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { createWriteQueue } from '../../src/storage/sqlite/database.js';
import { migrate } from '../../src/storage/sqlite/migrations.js';
import { sqliteUsage } from '../../src/storage/sqlite/usage.js';
import type { UsageStorage } from '../../src/storage/usage/port.js';

export interface UsageFile {
  /** A connection for the test itself. */
  readonly database: Database.Database;
  /** Usage on a connection of its own. */
  readonly open: (busyTimeout?: number) => { readonly usage: UsageStorage; readonly database: Database.Database };
  /** Makes the database fail on the last write of a report that counts this flag. */
  readonly refuse: (flag: string) => void;
  readonly remove: () => Promise<void>;
}

/** Creates a database file with the tables of a storage. */
export async function usageFile(tablePrefix = 'flags_'): Promise<UsageFile> {
  const directory = await mkdtemp(join(tmpdir(), 'flags-usage-'));
  const connections: Database.Database[] = [];

  const connect = (): Database.Database => {
    const database = new Database(join(directory, 'flags.db'), { timeout: 0 });
    database.pragma('journal_mode = WAL');
    connections.push(database);
    return database;
  };

  const database = connect();
  migrate(database, tablePrefix);

  return {
    database,
    open(busyTimeout = 10_000) {
      const connection = { database: connect(), busyTimeout };
      const writeQueue = createWriteQueue(connection);
      return { database: connection.database, usage: sqliteUsage({ connection, writeQueue, tablePrefix }) };
    },
    refuse(flag) {
      database.exec(`
        CREATE TRIGGER fault BEFORE INSERT ON ${tablePrefix}last_seen WHEN NEW.flag = '${flag}'
        BEGIN SELECT RAISE(ABORT, 'injected fault'); END`);
    },
    async remove() {
      for (const connection of connections) connection.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
