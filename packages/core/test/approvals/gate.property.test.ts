import fc from 'fast-check';
import { extent } from '../../../../test/extent.js';
import { type Flags, isFlagsError } from '../../src/index.js';
import { engineOn } from '../invariants/engine-under-test.js';
import { carryOut, type Operation } from '../invariants/random-operations.js';
import { PROPERTY_STORAGES } from '../storage-kinds.js';

jest.setTimeout(extent({ short: 120_000, full: 1_800_000 }));

const PROTECTED = { environment: 'development' };
const NAMES = ['a', 'b', 'c', '__proto__'];
const CONTEXTS = Array.from({ length: extent({ short: 20, full: 1000 }) }, (_, at) => ({ userId: `${at}` }));

const name = fc.constantFrom(...NAMES);
const flagRef = name.map((flag) => ({ project: 'default', flag }));
const place = name.map((flag) => ({ project: 'default', flag, ...PROTECTED }));
const nth = fc.tuple(place, fc.nat({ max: 1 })).map(([ref, at]) => ({ ...ref, nth: at }));
const constraints = fc
  .uniqueArray(fc.constantFrom('1', '2', '3', '7'), { minLength: 1, maxLength: 2 })
  .map((values) => [{ contextName: 'userId', operator: 'IN', values }]);
const variants = fc
  .uniqueArray(fc.constantFrom('red', 'blue', 'green'), { minLength: 1, maxLength: 3 })
  .map((names) => names.map((one) => ({ name: one, weight: 1, weightType: 'variable', stickiness: 'userId' })));
const strategy = fc.oneof(
  fc.constant({ name: 'default' }),
  fc.record({ name: fc.constant('default'), constraints }),
  fc.record({ name: fc.constant('default'), segments: fc.constantFrom([1], [2], [1, 2]) }),
  fc.record({ name: fc.constant('default'), disabled: fc.boolean() }),
  fc.record({
    name: fc.constant('flexibleRollout'),
    parameters: fc.constantFrom('0', '20', '60', '100').map((rollout) => ({ rollout, stickiness: 'userId' })),
  }),
);
const configuration = fc.record({ enabled: fc.boolean(), strategies: fc.array(strategy, { maxLength: 2 }) });
const dependency = fc.record({ flag: name, enabled: fc.boolean() });
const segment = fc.constantFrom({ segment: 1 }, { segment: 2 });
const move = fc.constantFrom('default', 'p').map((project) => ({ project }));

function calls(weight: number, call: keyof Flags, ...input: readonly fc.Arbitrary<unknown>[]) {
  return { weight, arbitrary: fc.tuple(...input).map((given): Operation => ({ call, input: given })) };
}

/** Changes that clients of the protected environment often see, and that are often valid. */
const change = fc.oneof(
  calls(6, 'enable', place),
  calls(1, 'disable', place),
  calls(4, 'addStrategy', place, strategy),
  calls(3, 'updateStrategy', nth, strategy),
  calls(2, 'removeStrategy', nth),
  calls(3, 'configureEnvironment', place, configuration),
  calls(3, 'setVariants', flagRef, variants),
  calls(4, 'addDependency', flagRef, dependency),
  calls(
    2,
    'removeDependency',
    flagRef,
    name.map((flag) => ({ flag })),
  ),
  calls(2, 'updateSegment', segment, fc.record({ name: fc.constant('s'), constraints })),
  calls(1, 'archiveFlag', flagRef),
  calls(
    3,
    'reviveFlag',
    name.map((flag) => ({ flag })),
  ),
  calls(
    1,
    'deleteFlag',
    name.map((flag) => ({ flag })),
  ),
  calls(
    2,
    'createFlag',
    fc.constant({ project: 'default' }),
    name.map((one) => ({ name: one })),
  ),
  calls(
    1,
    'cloneFlag',
    flagRef,
    name.map((one) => ({ name: one })),
  ),
  calls(1, 'moveFlag', flagRef, move),
  calls(1, 'updateFlag', flagRef, fc.record({ description: fc.constantFrom('x', 'y'), stale: fc.boolean() })),
);

