import { openFlags } from '@flags/core';
import { expectStepsOnce } from '../../../core/test/rollouts/kill-rounds.js';
import { postgresStorage } from '../../src/index.js';
import { ownDatabase } from '../own-database.js';
import { nodeProgram } from './node-process.js';

describe('the rollouts of four nodes', () => {
  const database = ownDatabase();
  const program = nodeProgram('due-runner');
  afterAll(() => program.remove());

  it('take each step once, in order and not early, while nodes are killed, suspended and restarted, with clocks minutes apart', async () => {
    const flags = await openFlags({
      storage: postgresStorage(database.url()),
      usage: { interval: 0 },
      due: { run: 'elsewhere' },
      onError: () => undefined,
    });
    const start = (ahead: number) => program.start(JSON.stringify({ url: database.url(), ahead }));
    await expectStepsOnce({ flags, start, nodes: 4, rollouts: 100 });
    await flags.close();
  }, 300_000);
});
