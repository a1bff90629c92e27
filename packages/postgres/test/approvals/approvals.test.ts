import { type Flags, isFlagsError, openFlags } from '@flags/core';
import { extent } from '../../../../test/extent.js';
import { DEFAULT } from '../../../core/test/references.js';
import { postgresStorage } from '../../src/index.js';
import { ownDatabase } from '../own-database.js';

jest.setTimeout(extent({ short: 60_000, full: 300_000 }));

const POLICY = { environments: { production: { required: 1 } } };
const NODES = 4;
const CHANGES = extent({ short: 10, full: 200 });

describe('approvals on PostgreSQL', () => {
  const database = ownDatabase();
  const running: Flags[] = [];

  afterEach(async () => {
    await Promise.all(running.splice(0).map((flags) => flags.close()));
  });

  async function start(): Promise<Flags> {
    const storage = await postgresStorage(database.url());
    const flags = await openFlags({ storage, pollInterval: 3_600_000 });
    running.push(flags);
    return flags;
  }

  it('nodes that change flags under a policy at once follow each other, and lose nothing', async () => {
    const nodes: Flags[] = [];
    for (let node = 0; node < NODES; node++) nodes.push(await start());
    const [first] = nodes;
    for (let node = 0; node < NODES; node++) await first?.createFlag(DEFAULT, { name: `flag-${node}` });
    await first?.approvalPolicy.set(POLICY);
    await Promise.all(
      nodes.map(async (flags, node) => {
        for (let change = 0; change < CHANGES; change++) {
          const ref = { ...DEFAULT, flag: `flag-${node}` };
          await untilDecided(() => flags.updateFlag(ref, { description: `${change}` }));
        }
      }),
    );
    for (let node = 0; node < NODES; node++) {
      const flag = await first?.getFlag({ ...DEFAULT, flag: `flag-${node}` });
      expect(flag?.description).toBe(`${CHANGES - 1}`);
    }
  });
});

/** Nodes that write without a pause may lose 20 races in a row, and are told to try again. */
async function untilDecided(change: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      await change();
      return;
    } catch (error) {
      if (!isFlagsError(error) || error.code !== 'too_much_contention') throw error;
    }
  }
}
