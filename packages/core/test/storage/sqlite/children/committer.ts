import { isFlagsError } from '../../../../src/base/errors.js';
import { sqliteStorage } from '../../../../src/storage/sqlite/storage.js';
import { creation } from '../../samples.js';

/** The outcome of a commit: the code of its error, or undefined if it was acknowledged. */
export interface Outcome {
  readonly id: string;
  readonly code?: string;
}

/** Creates the flags of each message in concurrent commits, and sends their outcomes. */
async function commitOnDemand(path: string): Promise<void> {
  const storage = await sqliteStorage(path);
  const create = async (id: string): Promise<Outcome> => {
    try {
      await storage.commit(creation(id));
      return { id };
    } catch (error) {
      return { id, code: isFlagsError(error) ? error.code : String(error) };
    }
  };
  process.on('message', async (ids: readonly string[]) => process.send?.(await Promise.all(ids.map(create))));
  process.send?.('ready');
}

void commitOnDemand(process.argv[2] ?? '');
