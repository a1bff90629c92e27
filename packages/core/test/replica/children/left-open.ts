import { openFlags } from '../../../src/index.js';
import { sqliteStorage } from '../../../src/sqlite.js';

/** Opens flags with every timer running, evaluates, and never closes them. */
async function main(path: string): Promise<void> {
  const flags = await openFlags({ storage: sqliteStorage(path), pollInterval: 10, usage: { interval: 10 } });
  const place = { project: 'default', flag: 'checkout', environment: 'production' };
  await flags.createFlag(place, { name: 'checkout' });
  await flags.addStrategy(place, { name: 'default' });
  await flags.enable(place);
  await flags.refresh();
  process.stdout.write(`${flags.isEnabled('checkout')} ${flags.status().state}`);
}

void main(process.argv[2] ?? '');
