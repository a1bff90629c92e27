import fc from 'fast-check';
import { extent } from '../../../../test/extent.js';
import { type Flags, isFlagsError, openFlags } from '../../src/index.js';
import { memoryUsage } from '../../src/storage/memory/usage.js';
import type { FlagsStorage } from '../../src/storage/port.js';
import { engineOn } from '../invariants/engine-under-test.js';
import { STORAGES } from '../storage-kinds.js';
import { attempt, change, clientView, differencesOf, furnish, isFree, NAMES, PROTECTED } from './random-changes.js';

jest.setTimeout(extent({ short: 120_000, full: 1_800_000 }));

const CONTEXTS = Array.from({ length: extent({ short: 20, full: 1000 }) }, (_, at) => ({ userId: `${at}` }));
const BYPASS = { bypassApproval: 'test' };

/** A change without approval, or one that bypasses it, so that flags that went off are on again. */
const step = fc.record({ operation: change, bypasses: fc.boolean() });

/** What contexts get: '' for off. Absent flags answer with the fallback true. */
type Answers = readonly string[];

function answersOf(flags: Flags<'custom'>): Answers {
  return NAMES.flatMap((name) =>
    CONTEXTS.map((context) => {
      if (!flags.isEnabled(name, context, { ...PROTECTED, fallback: true })) return '';
      const { name: variant, payload } = flags.getVariant(name, context, PROTECTED);
      return `on ${variant} ${payload?.value}`;
    }),
  );
}

/** An engine with other environments, and with a strategy that the changing one does not know. */
function observe(storage: FlagsStorage): Promise<Flags<'custom'>> {
  const close = async () => undefined;
  return openFlags({
    storage: { ...storage, close, usage: { ...memoryUsage(), close } },
    environments: [{ name: 'development' }],
    strategies: [{ name: 'custom', isEnabled: (_, { userId }) => Number(userId) % 3 === 0 }],
    pollInterval: 0,
    onProblem: () => undefined,
  });
}

describe.each(STORAGES)('a policy on $name', ({ open }) => {
  it('refuses what clients would see, unless a flag goes off, and refuses nothing else', async () => {
    const outcomes = { free: 0, refused: 0 };
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 50 }), async (steps) => {
        const { storage, dispose } = await open();
        const flags = await engineOn(storage, { due: { run: 'elsewhere' }, onProblem: () => undefined });
        const observer = await observe(storage);
        await furnish(flags);
        await flags.approvalPolicy.set({ environments: { development: { required: 1 } } });
        const look = async () => {
          await observer.refresh();
          return { configuration: flags.configuration(PROTECTED), view: clientView(flags) };
        };
        let seen = { ...(await look()), answers: [answersOf(flags), answersOf(observer)] };
        for (const [at, { operation, bypasses }] of steps.entries()) {
          const before = seen;
          const run = (context?: typeof BYPASS) => attempt(flags, operation, at, context).then(() => undefined, codeOf);
          let code = await run(bypasses ? BYPASS : undefined);
          const isRefused = code === 'approval_required';
          if (isRefused) code = await run(BYPASS);
          const now = await look();
          if (now.configuration !== before.configuration) {
            seen = { ...now, answers: [answersOf(flags), answersOf(observer)] };
          }
          if (bypasses) continue;
          const differences = differencesOf(before.view, now.view);
          if (isRefused) {
            outcomes.refused += 1;
            if (code === undefined)
              expect([at, operation, differences.some((one) => !isFree(one))]).toEqual([at, operation, true]);
            continue;
          }
          if (code === undefined) outcomes.free += 1;
          expect([at, operation, differences.filter((one) => !isFree(one))]).toEqual([at, operation, []]);
          const wrong = seen.answers.map((answers, who) =>
            answers.filter((answer, index) => answer !== '' && answer !== before.answers[who]?.[index]),
          );
          expect([at, operation, wrong]).toEqual([at, operation, [[], []]]);
        }
        await Promise.all([flags.close(), observer.close()]);
        await dispose();
      }),
      { numRuns: extent({ short: 30, full: 400 }) },
    );
    expect(outcomes.free).toBeGreaterThan(0);
    expect(outcomes.refused).toBeGreaterThan(0);
  });
});

function codeOf(error: unknown): string {
  if (!isFlagsError(error)) throw error;
  return error.code;
}
