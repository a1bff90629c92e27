import { sqliteStorage } from '../../../../src/storage/sqlite/storage.js';
import { creation } from '../../samples.js';

/** Creates flags, five at once, until it is killed. Reports the id of each acknowledged one. */
async function write(path: string): Promise<void> {
  const storage = await sqliteStorage(path);
  const line = async (name: string) => {
    for (let number = 0; ; number++) {
      const id = `${name}-${number}`;
      const result = await storage.commit(creation(id));
      if (result.ok) process.send?.(id);
    }
  };
  await Promise.all(['a', 'b', 'c', 'd', 'e'].map(line));
}

void write(process.argv[2] ?? '');
