import fc from 'fast-check';
import { extent } from '../../../../test/extent.js';
import { isSameJson } from '../../src/base/json.js';
import { type FlagState, shownEnvironmentOf } from '../../src/features/flags/flag.js';
import { type Change, type Flags, isFlagsError, openFlags, type Strategy } from '../../src/index.js';
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

/** Returns an operation as the change of a set; undefined for those that no set may contain. */
async function toChange(flags: Flags<string>, one: Operation): Promise<Change | undefined> {
  const { strategies } = await seenIn(flags);
  const byId = strategies.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const strategy = 'at' in one ? byId[one.at] : undefined;
  const ref = { ...PRODUCTION, strategy: `${strategy?.id}` };
  const { id: _id, rollout: _rollout, ...content } = strategy ?? { id: '' };
  switch (one.op) {
    case 'start':
      return { op: 'startRollout', ref, input: { steps: one.steps } };
    case 'advance':
      return { op: 'advanceRollout', ref };
    case 'pause':
      return { op: 'pauseRollout', ref };
    case 'resume':
      return { op: 'resumeRollout', ref };
    case 'stop':
      return { op: 'stopRollout', ref, input: { rollback: one.rollback } };
    case 'edit': {
      const parameters = { ...strategy?.parameters, rollout: `${one.percentage}` };
      const input = { ...content, parameters, ...(one.title && { title: 'x' }) } as never;
      return { op: 'updateStrategy', ref, input };
    }
    case 'constrain': {
      const constraints = [{ contextName: 'userId', operator: 'IN', values: [one.value] }];
      return { op: 'updateStrategy', ref, input: { ...content, constraints } as never };
    }
    case 'enable':
    case 'disable':
      return { op: one.op, ref: PRODUCTION };
    default:
      return undefined;
  }
}

async function run(flags: Flags<string>, clock: SettableClock, one: Operation, context = {}): Promise<unknown> {
  if (one.op === 'due') {
    clock.advance(one.after);
    return flags.runDue();
  }
  const change = await toChange(flags, one);
  if (change) return flags.apply([change], context);
  const { strategies } = await seenIn(flags);
  const byId = strategies.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const { at = 0, sortOrder = 1 } = one as Extract<Operation, { readonly op: 'order' }>;
  return flags.orderStrategies(PRODUCTION, [{ id: `${byId[at]?.id}`, sortOrder }], context);
}

/** Whether what clients can see is what was approved: of a rollout, any percentage on its way. */
function isApprovedState(approved: Seen, now: Seen): boolean {
  const isOnTheWay = ({ rollout, parameters }: Strategy, is: Strategy) =>
    rollout !== undefined &&
    [
      rollout.startedFrom?.value,
      parameters?.rollout,
      ...rollout.steps.map(({ percentage }) => `${percentage}`),
    ].includes(`${is.parameters?.rollout}`);
  if (!now.enabled) return true;
  return (
    approved.enabled === now.enabled &&
    approved.strategies.length === now.strategies.length &&
    approved.strategies.every((was, at) => {
      const is = now.strategies[at];
      return is !== undefined && was.id === is.id && (isSame(was, is) || isOnTheWay(was, is));
    })
  );
}

/**
 * Requests a change, approves it, and applies it after what is due. Returns what was approved, as a plan shows it, and the
 * refusal.
 */
async function applyApproved(flags: Flags<string>, clock: SettableClock, change: Change, wait: number) {
  const made = await flags.as('ada').changeRequests.create([change]).catch(codeOf);
  if (typeof made === 'string') return undefined;
  const ref = { changeRequest: made.id };
  const { documents } = await flags.plan([change]);
  const after = documents.find(({ id }) => id === 'checkout')?.after as unknown as FlagState;
  const { enabled, strategies } = shownEnvironmentOf(after, 'production');
  await flags.as('grace').changeRequests.approve(ref, { effect: `${made.effect}` });
  const before = await seenIn(flags);
  clock.advance(wait);
  await flags.runDue();
  const now = await seenIn(flags);
  const hasMoved = !isSameJson(before, now);
  const applied = await flags.as('ada').changeRequests.apply(ref).catch(codeOf);
  if (typeof applied !== 'string') {
    // Steps may have left nothing to change.
    return { code: undefined, hasMoved, approved: applied.changeSet === null ? now : { enabled, strategies } };
  }
  await flags.changeRequests.withdraw(ref);
  return { code: applied, hasMoved, approved: now };
}

describe.each(STORAGES)('a policy and rollouts on $name', ({ open }) => {
  it('let clients see nothing that was not approved, and refuse nothing else', async () => {
    const outcomes = { free: 0, refused: 0, stepped: 0, applied: 0 };
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { minLength: 10, maxLength: 40 }), async (operations) => {
        const { storage, dispose } = await open();
        const clock = settableClock();
        const flags: Flags<string> = await openFlags({ ...SILENT, storage, now: clock.now });
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
          const change = await toChange(flags, one);
          // Half of them as requests, with what is due between approval and application.
          if (change && index % 2 === 0) {
            const applied = await applyApproved(flags, clock, change, index % 4 === 0 ? 0 : MINUTE);
            if (applied === undefined) continue;
            const { code: refusal, hasMoved, approved } = applied;
            const state = await seenIn(flags);
            expect([index, one, isApprovedState(approved, state)]).toEqual([index, one, true]);
            if (refusal === undefined) outcomes.applied += 1;
            else expect([index, one, hasMoved]).toEqual([index, one, true]);
            continue;
          }
          if ((await run(flags, clock, one, BYPASS).then(() => undefined, codeOf)) !== undefined) continue;
          const needed = one.op === 'start' || one.op === 'advance' || !isCovered(before, await seenIn(flags));
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
