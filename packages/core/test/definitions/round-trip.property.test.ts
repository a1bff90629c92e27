import fc from 'fast-check';
import { extent } from '../../../../test/extent.js';
import type { Definitions, Flags } from '../../src/index.js';
import { isFlagsError } from '../../src/index.js';
import { memoryStorage } from '../../src/storage/memory/storage.js';
import type { FlagsStorage } from '../../src/storage/port.js';
import { engineOn } from '../invariants/engine-under-test.js';
import { carryOut, operations } from '../invariants/random-operations.js';
import { expectConsistent } from '../log/shown-content.js';

jest.setTimeout(extent({ short: 120_000, full: 900_000 }));

async function furnished(sequence: readonly Parameters<typeof carryOut>[1][]) {
  const storage = memoryStorage();
  const flags = await engineOn(storage);
  for (const one of sequence) await carryOut(flags, one).catch(() => undefined);
  return { storage, flags };
}

/** Through JSON text, as in a file. */
async function exported(flags: Flags): Promise<Definitions> {
  return JSON.parse(JSON.stringify(await flags.definitions.export()));
}

/** The default project exists in every store, with its own creation time. */
function shown({ projects = [], ...rest }: Definitions) {
  return { ...rest, projects: projects.map((one) => (one.id === 'default' ? { ...one, createdAt: '' } : one)) };
}

/**
 * The stored form: an environment without configuration is in neither. A flag without dependencies is stored with
 * an empty list after it had some, and without a list otherwise.
 */
async function storedFlags(storage: FlagsStorage): Promise<readonly unknown[]> {
  const listed = await storage.list({ kind: 'flag', part: 'body' });
  return listed.map(({ key, content }) => ({ id: key.id, content: { dependencies: [], ...(content as object) } }));
}

describe('export and import of any store', () => {
  it('creates the same documents in an empty store', async () => {
    await fc.assert(
      fc.asyncProperty(operations, async (sequence) => {
        const { flags, storage: original } = await furnished(sequence);
        const document = await exported(flags);
        const storage = memoryStorage();
        const copy = await engineOn(storage);
        await copy.definitions.import(document);
        expect(shown(await exported(copy))).toEqual(shown(document));
        expect(await storedFlags(storage)).toEqual(await storedFlags(original));
        expect(await copy.definitions.import(document)).toMatchObject({ changeSet: null, differences: [] });
        await expectConsistent(storage);
        await Promise.all([flags.close(), copy.close()]);
      }),
      { numRuns: extent({ short: 15, full: 1000 }), seed: 15 },
    );
  });

  it('changes a used store to the document, or refuses and changes nothing', async () => {
    await fc.assert(
      fc.asyncProperty(operations, operations, async (sequence, other) => {
        const [{ flags }, { flags: used, storage }] = [await furnished(sequence), await furnished(other)];
        const document = await exported(flags);
        const before = await exported(used);
        const plan = await used.definitions.import(document, { dryRun: true, prune: true }).catch((error) => error);
        expect(await exported(used)).toEqual(before);
        const result = await used.definitions.import(document, { prune: true }).catch((error) => error);
        if (isFlagsError(result)) {
          expect(isFlagsError(plan) && plan.code).toBe(result.code);
          expect(await exported(used)).toEqual(before);
        } else {
          const names = (differences: readonly { kind: string; id: string }[]) =>
            differences.map(({ kind, id }) => [kind, id]);
          expect(names(result.differences)).toEqual(names(plan.differences));
          expect(await used.definitions.import(document, { prune: true })).toMatchObject({ changeSet: null });
          const live = ({ flags: all = [] }: Definitions) =>
            all.filter(({ archived }) => !archived).map(({ name }) => name);
          const named = new Set(document.projects?.map(({ id }) => id));
          const after = await exported(used);
          const kept = after.flags?.filter(({ project = '' }) => named.has(project)) ?? [];
          expect(live({ ...after, flags: kept })).toEqual(live(document));
        }
        await expectConsistent(storage);
        await Promise.all([flags.close(), used.close()]);
      }),
      { numRuns: extent({ short: 15, full: 600 }), seed: 16 },
    );
  });
});
