import fc from 'fast-check';
import { extent } from '../../../../test/extent.js';
import { type Definitions, type Flags, isFlagsError } from '../../src/index.js';
import { memoryStorage } from '../../src/storage/memory/storage.js';
import { engineOn } from '../invariants/engine-under-test.js';
import { carryOut, type Operation } from '../invariants/random-operations.js';
import { expectConsistent } from '../log/shown-content.js';
import type { MethodName } from '../method-names.js';

jest.setTimeout(extent({ short: 120_000, full: 900_000 }));

/*
 * Whatever brings something back (a revival, an undo, an import) meets whatever removes what it refers to: parents,
 * segments, projects, names. The sequences have few names, so that they meet often.
 */

interface Undo {
  /** The number of the change set, counted from the newest one. */
  readonly undo: number;
}

const ENVIRONMENT = 'development';
const flag = fc.constantFrom('a', 'b', 'c');
const project = fc.constantFrom('default', 'default', 'p');
const flagRef = fc.record({ project, flag });
const segment = fc.constantFrom(1, 2);

function step(call: MethodName, ...input: readonly fc.Arbitrary<unknown>[]): fc.Arbitrary<Operation> {
  return fc.tuple(...input, fc.constant(undefined)).map((given) => ({ call, input: given }));
}

const defined = fc.record(
  {
    name: flag,
    project,
    archived: fc.boolean(),
    dependencies: fc.uniqueArray(fc.record({ flag }), { maxLength: 2, selector: (one) => one.flag }),
  },
  { requiredKeys: ['name', 'archived'] },
);
const definitions = fc.record({
  version: fc.constant(1),
  flags: fc.uniqueArray(defined, { minLength: 1, maxLength: 3, selector: ({ name }) => name }),
});

const steps: fc.Arbitrary<readonly (Operation | Undo)[]> = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ undo: fc.nat({ max: 6 }) }) },
    { weight: 3, arbitrary: step('createFlag', fc.record({ project }), fc.record({ name: flag })) },
    { weight: 4, arbitrary: step('addDependency', flagRef, fc.record({ flag })) },
    { weight: 1, arbitrary: step('removeDependencies', flagRef) },
    { weight: 5, arbitrary: step('archiveFlag', flagRef) },
    { weight: 4, arbitrary: step('reviveFlag', fc.record({ flag })) },
    { weight: 4, arbitrary: step('deleteFlag', fc.record({ flag })) },
    { weight: 2, arbitrary: step('moveFlag', flagRef, fc.record({ project })) },
    { weight: 1, arbitrary: step('cloneFlag', flagRef, fc.record({ name: flag })) },
    { weight: 1, arbitrary: step('createProject', fc.constant({ id: 'p', name: 'P' })) },
    { weight: 1, arbitrary: step('deleteProject', fc.constant({ project: 'p' })) },
    {
      weight: 2,
      arbitrary: step(
        'segments.create',
        fc.record(
          { name: fc.constantFrom('s', 't'), project, constraints: fc.constant([]) },
          { requiredKeys: ['name', 'constraints'] },
        ),
      ),
    },
    {
      weight: 1,
      arbitrary: step('segments.update', fc.record({ segment }), fc.record({ project: fc.constantFrom('p', null) })),
    },
    { weight: 2, arbitrary: step('segments.delete', fc.record({ segment })) },
    {
      weight: 2,
      arbitrary: step(
        'configureEnvironment',
        flagRef.map((ref) => ({ ...ref, environment: ENVIRONMENT })),
        segment.map((id) => ({ enabled: true, strategies: [{ name: 'default', segments: [id] }] })),
      ),
    },
    { weight: 3, arbitrary: step('definitions.import', definitions) },
  ),
  { minLength: 10, maxLength: 40 },
);

const BEGINNING: readonly Operation[] = [
  { call: 'createProject', input: [{ id: 'p', name: 'P' }, undefined] },
  ...['a', 'b', 'c'].map(
    (name): Operation => ({ call: 'createFlag', input: [{ project: 'default' }, { name }, undefined] }),
  ),
  { call: 'segments.create', input: [{ name: 's', constraints: [] }, undefined] },
  { call: 'addDependency', input: [{ project: 'default', flag: 'a' }, { flag: 'b' }, undefined] },
];

async function take(flags: Flags, one: Operation | Undo): Promise<boolean> {
  try {
    if ('undo' in one) await flags.history.undo({ changeSet: await newestSet(flags, one.undo) });
    else await carryOut(flags, one);
    return true;
  } catch (error) {
    if (!isFlagsError(error)) throw error;
    return false;
  }
}

async function newestSet(flags: Flags, number: number): Promise<string> {
  return (await flags.history.list({})).items[number]?.id ?? 'none';
}

/** The default project exists in every store, with its own creation time. */
function withoutTimes({ projects = [], ...rest }: Definitions) {
  return { ...rest, projects: projects.map((one) => (one.id === 'default' ? { ...one, createdAt: '' } : one)) };
}

it('brings back only what an export of the store restores, there and in a new store', async () => {
  const done = { revivals: 0, undos: 0, imports: 0 };
  await fc.assert(
    fc.asyncProperty(steps, async (sequence) => {
      const storage = memoryStorage();
      const flags = await engineOn(storage);
      for (const one of [...BEGINNING, ...sequence]) {
        if (!(await take(flags, one))) continue;
        if ('undo' in one) done.undos += 1;
        else if (one.call === 'reviveFlag') done.revivals += 1;
        else if (one.call === 'definitions.import') done.imports += 1;
      }
      const document: Definitions = JSON.parse(JSON.stringify(await flags.definitions.export()));
      expect(await flags.definitions.import(document)).toMatchObject({ changeSet: null, differences: [] });
      const copyStorage = memoryStorage();
      const copy = await engineOn(copyStorage);
      await copy.definitions.import(document);
      expect(withoutTimes(await copy.definitions.export())).toEqual(withoutTimes(document));
      await expectConsistent(storage);
      await expectConsistent(copyStorage);
      await Promise.all([flags.close(), copy.close()]);
    }),
    { numRuns: extent({ short: 60, full: 3_000 }) },
  );
  for (const count of Object.values(done)) expect(count).toBeGreaterThan(0);
});
