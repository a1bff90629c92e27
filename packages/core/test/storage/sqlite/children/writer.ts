import { sqliteStorage } from '../../../../src/storage/sqlite/storage.js';
import { creation } from '../../samples.js';

/** Creates flags on five lines at once until it is killed, and tells the id of each that was acknowledged. */
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
