import { openFlags } from '@flags/core';
import { postgresStorage } from '../../../src/index.js';

/** Does what is due in a database, by a clock that is some milliseconds ahead. */
async function run(given: string): Promise<void> {
  const { url, ahead } = JSON.parse(given) as { readonly url: string; readonly ahead: number };
  await openFlags({
    storage: postgresStorage(url),
    usage: { interval: 0 },
    now: () => new Date(Date.now() + ahead),
    due: { run: true },
    onError: () => undefined,
  });
  process.on('disconnect', () => process.exit());
  process.send?.('ready');
}

void run(process.argv[2] ?? '');
