import { extent } from '../../../test/extent.js';
import { type Flags, type FlagsOptions, openFlags } from '../src/index.js';
import { memoryUsage } from '../src/storage/memory/usage.js';
import type { FlagsStorage } from '../src/storage/port.js';
import { usageOf } from '../src/storage/usage/port.js';
import { type OpenStorage, STORAGES } from './storage-kinds.js';

export type Start = (options?: Omit<FlagsOptions, 'storage'>) => Promise<Flags<string>>;

/** The short form runs rules in memory, and on SQLite those of storage/sqlite/rules.test.ts. */
export const KINDS = extent({ short: STORAGES.slice(0, 1), full: STORAGES });

/**
 * Runs the same rules on every storage; `start` returns an engine on an empty one, closed after the test. `share` opens
 * an empty storage, and returns a `start` whose engines are all on that one, as the nodes of a service are.
 */
export function onEveryStorage(rules: (start: Start, share: () => Promise<Start>) => void): void {
  describe.each(KINDS)('on $name', ({ open }) => {
    const running: Flags<string>[] = [];
    const opened: OpenStorage[] = [];

    afterEach(async () => {
      await Promise.all(running.splice(0).map((flags) => flags.close()));
      await Promise.all(opened.splice(0).map(({ dispose }) => dispose()));
    });

    async function openStorage(): Promise<FlagsStorage> {
      const { storage, dispose } = await open(`rule_${opened.length}`);
      opened.push({ storage, dispose });
      return storage;
    }

    async function startOn(storage: FlagsStorage, options: Parameters<Start>[0] = {}): Promise<Flags<string>> {
      const flags = await openFlags({ ...options, storage });
      running.push(flags);
      return flags;
    }

    rules(
      async (options) => startOn(await openStorage(), options),
      async () => {
        const storage = await openStorage();
        const usage = usageOf(storage) ?? memoryUsage();
        const close = async () => undefined;
        return (options) => startOn({ ...storage, close, usage: { ...usage, close } }, options);
      },
    );
  });
}
