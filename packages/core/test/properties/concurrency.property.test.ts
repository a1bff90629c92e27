import fc from 'fast-check';
import { extent } from '../../../../test/extent.js';
import { isFlagsError } from '../../src/index.js';
import { PROPERTY_STORAGES } from '../storage-kinds.js';
import { engineOn } from './engine-under-test.js';
import { expectInvariants } from './invariants.js';
import { carryOut, operations } from './random-operations.js';

jest.setTimeout(extent({ short: 120_000, full: 900_000 }));

describe.each(PROPERTY_STORAGES)('operations at the same time, on $name', ({ open }) => {
  it('keep every rule, and can be replayed from their events', async () => {
    await fc.assert(
      fc.asyncProperty(operations, fc.integer({ min: 2, max: 20 }), async (sequence, width) => {
        const { storage, dispose } = await open();
        const flags = await engineOn(storage);
        for (let start = 0; start < sequence.length; start += width) {
          const together = sequence.slice(start, start + width).map((operation) => carryOut(flags, operation));
          for (const outcome of await Promise.allSettled(together)) {
            if (outcome.status === 'rejected' && !isFlagsError(outcome.reason)) throw outcome.reason;
          }
        }
        await expectInvariants(storage);
        await dispose();
      }),
      { numRuns: extent({ short: 8, full: 60 }) },
    );
  });

  it('keep every rule when two instances share the storage', async () => {
    await fc.assert(
      fc.asyncProperty(operations, async (sequence) => {
        const { storage, dispose } = await open();
        const instances = [await engineOn(storage), await engineOn(storage)] as const;
        const together = sequence.map((operation, index) => carryOut(instances[index % 2 === 0 ? 0 : 1], operation));
        for (const outcome of await Promise.allSettled(together)) {
          if (outcome.status === 'rejected' && !isFlagsError(outcome.reason)) throw outcome.reason;
        }
        await expectInvariants(storage);
        await dispose();
      }),
      { numRuns: extent({ short: 5, full: 30 }) },
    );
  });
});
