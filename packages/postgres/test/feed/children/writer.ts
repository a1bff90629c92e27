import { postgresStorage } from '../../../src/index.js';
import { change } from '../../samples.js';

/** A task of a writer: `commits` on each of `lines` concurrent lines. */
export interface Task {
  readonly name: string;
  readonly lines: number;
  readonly commits: number;
}

/** Creates documents with one event each, and reports the ids of acknowledged commits. */
async function write(url: string): Promise<void> {
  const storage = await postgresStorage({ connectionString: url, listen: false });
  process.on('message', async ({ name, lines, commits }: Task) => {
    const line = async (number: number) => {
      const ids: string[] = [];
      for (let count = 0; count < commits; count++) {
        const id = `${name}-${number}-${count}`;
        const result = await storage.commit(change(id));
        if (result.ok) ids.push(id);
      }
      return ids;
    };
    process.send?.((await Promise.all(Array.from({ length: lines }, (_, number) => line(number)))).flat());
  });
  process.send?.('ready');
}

void write(process.argv[2] ?? '');
