import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFlags, type Flags, type FlagsOptions } from '../../src/index.js';
import { STORAGES } from './rule-storages.js';

export type Start = (options?: Omit<FlagsOptions, 'storage'>) => Promise<Flags>;

/** Runs the same rules on every storage; `start` gives an engine on an empty one, closed after the test. */
export function onEveryStorage(rules: (start: Start) => void): void {
  describe.each(STORAGES)('on $name', ({ open }) => {
    const running: Flags[] = [];
    let directory: string;

    beforeEach(async () => {
      directory = await mkdtemp(join(tmpdir(), 'flags-rules-'));
    });

    afterEach(async () => {
      await Promise.all(running.splice(0).map((flags) => flags.close()));
      await rm(directory, { recursive: true, force: true });
    });

    rules(async (options = {}) => {
      const flags = await createFlags({ ...options, storage: open(join(directory, `${running.length}.db`)) });
      running.push(flags);
      return flags;
    });
  });
}
