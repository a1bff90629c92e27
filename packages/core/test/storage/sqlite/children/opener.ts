import { sqliteStorage } from '../../../../src/storage/sqlite/storage.js';
import { creation } from '../../samples.js';

/** On request, opens the database and creates one flag, named after the process. */
async function open(path: string): Promise<void> {
  const storage = await sqliteStorage({ path, busyTimeout: 60_000 });
  const result = await storage.commit(creation(`p${process.pid}`));
  await storage.close();
  process.send?.(result.ok);
  process.disconnect();
}

process.once('message', () => void open(process.argv[2] ?? ''));
process.send?.('ready');
