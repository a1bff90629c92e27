import fc from 'fast-check';
import type { StorageKind } from '../storage-kinds.js';
import { engineOn, type Outcome, outcomeOf } from './engine-under-test.js';
import { type Operation, operations } from './random-operations.js';
import { type Content, contentOf } from './stored-content.js';

interface Run {
  readonly outcomes: readonly Outcome[];
  readonly content: Content;
}

/** Expects that each random sequence has the same results, refusals, documents and events on all storages. */
export async function expectSameOutcomes(storages: readonly StorageKind[], numRuns: number): Promise<void> {
  await fc.assert(
    fc.asyncProperty(operations, async (sequence) => {
      const [first, ...others] = await Promise.all(storages.map(({ open }) => run(open, sequence)));
      for (const other of others) expect(other).toEqual(first);
    }),
    { numRuns },
  );
}

async function run(open: StorageKind['open'], sequence: readonly Operation[]): Promise<Run> {
  const { storage, dispose } = await open();
  try {
    const flags = await engineOn(storage);
    const outcomes: Outcome[] = [];
    for (const operation of sequence) outcomes.push(withoutSetId(await outcomeOf(flags, storage, operation)));
    return { outcomes, content: await contentOf(storage) };
  } finally {
    await dispose();
  }
}

/** Every import draws an id of its own for its change set. */
function withoutSetId({ result, ...rest }: Outcome): Outcome {
  if (!Object.hasOwn(Object(result), 'changeSet')) return { result, ...rest };
  return { result: { ...Object(result), changeSet: null }, ...rest };
}
