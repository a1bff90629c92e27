import { sqliteStorage } from '../../../../src/storage/sqlite/storage.js';
import { flag, newEvent, put } from '../../samples.js';

/** A round: the revisions of the two owners, and the owner that this process tries to remove. */
export interface Round {
  readonly revisions: readonly [number, number];
  readonly leaving: 0 | 1;
}

const OWNERS = ['ada', 'grace'] as const;

/** Answers every round with whether this process's commit won. */
async function contend(path: string): Promise<void> {
  const storage = await sqliteStorage({ path, busyTimeout: 60_000 });
  process.on('message', async ({ revisions, leaving }: Round) => {
    const staying = leaving === 0 ? 1 : 0;
    const result = await storage.commit({
      writes: [put(OWNERS[leaving], revisions[leaving])],
      checks: [{ key: flag(OWNERS[staying]), expected: revisions[staying] }],
      events: [newEvent(OWNERS[leaving])],
    });
    process.send?.(result.ok);
  });
  process.send?.('ready');
}

void contend(process.argv[2] ?? '');
