import fc from 'fast-check';
import { extent } from '../../../../test/extent.js';
import { memoryStorage } from '../../src/storage/memory/storage.js';
import { engineOn, outcomeOf } from './engine-under-test.js';
import { expectInvariants } from './invariants.js';
import { operations } from './random-operations.js';

jest.setTimeout(extent({ short: 120_000, full: 900_000 }));

describe('any sequence of operations', () => {
  it('keeps every rule, can be replayed from its events, and fails without a trace', async () => {
    await fc.assert(
      fc.asyncProperty(operations, async (sequence) => {
        const storage = memoryStorage();
        const flags = await engineOn(storage);
        for (const one of sequence) await outcomeOf(flags, storage, one);
        await expectInvariants(storage);
      }),
      { numRuns: extent({ short: 15, full: 400 }) },
    );
  });
});
