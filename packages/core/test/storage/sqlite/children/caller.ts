import { isFlagsError } from '../../../../src/base/errors.js';
import type { Flags } from '../../../../src/index.js';
import { openFlags } from '../../../../src/open-flags.js';
import { sqliteStorage } from '../../../../src/storage/sqlite/storage.js';

/** A call of an operation, as data. */
export interface Call {
  readonly call: keyof Flags;
  readonly input: readonly unknown[];
}

/** Answers every call with `done`, or with the code of the refusal. */
async function answer(path: string): Promise<void> {
  const flags = await openFlags({ storage: sqliteStorage({ path, busyTimeout: 60_000 }), pollInterval: 0 });
  process.on('message', async ({ call, input }: Call) => {
    try {
      await Reflect.apply(flags[call] as (...input: readonly unknown[]) => Promise<unknown>, flags, input);
      process.send?.('done');
    } catch (error) {
      if (!isFlagsError(error)) throw error;
      process.send?.(error.code);
    }
  });
  process.send?.('ready');
}

void answer(process.argv[2] ?? '');
