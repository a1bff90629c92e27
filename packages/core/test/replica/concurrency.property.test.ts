import fc from 'fast-check';
import { createFlags, type Flags, isFlagsError, memoryStorage } from '../../src/index.js';
import type { Storage } from '../../src/storage/port.js';
import { DEFAULT } from '../rules/references.js';
import { someConstraints, someStrategies, someVariants } from './any-flags.js';
import { SILENT } from './silent.js';

const NAMES = ['one', 'two', 'three', '__proto__'] as const;
const CONTEXTS = [{ userId: 'ada' }, { userId: 'bob', properties: { region: '7' } }] as const;

type Change = (flags: Flags) => Promise<unknown>;

const name = fc.constantFrom(...NAMES);
const environment = fc.constantFrom('production', 'development');
const place = fc.record({ ...{ project: fc.constant('default') }, flag: name, environment });

/** One operation on one of a few flags; many are refused, as when callers do not know of each other. */
const someChange: fc.Arbitrary<Change> = fc.oneof(
  name.map(
    (flag): Change =>
      (flags) =>
        flags.createFlag(DEFAULT, { name: flag }),
  ),
  fc.tuple(name, name).map(
    ([flag, copy]): Change =>
      (flags) =>
        flags.cloneFlag({ ...DEFAULT, flag }, { name: copy }),
  ),
  name.map(
    (flag): Change =>
      (flags) =>
        flags.archiveFlag({ ...DEFAULT, flag }),
  ),
  name.map(
    (flag): Change =>
      (flags) =>
        flags.reviveFlag({ flag }),
  ),
  name.map(
    (flag): Change =>
      (flags) =>
        flags.deleteFlag({ flag }),
  ),
  place.map(
    (ref): Change =>
      (flags) =>
        flags.enable(ref),
  ),
  place.map(
    (ref): Change =>
      (flags) =>
        flags.disable(ref),
  ),
  fc.tuple(place, someStrategies).map(
    ([ref, [strategy]]): Change =>
      async (flags) => {
        if (strategy) await flags.addStrategy(ref, strategy);
      },
  ),
  place.map(
    (ref): Change =>
      async (flags) => {
        const { environments } = await flags.getFlag(ref);
        const [strategy] = environments.find((one) => one.name === ref.environment)?.strategies ?? [];
        if (strategy) await flags.removeStrategy({ ...ref, strategy: strategy.id });
      },
  ),
  fc.tuple(name, someVariants).map(
    ([flag, variants]): Change =>
      (flags) =>
        flags.setVariants({ ...DEFAULT, flag }, variants),
  ),
  fc.tuple(name, name).map(
    ([flag, parent]): Change =>
      (flags) =>
        flags.addDependency({ ...DEFAULT, flag }, { flag: parent }),
  ),
  name.map(
    (flag): Change =>
      (flags) =>
        flags.removeDependencies({ ...DEFAULT, flag }),
  ),
  fc.constantFrom('a', 'b').map(
    (segment): Change =>
      (flags) =>
        flags.createSegment({ name: segment, constraints: [] }),
  ),
  someConstraints.map(
    (constraints): Change =>
      (flags) =>
        flags.updateSegment({ segment: 1 }, { constraints }),
  ),
  fc.constantFrom(1, 2).map(
    (segment): Change =>
      (flags) =>
        flags.deleteSegment({ segment }),
  ),
  fc.constant<Change>((flags) => flags.refresh()),
);

/** Refusals by rule are part of the game; any other failure is not. */
async function attempt(flags: Flags, change: Change): Promise<void> {
  try {
    await change(flags);
  } catch (error) {
    if (!isFlagsError(error)) throw error;
  }
}

/** All that an instance evaluates by, and what it comes to. */
function answersOf(flags: Flags) {
  return ['production', 'development'].map((where) => {
    const choice = { environment: where };
    const { flags: definitions, segments } = flags.configuration(choice);
    const answers = CONTEXTS.map((context) => flags.forContext(context, choice).evaluateAll());
    return { definitions, segments, answers };
  });
}

async function expectAsFresh(storage: Storage, flags: Flags): Promise<void> {
  const fresh = await createFlags({ ...SILENT, storage: { ...storage, close: () => undefined } });
  expect(answersOf(flags)).toEqual(answersOf(fresh));
  await fresh.close();
}

// Those who lose a race pause before they try again.
jest.setTimeout(60_000);

describe('simultaneous changes', () => {
  it('leave every instance evaluating as a fresh one on the same storage does', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(someChange, fc.boolean()), { minLength: 20, maxLength: 60 }),
        async (changes) => {
          const storage = memoryStorage();
          const [one, other] = await Promise.all([1, 2].map(() => createFlags({ ...SILENT, storage })));
          if (!one || !other) throw new Error('Two instances were opened.');
          await Promise.all(
            changes.map(async ([change, isOnes]) => {
              await attempt(isOnes ? one : other, change);
              for (const context of CONTEXTS) for (const flag of NAMES) one.isEnabled(flag, context);
            }),
          );
          await Promise.all([one.refresh(), other.refresh()]);
          for (const flags of [one, other]) await expectAsFresh(storage, flags);
          await one.close();
        },
      ),
      { numRuns: 30 },
    );
  });

  it('of one instance alone need no refresh to show', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(someChange, { minLength: 20, maxLength: 60 }), async (changes) => {
        const storage = memoryStorage();
        const flags = await createFlags({ ...SILENT, storage });
        await Promise.all(changes.map((change) => attempt(flags, change)));
        await expectAsFresh(storage, flags);
        await flags.close();
      }),
      { numRuns: 100 },
    );
  });
});
