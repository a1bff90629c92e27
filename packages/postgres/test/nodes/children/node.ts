import { type Flags, isFlagsError, openFlags } from '@flags/core';
import { postgresStorage } from '../../../src/index.js';

/** A call of the public interface. */
export interface Call {
  readonly call: keyof Flags;
  readonly input: readonly unknown[];
}

/** A node that answers every call with `done`, or with the error's code. */
async function run(url: string): Promise<void> {
  const flags = await openFlags({ storage: postgresStorage(url), usage: { interval: 0 } });
  process.on('message', async ({ call, input }: Call) => {
    process.send?.(await outcomeOf(flags, { call, input }));
  });
  process.send?.('ready');
}

async function outcomeOf(flags: Flags, { call, input }: Call): Promise<string> {
  try {
    await Reflect.apply(flags[call] as (...input: readonly unknown[]) => Promise<unknown>, flags, input);
    return 'done';
  } catch (error) {
    return isFlagsError(error) ? error.code : String(error);
  }
}

void run(process.argv[2] ?? '');
