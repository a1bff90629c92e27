import { createFlags, type Flags, isFlagsError } from '@flags/core';
import { extent } from '../../../../test/extent.js';
import { DEFAULT } from '../../../core/test/references.js';
import { postgresStorage } from '../../src/index.js';
import { ownDatabase } from '../own-database.js';
import { recordedPool } from '../recorded-pool.js';

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

  async function start(schema: string, onQuery: (text: string) => void = () => undefined): Promise<Flags> {
    const pool = database.pool();
    const recorded = recordedPool(pool, ({ text }) => onQuery(text));
    const query: typeof recorded.query = (sent) => {
      onQuery(sent.text);
      return recorded.query(sent);
    };
    const storage = await postgresStorage({ pool: { ...recorded, query }, schema });
    const flags = await createFlags({ storage, pollInterval: 3_600_000 });
    running.push(flags);
    return flags;
  }

  it('a change needs as many round trips as before while no policy is set, and four reads while one is', async () => {
    const asked: string[] = [];
    const flags = await start('counted', (text) => {
      // Notifications and what they cause are not part of the change.
      if (!text.includes('pg_notify')) asked.push(text);
    });
    await flags.createFlag(DEFAULT, { name: 'checkout' });
    const roundTripsOf = async (description: string) => {
      await flags.refresh();
      asked.length = 0;
      await flags.updateFlag({ ...DEFAULT, flag: 'checkout' }, { description });
      return asked.length;
    };
    // The transaction is one text, and its commit another.
    expect(await roundTripsOf('without')).toBe(2);
    await flags.setApprovalPolicy(POLICY);
    expect(await roundTripsOf('with')).toBe(4 + 2);
  });

  it('nodes that change flags under a policy at once follow each other, and lose nothing', async () => {
    const nodes: Flags[] = [];
    for (let node = 0; node < NODES; node++) nodes.push(await start('parallel'));
    const [first] = nodes;
    for (let node = 0; node < NODES; node++) await first?.createFlag(DEFAULT, { name: `flag-${node}` });
    await first?.setApprovalPolicy(POLICY);
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
