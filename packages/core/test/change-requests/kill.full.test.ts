import { join } from 'node:path';
import { openFlags } from '../../src/index.js';
import { sqliteStorage } from '../../src/sqlite.js';
import { program } from '../storage/sqlite/child-program.js';
import { temporaryDirectory } from '../storage/temporary-directory.js';
import { expectExactlyOnce } from './kill-rounds.js';

describe('the change requests of three processes on one file', () => {
  const directory = temporaryDirectory();
  afterAll(() => directory.remove());

  it('are applied exactly once while processes are killed, suspended and restarted, with clocks minutes apart', async () => {
    const database = join(directory.path, 'flags.db');
    const flags = await openFlags({
      storage: sqliteStorage(database),
      usage: { interval: 0 },
      due: { run: 'elsewhere' },
      onError: () => undefined,
    });
    const launch = program(join(__dirname, 'children/running.ts'), directory.path);
    const start = (ahead: number) => launch(JSON.stringify({ database, ahead }));
    await expectExactlyOnce({ flags, start, nodes: 3, rounds: 100 });
    await flags.close();
  }, 600_000);
});
