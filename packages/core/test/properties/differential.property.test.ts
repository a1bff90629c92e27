import fc from 'fast-check';
import { engineOn, type Outcome, outcomeOf } from './engine-under-test.js';
import { type Operation, operations } from './random-operations.js';
import { STORAGES } from './storages.js';
import { type Content, contentOf } from './stored-content.js';

jest.setTimeout(120_000);

interface Run {
  readonly outcomes: readonly Outcome[];
  readonly content: Content;
}

describe('the same operations', () => {
  it('come to the same on every storage: results, refusals, documents and events', async () => {
    await fc.assert(
      fc.asyncProperty(operations, async (sequence) => {
        const [first, ...others] = await Promise.all(STORAGES.map(({ open }) => run(open, sequence)));
        for (const other of others) expect(other).toEqual(first);
      }),
      { numRuns: 20 },
    );
  });
});

async function run(open: (typeof STORAGES)[number]['open'], sequence: readonly Operation[]): Promise<Run> {
  const { storage, dispose } = await open();
  try {
    const flags = await engineOn(storage);
    const outcomes: Outcome[] = [];
    for (const operation of sequence) outcomes.push(await outcomeOf(flags, storage, operation));
    return { outcomes, content: await contentOf(storage) };
  } finally {
    await dispose();
  }
}