/** A change without approval, or one that bypasses it, so that flags that went off are on again. */
const step = fc.record({ operation: change, bypasses: fc.boolean() });

async function furnish(flags: Flags): Promise<void> {
  await flags.createProject({ id: 'p', name: 'P' });
  for (const one of ['s', 't']) await flags.createSegment({ name: one, constraints: [] });
  for (const flag of NAMES) {
    await flags.createFlag({ project: 'default' }, { name: flag });
    await flags.addStrategy({ project: 'default', flag, ...PROTECTED }, { name: 'default' });
    await flags.enable({ project: 'default', flag, ...PROTECTED });
  }
}

/** What the clients of the protected environment get: absent flags answer with the fallback. */
function answersOf(flags: Flags): readonly { readonly enabled: boolean; readonly answer: string }[] {
  return NAMES.flatMap((name) =>
    CONTEXTS.map((context) => {
      const enabled = flags.isEnabled(name, context, { ...PROTECTED, fallback: true });
      return { enabled, answer: JSON.stringify([name, enabled, flags.getVariant(name, context, PROTECTED)]) };
    }),
  );
}

/** The flags of each project. */
function presentIn(flags: Flags): readonly string[] {
  return flags.configuration(PROTECTED).flags.map(({ name, project }) => `${project} ${name}`);
}

/** Some operations are an undo of the newest change set, or an import of a changed export. */
async function attempt(flags: Flags, { call, input }: Operation, at: number): Promise<void> {
  const { items } = await flags.listHistory({}, { limit: 1 });
  const changeSet = items[0]?.id;
  if (at % 8 === 2 && changeSet) await flags.undoChangeSet({ changeSet });
  else if (at % 8 === 5) {
    const definitions = await flags.exportDefinitions();
    const changed = definitions.flags?.map((flag, index) => ({ ...flag, archived: (index + at) % 4 === 0 }));
    await flags.importDefinitions({ ...definitions, ...(changed && { flags: changed }) });
  } else await carryOut(flags, { call, input });
}

/** Adds a bypass as the last argument: the context of the change. */
function withBypass({ call, input }: Operation): Operation {
  return { call, input: [...input, { bypassApproval: 'test' }] };
}

describe.each(PROPERTY_STORAGES)('a policy on $name', ({ open }) => {
  it('lets no sequence of changes without approval change an answer to anything but off', async () => {
    const outcomes = { free: 0, refused: 0 };
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 50 }), async (steps) => {
        const { storage, dispose } = await open();
        const flags = await engineOn(storage);
        await furnish(flags);
        await flags.setApprovalPolicy({ environments: { development: { required: 1 } } });
        for (const [at, { operation, bypasses }] of steps.entries()) {
          if (bypasses) {
            await carryOut(flags, withBypass(operation)).catch(ignoreRefusal);
            continue;
          }
          const [before, present] = [answersOf(flags), presentIn(flags)];
          const code = await attempt(flags, operation, at).then(() => undefined, ignoreRefusal);
          if (code === 'approval_required') outcomes.refused += 1;
          if (code === undefined) outcomes.free += 1;
          const wrong = answersOf(flags).filter(
            ({ enabled, answer }, index) => enabled && answer !== before[index]?.answer,
          );
          expect([at, operation, wrong]).toEqual([at, operation, []]);
          expect([at, operation, presentIn(flags)]).toEqual([at, operation, expect.arrayContaining([...present])]);
        }
        await flags.close();
        await dispose();
      }),
      { numRuns: extent({ short: 15, full: 400 }) },
    );
    expect(outcomes.free).toBeGreaterThan(0);
    expect(outcomes.refused).toBeGreaterThan(0);
  });
});

function ignoreRefusal(error: unknown): string {
  if (!isFlagsError(error)) throw error;
  return error.code;
}
