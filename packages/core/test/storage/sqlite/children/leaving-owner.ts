import { isFlagsError } from '../../../../src/base/errors.js';
import type { Member } from '../../../../src/index.js';
import { openFlags } from '../../../../src/open-flags.js';
import { sqliteStorage } from '../../../../src/storage/sqlite/storage.js';

/** Answers for every member with `left`, or with the code of the refusal. */
async function leave(path: string): Promise<void> {
  const flags = await openFlags({ storage: sqliteStorage({ path, busyTimeout: 60_000 }), pollInterval: 0 });
  process.on('message', async (member: Member) => {
    try {
      await flags.removeMember({ project: 'default' }, member);
      process.send?.('left');
    } catch (error) {
      if (!isFlagsError(error)) throw error;
      process.send?.(error.code);
    }
  });
  process.send?.('ready');
}

void leave(process.argv[2] ?? '');
