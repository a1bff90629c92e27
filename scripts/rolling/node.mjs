// A node of one build, for .ci/rolling: opens the flags on a storage, and does what its parent process asks.
import { openFlags } from '@flags/core';
import { sqliteStorage } from '@flags/core/sqlite';
import { postgresStorage } from '@flags/postgres';

const [name, store] = process.argv.slice(2);
const production = { project: 'default', flag: 'checkout', environment: 'production' };
const isPostgres = store.startsWith('postgres:');
const flags = await openFlags({
  storage: isPostgres ? postgresStorage(store) : sqliteStorage(store),
  pollInterval: 50,
  due: { run: 'elsewhere' },
});
const asNode = flags.as(name);

const WORK = {
  async create() {
    await asNode.createFlag({ project: 'default' }, { name: 'checkout' });
    await asNode.addStrategy(production, { name: 'default' });
    await asNode.enable(production);
  },
  enable: () => asNode.enable(production),
  disable: () => asNode.disable(production),
  async describe(times) {
    for (let time = 1; time <= times; time++) await asNode.updateFlag(production, { description: `${name} ${time}` });
  },
  isEnabled: () => flags.isEnabled('checkout'),
  countChanges: async () => (await flags.events.list({ flag: 'checkout', limit: 1 })).total,
  close: () => flags.close(),
};

process.on('message', async ({ id, work, input }) => {
  try {
    const result = await WORK[work](input);
    process.send({ id, result: typeof result === 'object' ? undefined : result });
  } catch (error) {
    process.send({ id, error: error.message });
  }
  if (work === 'close') process.disconnect();
});
process.send({ id: 0 });
