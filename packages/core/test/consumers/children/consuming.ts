import { appendFileSync } from 'node:fs';
import { openFlags } from '../../../src/index.js';
import { sqliteStorage } from '../../../src/sqlite.js';

/** Consumes every event of a file into a log beside it, and tells each delivery. Never ends by itself. */
async function main(path: string): Promise<void> {
  const flags = await openFlags({ storage: sqliteStorage(path), pollInterval: 50, usage: { interval: 0 } });
  await flags.consume(
    'audit',
    async (events) => {
      for (const { position, changeSet } of events) {
        appendFileSync(`${path}.delivered`, `${position} ${changeSet} ${process.pid}\n`);
      }
      process.send?.('delivered');
      // Between the delivery and the cursor: here the parent kills.
      await new Promise((resolve) => setTimeout(resolve, 20));
    },
    { from: 'beginning', lease: 1000 },
  );
  process.send?.('ready');
  // A consumer does not keep its process alive; this channel does.
  process.on('message', () => undefined);
}

void main(process.argv[2] ?? '');
