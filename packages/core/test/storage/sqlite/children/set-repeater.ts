import type { Change } from '../../../../src/index.js';
import { openFlags } from '../../../../src/open-flags.js';
import { sqliteStorage } from '../../../../src/storage/sqlite/storage.js';

/** A change set that the parent wants applied. */
export interface Order {
  readonly id: string;
  readonly changes: readonly Change[];
  /** Whether to stop after the commit, before its answer. */
  readonly holdAnswer: boolean;
}

/** Applies the sets that it is sent. Says `begun` before, and `committed` where it holds the answer. */
async function repeat(path: string): Promise<void> {
  const storage = await sqliteStorage({ path, busyTimeout: 60_000 });
  let isHeld = false;
  const flags = await openFlags({
    pollInterval: 0,
    usage: { interval: 0 },
    storage: {
      ...storage,
      async commit(commit) {
        const result = await storage.commit(commit);
        if (!isHeld) return result;
        process.send?.('committed');
        return new Promise(() => undefined);
      },
    },
  });
  process.on('message', async ({ id, changes, holdAnswer }: Order) => {
    isHeld = holdAnswer;
    process.send?.('begun');
    await flags.apply(changes, { id });
  });
  process.send?.('ready');
}

void repeat(process.argv[2] ?? '');
