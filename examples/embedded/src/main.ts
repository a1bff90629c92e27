import { rm } from 'node:fs/promises';
import { type Flags, openFlags } from '@flags/core';
import { sqliteStorage } from '@flags/core/sqlite';
import { openShop } from './shop.js';

const FILE = process.argv[2] ?? './embedded.db';

const production = { project: 'default', flag: 'checkout', environment: 'production' };

/** A service with flags in its own process: one SQLite file, no HTTP, no second program. */
async function main(): Promise<void> {
  const flags = await openFlags({ storage: sqliteStorage(FILE), actor: 'shop' });
  const shop = openShop(flags);
  try {
    await rollOut(flags.as('ada'));
    await shop.hasHeardOf(3);
    for (const userId of ['7', '10']) shop.sell(userId);
    await flags.as('ada').disable(production);
    await shop.hasHeardOf(4);
    shop.sell('10');
  } finally {
    await flags.close();
  }
}

/** Creates the flag, adds its strategy, and switches it on. */
async function rollOut(flags: Flags): Promise<void> {
  await flags.createFlag({ project: 'default' }, { name: 'checkout', description: 'The new checkout' });
  await flags.addStrategy(production, { name: 'flexibleRollout', parameters: { rollout: 25, groupId: 'checkout' } });
  await flags.enable(production);
}

// The example starts from nothing each time; a service keeps its file.
await Promise.all([FILE, `${FILE}-wal`, `${FILE}-shm`].map((file) => rm(file, { force: true })));
await main();
