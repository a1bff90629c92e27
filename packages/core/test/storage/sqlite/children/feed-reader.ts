import { openFlags } from '../../../../src/index.js';
import { sqliteStorage } from '../../../../src/sqlite.js';

/** Listens to every event except the first, and reports their number after the last one. */
async function listen(path: string): Promise<void> {
  const storage = await sqliteStorage(path);
  const { events } = await storage.events({ order: 'newest-first', limit: 1 });
  const flags = await openFlags({ storage, pollInterval: 0, usage: { interval: 0 } });
  let heard = 0;
  flags.subscribe(
    ({ position }) => {
      heard += 1;
      if (position === events[0]?.position) process.send?.(heard);
    },
    { after: '1' },
  );
}

void listen(process.argv[2] ?? '');
