import { type Flags, type FlagsOptions, isFlagsError } from '../../src/index.js';
import { openFlags } from '../../src/open-flags.js';
import type { FlagsStorage } from '../../src/storage/port.js';
import { carryOut, type Operation } from './random-operations.js';
import { type Content, contentOf } from './stored-content.js';

/** An engine with its own clock and ids, so that two engines with the same inputs have the same results. */
export async function engineOn(
  storage: FlagsStorage,
  options: Pick<FlagsOptions, 'due' | 'onProblem'> = {},
): Promise<Flags> {
  let time = Date.UTC(2026, 0, 1);
  let ids = 0;
  return openFlags({
    storage,
    environments: [{ name: 'development' }, { name: 'constructor' }],
    now: () => new Date(time++),
    newId: () => `id-${ids++}`,
    pollInterval: 0,
    due: { run: 'elsewhere' },
    ...options,
  });
}

export interface Outcome {
  readonly result?: unknown;
  readonly refused?: { readonly code: string; readonly details: unknown };
}

/** The content after the latest operation, if that was refused: it is the content before the next one. */
const contents = new WeakMap<FlagsStorage, Content>();

/** The outcome of an operation. A refusal must have changed nothing; any error except a FlagsError fails the test. */
export async function outcomeOf(flags: Flags, storage: FlagsStorage, operation: Operation): Promise<Outcome> {
  const before = contents.get(storage) ?? (await contentOf(storage));
  contents.delete(storage);
  try {
    return { result: await carryOut(flags, operation) };
  } catch (error) {
    if (!isFlagsError(error)) throw error;
    const after = await contentOf(storage);
    expect(after).toEqual(before);
    contents.set(storage, after);
    return { refused: { code: error.code, details: error.details } };
  }
}
