import fc from 'fast-check';
import { extent } from '../../../../test/extent.js';
import { type Change, type Flags, isFlagsError } from '../../src/index.js';
import { engineOn } from '../invariants/engine-under-test.js';
import { carryOut, type Operation } from '../invariants/random-operations.js';
import { MEMORY, STORAGES } from '../storage-kinds.js';
import { approve } from './protected.js';
import {
  change,
  clientView,
  type Difference,
  differencesOf,
  furnish,
  isFree,
  toChange,
  withContext,
} from './random-changes.js';

jest.setTimeout(extent({ short: 120_000, full: 1_800_000 }));

const BYPASS = { bypassApproval: 'test' };
const POLICY = { environments: { development: { required: 1 } } };

/** Edits before a request, what it requests, and edits between its approval and its application. */
const plot = fc.record({
  before: fc.array(change, { maxLength: 5 }),
  requested: fc.array(change, { minLength: 1, maxLength: 2 }),
  between: fc.array(change, { maxLength: 3 }),
});

const SILENT = { onProblem: () => undefined };

function codeOf(error: unknown): string {
  if (!isFlagsError(error)) throw error;
  return error.code;
}

async function carryOutAll(flags: Flags, operations: readonly Operation[], context: object): Promise<void> {
  for (const operation of operations) await carryOut(flags, withContext(operation, context)).catch(codeOf);
}

/** Returns what the changes do to what clients see after the edits, in a store without a policy; or their refusal. */
async function effectAfter(
  edits: readonly Operation[],
  changes: readonly Change[],
): Promise<readonly Difference[] | string> {
  const { storage, dispose } = await MEMORY.open();
  const flags = await engineOn(storage, SILENT);
  await furnish(flags);
  await carryOutAll(flags, edits, {});
  const before = clientView(flags);
  const refusal = await flags.apply(changes).then(() => undefined, codeOf);
  const effect = refusal ?? differencesOf(before, clientView(flags));
  await flags.close();
  await dispose();
  return effect;
}

/** What becomes of a request whose approved effect was one thing, and would now be another. */
function expectedAfter(approved: readonly Difference[], now: readonly Difference[] | string): string {
  if (typeof now === 'string') return now;
  if (now.every(isFree)) return 'applied';
  return JSON.stringify(now) === JSON.stringify(approved) ? 'applied' : 'approval_required';
}

describe.each(STORAGES)('a change request on $name', ({ open }) => {
  it('is applied exactly if clients would see what was approved', async () => {
    const outcomes = new Map<string, number>();
    await fc.assert(
      fc.asyncProperty(plot, async ({ before, requested, between }) => {
        const { storage, dispose } = await open();
        const flags = await engineOn(storage, SILENT);
        await furnish(flags);
        await flags.approvalPolicy.set(POLICY);
        await carryOutAll(flags, before, BYPASS);
        const changes: Change[] = [];
        for (const operation of requested) changes.push(await toChange(flags, operation));
        const made = await flags.as('ada').changeRequests.create(changes, { reason: 'test' }).catch(codeOf);
        if (typeof made !== 'string') {
          const ref = { changeRequest: made.id };
          await approve(flags, ref, 'grace');
          await carryOutAll(flags, between, BYPASS);
          const outcome = await flags
            .as('ada')
            .changeRequests.apply(ref)
            .then(({ state }) => state, codeOf);
          const approved = (await effectAfter(before, changes)) as readonly Difference[];
          const expected = expectedAfter(approved, await effectAfter([...before, ...between], changes));
          expect(outcome).toBe(expected);
          outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
        }
        await flags.close();
        await dispose();
      }),
      { numRuns: extent({ short: 100, full: 400 }) },
    );
    expect(outcomes.get('applied')).toBeGreaterThan(0);
    expect(outcomes.get('approval_required')).toBeGreaterThan(0);
  });
});
