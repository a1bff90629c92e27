import { extent } from '../../../../test/extent.js';
import type { Flags } from '../../src/index.js';
import { onEveryStorage } from '../on-every-storage.js';
import { DEFAULT } from '../references.js';
import { refusalOf } from '../refusal.js';

/** The distances between the starts of two operations: -20 to 20 steps. */
const LEADS = 41;
const ROUNDS = Array.from({ length: LEADS * extent({ short: 1, full: 8 }) }, (_, round) => round);
const TIMEOUT = 120_000;

type Attempt = () => Promise<unknown>;

/** Starts both operations with another delay in each round, so that they meet at different points. */
async function cross(round: number, one: Attempt, other: Attempt): Promise<readonly PromiseSettledResult<unknown>[]> {
  const late = async (steps: number, start: Attempt) => {
    for (let step = 0; step < steps; step++) await undefined;
    return start();
  };
  const lead = (round % LEADS) - 20;
  return Promise.allSettled([late(Math.max(0, -lead), one), late(Math.max(0, lead), other)]);
}

/** Expects that one operation succeeded, and that the other was refused because of it. */
async function expectOneRefused(
  outcomes: readonly PromiseSettledResult<unknown>[],
  codes: readonly string[],
): Promise<void> {
  expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  const refused = outcomes.findIndex(({ status }) => status === 'rejected');
  expect(await codeOf(outcomes[refused])).toBe(codes[refused]);
}

async function codeOf(outcome: PromiseSettledResult<unknown> | undefined): Promise<string | undefined> {
  return outcome?.status === 'rejected' ? (await refusalOf(Promise.reject(outcome.reason))).code : undefined;
}

/** Creates a flag of each of these names for every round. */
async function openFlags(flags: Flags, ...names: readonly string[]): Promise<void> {
  const all = ROUNDS.flatMap((round) => names.map((name) => `${name}-${round}`));
  await Promise.all(all.map((name) => flags.createFlag(DEFAULT, { name })));
}

function flagOf(name: string, round: number) {
  return { ...DEFAULT, flag: `${name}-${round}` };
}

onEveryStorage((start) => {
  describe('references that start during another operation', () => {
    it(
      "refuse a segment's deletion, or are refused after it",
      async () => {
        const flags = await start();
        await openFlags(flags, 'child');
        for (const round of ROUNDS) {
          const { id } = await flags.segments.create({ name: `segment-${round}`, constraints: [] });
          const environment = { ...flagOf('child', round), environment: 'production' };
          const outcomes = await cross(
            round,
            () => flags.addStrategy(environment, { name: 'default', segments: [id] }),
            () => flags.segments.delete({ segment: id }),
          );
          await expectOneRefused(outcomes, ['invalid_input', 'segment_in_use']);
          const isThere = (await flags.segments.list()).items.some((segment) => segment.id === id);
          expect(isThere).toBe(outcomes[0]?.status === 'fulfilled');
        }
      },
      TIMEOUT,
    );

    it(
      'never chain dependencies',
      async () => {
        const flags = await start();
        await openFlags(flags, 'child', 'parent', 'grandparent');
        for (const round of ROUNDS) {
          const outcomes = await cross(
            round,
            () => flags.addDependency(flagOf('child', round), flagOf('parent', round)),
            () => flags.addDependency(flagOf('parent', round), flagOf('grandparent', round)),
          );
          await expectOneRefused(outcomes, ['dependency_too_deep', 'dependency_too_deep']);
        }
      },
      TIMEOUT,
    );

    it(
      'never close a cycle of dependencies',
      async () => {
        const flags = await start();
        await openFlags(flags, 'one', 'other');
        for (const round of ROUNDS) {
          const outcomes = await cross(
            round,
            () => flags.addDependency(flagOf('one', round), flagOf('other', round)),
            () => flags.addDependency(flagOf('other', round), flagOf('one', round)),
          );
          await expectOneRefused(outcomes, ['dependency_too_deep', 'dependency_too_deep']);
        }
      },
      TIMEOUT,
    );

    it(
      'leave no flag depending on a parent that is archived',
      async () => {
        const flags = await start();
        await openFlags(flags, 'child', 'parent');
        for (const round of ROUNDS) {
          const outcomes = await cross(
            round,
            () => flags.addDependency(flagOf('child', round), flagOf('parent', round)),
            () => flags.archiveFlag(flagOf('parent', round)),
          );
          await expectOneRefused(outcomes, ['parent_not_found', 'flag_has_children']);
        }
      },
      TIMEOUT,
    );
  });
});

describe('common references', () => {
  const NAMES = Array.from({ length: 150 }, (_, number) => `flag-${number}`);

  onEveryStorage((start) => {
    it('let any number of flags start to use one segment, or to depend on one parent, at once', async () => {
      const flags = await start();
      const { id } = await flags.segments.create({ name: 'beta', constraints: [] });
      await Promise.all(['parent', ...NAMES].map((name) => flags.createFlag(DEFAULT, { name })));
      const refs = NAMES.map((flag) => ({ ...DEFAULT, flag, environment: 'production' }));
      await Promise.all(refs.map((ref) => flags.addStrategy(ref, { name: 'default', segments: [id] })));
      await Promise.all(refs.map((ref) => flags.addDependency(ref, { flag: 'parent' })));
      expect((await flags.segments.listUses({ segment: id })).items).toHaveLength(NAMES.length);
      expect((await flags.getFlag({ ...DEFAULT, flag: 'parent' })).children).toHaveLength(NAMES.length);
    });
  });
});
