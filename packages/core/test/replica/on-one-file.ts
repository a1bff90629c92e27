import { type Flags, type FlagsOptions, openFlags } from '../../src/index.js';
import { temporaryDirectory } from '../storage/temporary-directory.js';
import { openWithoutFlushing } from '../storage-kinds.js';

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
    const storage = await openWithoutFlushing(`${directory.path}/flags.db`);
    const flags = await openFlags({ ...options, storage });
    running.push(flags);
    return flags;
  };
}
