import { openFlags } from '@flags/core';
import { expectExactlyOnce } from '../../../core/test/change-requests/kill-rounds.js';
import { postgresStorage } from '../../src/index.js';
import { ownDatabase } from '../own-database.js';
import { nodeProgram } from './node-process.js';

describe('the change requests of four nodes', () => {
  const database = ownDatabase();
  const program = nodeProgram('due-runner');
  afterAll(() => program.remove());

  it('are applied exactly once while nodes are killed, suspended and restarted, with clocks minutes apart', async () => {
    const flags = await openFlags({
      storage: postgresStorage(database.url()),
      usage: { interval: 0 },
      due: { run: 'elsewhere' },
      onError: () => undefined,
    });
    const start = (ahead: number) => program.start(JSON.stringify({ url: database.url(), ahead }));
    await expectExactlyOnce({ flags, start, nodes: 4, rounds: 100 });
    await flags.close();
  }, 600_000);
});
