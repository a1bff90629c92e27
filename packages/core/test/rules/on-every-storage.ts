import { createFlags, type Flags, type FlagsOptions } from '../../src/index.js';
import { type OpenStorage, STORAGES } from '../storage-kinds.js';

export type Start = (options?: Omit<FlagsOptions, 'storage'>) => Promise<Flags>;

/** Runs the same rules on every storage; `start` gives an engine on an empty one, closed after the test. */
export function onEveryStorage(rules: (start: Start) => void): void {
  describe.each(STORAGES)('on $name', ({ open }) => {
    const running: Flags[] = [];
    const opened: OpenStorage[] = [];

    afterEach(async () => {
      await Promise.all(running.splice(0).map((flags) => flags.close()));
      await Promise.all(opened.splice(0).map(({ dispose }) => dispose()));
    });

    rules(async (options = {}) => {
      const { storage, dispose } = await open(`rule_${opened.length}`);
      opened.push({ storage, dispose });
      const flags = await createFlags({ ...options, storage });
      running.push(flags);
      return flags;
    });
  });
}
