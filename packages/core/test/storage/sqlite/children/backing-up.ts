import fs from 'node:fs/promises';
import { sqliteStorage } from '../../../../src/storage/sqlite/storage.js';

/** Backs the database up to `<path>.backup`, reports that the copy is written, and stops before it is flushed and named. */
async function backUp(path: string): Promise<void> {
  const storage = await sqliteStorage(path);
  fs.open = async () => {
    process.send?.('written');
    return new Promise(() => undefined);
  };
  await storage.backup(`${path}.backup`);
}

void backUp(process.argv[2] ?? '');
