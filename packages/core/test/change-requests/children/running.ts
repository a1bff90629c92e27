import { openFlags } from '../../../src/index.js';
import { sqliteStorage } from '../../../src/sqlite.js';

/** Applies the change requests of a file, by a clock that is some milliseconds ahead. Never ends by itself. */
async function main(given: string): Promise<void> {
  const { database, ahead } = JSON.parse(given) as { readonly database: string; readonly ahead: number };
  await openFlags({
    storage: sqliteStorage(database),
    usage: { interval: 0 },
    now: () => new Date(Date.now() + ahead),
    due: { run: true },
    onError: () => undefined,
  });
  process.send?.('ready');
  // A runner does not keep its process alive; this channel does.
  process.on('message', () => undefined);
  process.on('disconnect', () => process.exit());
}

void main(process.argv[2] ?? '');
