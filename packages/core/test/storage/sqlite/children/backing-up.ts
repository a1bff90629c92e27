import Database from 'better-sqlite3';
import { sqliteStorage } from '../../../../src/storage/sqlite/storage.js';

/** Backs the database up to `<path>.backup`, reports when half of it is copied, and stops there. */
async function backUp(path: string): Promise<void> {
  const database = new Database(path);
  const copy = database.backup.bind(database);
  database.backup = (target) => {
    return copy(target, {
      progress: ({ totalPages, remainingPages }) => {
        if (remainingPages > totalPages / 2) return 1;
        process.send?.('half');
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
        return 0;
      },
    });
  };
  const storage = await sqliteStorage({ database });
  await storage.backup(`${path}.backup`);
}

void backUp(process.argv[2] ?? '');
