import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import type { MetricsStorage } from '../../src/storage/metrics-port.js';
import { createWriteQueue } from '../../src/storage/sqlite/database.js';
import { sqliteMetrics } from '../../src/storage/sqlite/metrics.js';
import {
  metricsTables,
  reporterColumns,
  timedUsageTables,
  unknownNameTables,
} from '../../src/storage/sqlite/migrations.js';

export interface SqliteFile {
  /** A connection for the test itself. */
  readonly database: Database.Database;
  /** Metrics on a connection of their own. */
  readonly open: (busyTimeout?: number) => { readonly metrics: MetricsStorage; readonly database: Database.Database };
  /** Has the database fail on the last write of a report that counts this flag. */
  readonly refuse: (flag: string) => void;
  readonly remove: () => Promise<void>;
}

/** A new database file that holds the tables of the metrics and nothing else. */
export async function sqliteFile(tablePrefix = 'flags_'): Promise<SqliteFile> {
  const directory = await mkdtemp(join(tmpdir(), 'flags-metrics-'));
  const connections: Database.Database[] = [];

  const connect = (): Database.Database => {
    const database = new Database(join(directory, 'flags.db'), { timeout: 0 });
    database.pragma('journal_mode = WAL');
    connections.push(database);
    return database;
  };

  const database = connect();
  for (const tables of [metricsTables, unknownNameTables, timedUsageTables, reporterColumns]) {
    database.exec(tables(tablePrefix));
  }

  return {
    database,
    open(busyTimeout = 10_000) {
      const connection = { database: connect(), busyTimeout };
      const writeQueue = createWriteQueue(connection);
      return { database: connection.database, metrics: sqliteMetrics({ connection, writeQueue, tablePrefix }) };
    },
    refuse(flag) {
      database.exec(`
        CREATE TRIGGER fault BEFORE INSERT ON ${tablePrefix}usage_now WHEN NEW.flag = '${flag}'
        BEGIN SELECT RAISE(ABORT, 'injected fault'); END`);
    },
    async remove() {
      for (const connection of connections) connection.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
