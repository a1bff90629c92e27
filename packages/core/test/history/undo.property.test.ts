import fc from 'fast-check';
import { extent } from '../../../../test/extent.js';
import type { Flags } from '../../src/index.js';
import { memoryStorage } from '../../src/storage/memory/storage.js';
import { engineOn } from '../properties/engine-under-test.js';
import { carryOut, operations } from '../properties/random-operations.js';
import { contentOf, expectConsistent } from './shown-content.js';

jest.setTimeout(extent({ short: 120_000, full: 900_000 }));

/** The newest change set that is not about API tokens alone. */
async function newestSet(flags: Flags): Promise<string | null | undefined> {
  const [newest] = (await flags.history({}, { limit: 1 })).items;
  const isUndoable = newest?.events.some(({ type }) => !type.startsWith('token-'));
  return isUndoable ? newest?.id : undefined;
}

describe('undo in any history', () => {
  it('gives the documents before, and undoing it those after', async () => {
    await fc.assert(
      fc.asyncProperty(operations, async (sequence) => {
        const storage = memoryStorage();
        const flags = await engineOn(storage);
        for (const one of sequence) {
          const [before, known] = [await contentOf(flags), await newestSet(flags)];
          await carryOut(flags, one).catch(() => undefined);
          const id = await newestSet(flags);
          if (!id || id === known) continue;
          const after = await contentOf(flags);
          const undone = await flags.undo(id);
          expect(await contentOf(flags)).toEqual(before);
          await flags.undo(`${undone.id}`);
          expect(await contentOf(flags)).toEqual(after);
        }
        await expectConsistent(storage);
        await flags.close();
      }),
      { numRuns: extent({ short: 5, full: 60 }) },
    );
  });

  it('keeps every rule, whichever set is undone', async () => {
    await fc.assert(
      fc.asyncProperty(operations, fc.array(fc.nat(), { minLength: 1, maxLength: 8 }), async (sequence, choices) => {
        const storage = memoryStorage();
        const flags = await engineOn(storage);
        for (const one of sequence) await carryOut(flags, one).catch(() => undefined);
        for (const choice of choices) {
          const { items } = await flags.history({});
          const before = await contentOf(flags);
          const { id } = items[choice % items.length] ?? {};
          await flags.undo(`${id}`).catch(async ({ code }) => {
            expect(CODES).toContain(code);
            expect(await contentOf(flags)).toEqual(before);
          });
        }
        await expectConsistent(storage);
        await flags.close();
      }),
      { numRuns: extent({ short: 15, full: 300 }) },
    );
  });
});

const CODES = [
  'undo_conflict',
  'flag_has_children',
  'segment_in_use',
  'project_not_empty',
  'project_protected',
  'last_owner',
  'dependency_too_deep',
  'dependency_cycle',
];
