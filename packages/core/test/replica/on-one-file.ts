import { type Flags, type FlagsOptions, openFlags } from '../../src/index.js';
import { sqliteStorage } from '../../src/sqlite.js';
import { temporaryDirectory } from '../storage/temporary-directory.js';

/** Opens instances on one new SQLite file; all are closed, and the file removed, after each test. */
export function openOnOneFile(): (options?: Omit<FlagsOptions, 'storage'>) => Promise<Flags> {
  const running: Flags[] = [];
  let directory: ReturnType<typeof temporaryDirectory>;

  beforeEach(() => {
    directory = temporaryDirectory();
  });

  afterEach(async () => {
    await Promise.all(running.splice(0).map((flags) => flags.close()));
    directory.remove();
  });

  return async (options = {}) => {
    const flags = await openFlags({ ...options, storage: sqliteStorage(`${directory.path}/flags.db`) });
    running.push(flags);
    return flags;
  };
}
