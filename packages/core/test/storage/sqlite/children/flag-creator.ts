import Database from 'better-sqlite3';
import { isFlagsError, openFlags } from '../../../../src/index.js';
import { sqliteStorage } from '../../../../src/sqlite.js';

/** The outcome of creating a flag: `created`, or the code of the error. */
export type Outcomes = Readonly<Record<string, string>>;

const SILENT = { pollInterval: 0, usage: { interval: 0 } };

/** Creates the named flags at once, and answers with the outcome of each. */
async function create(path: string, journal: string): Promise<void> {
  const database = new Database(path);
  database.pragma(`journal_mode = ${journal}`);
  database.pragma('synchronous = FULL');
  // A checkpoint follows every commit, so that every commit restarts the log and first flushes its header.
  database.pragma('wal_autocheckpoint = 1');
  const flags = await openFlags({ ...SILENT, storage: sqliteStorage({ database }) });
  const outcomeOf = async (name: string) => {
    try {
      await flags.createFlag({ project: 'default' }, { name });
      return [name, 'created'];
    } catch (error) {
      if (!isFlagsError(error)) throw error;
      return [name, error.code];
    }
  };
  process.on('message', async (names: readonly string[]) => {
    process.send?.(Object.fromEntries(await Promise.all(names.map(outcomeOf))));
  });
  process.send?.('ready');
}

void create(process.argv[2] ?? '', process.argv[3] ?? '');
