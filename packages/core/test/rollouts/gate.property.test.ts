import fc from 'fast-check';
import { extent } from '../../../../test/extent.js';
import { isSameJson } from '../../src/base/json.js';
import { createFlags, type Flags, isFlagsError, type Strategy } from '../../src/index.js';
import { CHECKOUT, DEFAULT, PRODUCTION } from '../references.js';
import { SILENT } from '../replica/silent.js';
import { MINUTE, type SettableClock, settableClock } from '../settable-clock.js';
import { STORAGES } from '../storage-kinds.js';

jest.setTimeout(extent({ short: 120_000, full: 1_800_000 }));

const BYPASS = { bypassApproval: 'test' };
const PERCENTAGES = [0, 5, 25, 60];

const percents = fc.constantFrom(...PERCENTAGES);
const steps = fc.array(fc.record({ percentage: percents, hold: fc.constantFrom(0, MINUTE, null) }), {
  minLength: 1,
  maxLength: 4,
});
/** The index of one of two strategies. */
const at = fc.nat(1);

const operation = fc.oneof(
  { arbitrary: fc.record({ op: fc.constant('start' as const), at, steps }), weight: 3 },
  { arbitrary: fc.record({ op: fc.constant('advance' as const), at }), weight: 2 },
  { arbitrary: fc.record({ op: fc.constant('pause' as const), at }), weight: 1 },
  { arbitrary: fc.record({ op: fc.constant('resume' as const), at }), weight: 1 },
  { arbitrary: fc.record({ op: fc.constant('stop' as const), at, rollback: fc.boolean() }), weight: 1 },
  {
    arbitrary: fc.record({ op: fc.constant('edit' as const), at, percentage: percents, title: fc.boolean() }),
    weight: 2,
  },
  { arbitrary: fc.record({ op: fc.constant('constrain' as const), at, value: fc.constantFrom('a', 'b') }), weight: 1 },
  { arbitrary: fc.record({ op: fc.constant('order' as const), at, sortOrder: fc.constantFrom(1, 2) }), weight: 1 },
  { arbitrary: fc.record({ op: fc.constantFrom('disable' as const, 'enable' as const) }), weight: 1 },
  { arbitrary: fc.record({ op: fc.constant('due' as const), after: fc.constantFrom(0, MINUTE) }), weight: 3 },
);

type Operation = typeof operation extends fc.Arbitrary<infer T> ? T : never;

/** What clients of production would receive, with the plan of a rollout in the place of its percentage. */
interface Seen {
  readonly enabled: boolean;
  readonly strategies: readonly Strategy[];
}

async function seenIn(flags: Flags<string>): Promise<Seen> {
  const { environments } = await flags.getFlag(CHECKOUT);
  const { enabled = false, strategies = [] } = environments.find(({ name }) => name === 'production') ?? {};
  return { enabled, strategies };
}

/** Whether everything that clients can see now was approved before. */
function isCovered(before: Seen, after: Seen): boolean {
  if (!after.enabled) return true;
  if (!before.enabled) return false;
  const ids = (seen: Seen) => seen.strategies.map(({ id }) => id);
  return isSameJson(ids(before), ids(after)) && after.strategies.every((one, at) => isSame(before.strategies[at], one));
}

function isSame(before: Strategy | undefined, after: Strategy): boolean {
  if (!before || !isSameJson(before.constraints, after.constraints)) return false;
  const [was, is] = [before.rollout, after.rollout];
  const [from, to] = [before.parameters?.rollout, after.parameters?.rollout];
  if (is) return was !== undefined && isSameJson(planOf(was), planOf(is));
  return from === to || (was !== undefined && to === was.startedFrom?.value);
}

function planOf({ steps: own, guarded, startedFrom }: NonNullable<Strategy['rollout']>) {
  return { steps: own, guarded, startedFrom };
}

async function run(flags: Flags<string>, clock: SettableClock, one: Operation, context = {}): Promise<unknown> {
  const { strategies } = await seenIn(flags);
  const byId = strategies.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const strategy = 'at' in one ? byId[one.at] : undefined;
  const ref = { ...PRODUCTION, strategy: `${strategy?.id}` };
  const { id: _id, rollout: _rollout, ...content } = strategy ?? { id: '' };
  switch (one.op) {
    case 'start':
      return flags.rollouts.start(ref, { steps: one.steps }, context);
    case 'advance':
      return flags.rollouts.advance(ref, {}, context);
    case 'pause':
      return flags.rollouts.pause(ref, context);
    case 'resume':
      return flags.rollouts.resume(ref, context);
    case 'stop':
      return flags.rollouts.stop(ref, { rollback: one.rollback }, context);
    case 'edit': {
      const parameters = { ...strategy?.parameters, rollout: `${one.percentage}` };
      return flags.updateStrategy(ref, { ...content, parameters, ...(one.title && { title: 'x' }) } as never, context);
    }
    case 'constrain': {
      const constraints = [{ contextName: 'userId', operator: 'IN', values: [one.value] }];
      return flags.updateStrategy(ref, { ...content, constraints } as never, context);
    }
    case 'order':
      return flags.orderStrategies(PRODUCTION, [{ id: ref.strategy, sortOrder: one.sortOrder }], context);
    case 'due':
      clock.advance(one.after);
      return flags.runDue();
    default:
      return flags[one.op](PRODUCTION, context);
  }
}

describe.each(STORAGES)('a policy and rollouts on $name', ({ open }) => {
  it('let clients see nothing that was not approved, and refuse nothing else', async () => {
    const outcomes = { free: 0, refused: 0, stepped: 0 };
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { minLength: 10, maxLength: 40 }), async (operations) => {
        const { storage, dispose } = await open();
        const clock = settableClock();
        const flags: Flags<string> = await createFlags({ ...SILENT, storage, now: clock.now });
        await flags.createFlag(DEFAULT, { name: 'checkout' });
        // Different groups: clients see the order of the two.
        for (const groupId of ['a', 'b']) {
          const parameters = { rollout: '5', stickiness: 'default', groupId };
          await flags.addStrategy(PRODUCTION, { name: 'flexibleRollout', parameters });
        }
        await flags.enable(PRODUCTION);
        await flags.approvalPolicy.set({ environments: { production: { required: 1 } } });
        for (const [index, one] of operations.entries()) {
          const before = await seenIn(flags);
          const code = await run(flags, clock, one).then(() => undefined, codeOf);
          const after = await seenIn(flags);
          if (code !== 'approval_required') {
            // A new rollout is approved with all its steps, and an early step too.
            const isStart = one.op === 'start' && code === undefined;
            expect([index, one, isCovered(before, after), isStart]).toEqual([index, one, true, false]);
            if (code === undefined) outcomes.free += 1;
            if (one.op === 'due' && !isSameJson(before, after)) outcomes.stepped += 1;
            continue;
          }
          outcomes.refused += 1;
          expect(after).toEqual(before);
          const early = one.op === 'advance';
          if ((await run(flags, clock, one, BYPASS).then(() => undefined, codeOf)) !== undefined) continue;
          const needed = one.op === 'start' || early || !isCovered(before, await seenIn(flags));
          expect([index, one, needed]).toEqual([index, one, true]);
        }
        await flags.close();
        await dispose();
      }),
      { numRuns: extent({ short: 20, full: 400 }) },
    );
    for (const count of Object.values(outcomes)) expect(count).toBeGreaterThan(0);
  });
});

function codeOf(error: unknown): string {
  if (!isFlagsError(error)) throw error;
  return error.code;
}
