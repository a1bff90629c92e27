import { createFlags, type Flags, isFlagsError } from '../../../src/index.js';
import { sqliteStorage } from '../../../src/sqlite.js';
import { LIFE } from '../flag-life.js';

/** Leads flags through their lives on five lines at once until it is killed, and tells what became of each change. */
async function write(path: string): Promise<void> {
  const flags = await createFlags({ storage: sqliteStorage(path), pollInterval: 0, usageInterval: 0 });
  const line = async (name: string) => {
    for (let number = 0; ; number++) await live(flags, `${process.pid}-${name}-${number}`);
  };
  await Promise.all(['a', 'b', 'c', 'd', 'e'].map(line));
}

/** Until a change fails: another one of the same flag would need it. */
async function live(flags: Flags, flag: string): Promise<void> {
  for (const [event, change] of LIFE) {
    try {
      await change(flags, flag);
    } catch (error) {
      process.send?.([`${flag} ${event}`, isFlagsError(error) ? error.code : String(error)]);
      return;
    }
    process.send?.([`${flag} ${event}`, 'done']);
  }
}

void write(process.argv[2] ?? '');
