import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Awaitable } from '../../src/awaitable.js';
import { createFlags, type Flags, type FlagsOptions, memoryStorage } from '../../src/index.js';
import { sqliteStorage } from '../../src/sqlite.js';
import type { Storage } from '../../src/storage/port.js';

export type Start = (options?: Omit<FlagsOptions, 'storage'>) => Promise<Flags>;

interface StorageKind {
  readonly name: string;
  readonly open: (file: string) => Awaitable<Storage>;
}

const STORAGES: readonly StorageKind[] = [
  { name: 'memory', open: () => memoryStorage() },
  { name: 'SQLite', open: (file) => sqliteStorage(file) },
];

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
