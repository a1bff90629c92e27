import fc from 'fast-check';
import { extent } from '../../../../test/extent.js';
import { type Change, type Flags, isFlagsError, openFlags, paginate } from '../../src/index.js';
import { memoryUsage } from '../../src/storage/memory/usage.js';
import { DEFAULT, PRODUCTION } from '../references.js';
import { SILENT } from '../replica/silent.js';
import { addGradual, STEPS } from '../rollouts/start.js';
import { HOUR, settableClock } from '../settable-clock.js';
import { STORAGES } from '../storage-kinds.js';
import { ADA, ALAN, approve, GRACE } from './protected.js';

jest.setTimeout(extent({ short: 120_000, full: 1_800_000 }));

const PEOPLE = [ADA, GRACE, ALAN];
const person = fc.constantFrom(...PEOPLE);
/** The number of the node that is asked. */
const node = fc.nat(1);
/** The number of a request, in the order of their creation. */
const nth = fc.nat(3);
const later = fc.constantFrom(undefined, 0, 0, HOUR, HOUR);
const flag = fc.constantFrom('checkout', 'banner');
const change = fc.constantFrom('enable' as const, 'disable' as const, 'startRollout' as const, 'archiveFlag' as const);

const call = fc.oneof(
  {
    arbitrary: fc.record({
      op: fc.constant('create' as const),
      ...{ node, person, flag, change, later },
      replaces: fc.option(nth, { freq: 4, nil: undefined }),
      ifUnchanged: fc.boolean(),
    }),
    weight: 4,
  },
  { arbitrary: fc.record({ op: fc.constantFrom('approve', 'apply', 'applyAt'), node, person, nth }), weight: 6 },
  { arbitrary: fc.record({ op: fc.constantFrom('reject', 'withdraw'), node, person, nth }), weight: 1 },
  { arbitrary: fc.record({ op: fc.constantFrom('enable', 'disable', 'reviveFlag'), node, flag }), weight: 2 },
  { arbitrary: fc.record({ op: fc.constant('policy' as const), node, required: fc.nat(2) }), weight: 1 },
  { arbitrary: fc.record({ op: fc.constant('due' as const), node, pass: fc.constantFrom(0, 0, HOUR) }), weight: 5 },
);

type Call = typeof call extends fc.Arbitrary<infer T> ? T : never;

const BYPASS = { bypassApproval: 'test' };

/** Calls of one group run at the same time, on two nodes. */
const groups = fc.array(fc.array(call, { minLength: 1, maxLength: 6 }), { minLength: 4, maxLength: 12 });

function ignoreRefusal(error: unknown): undefined {
  if (!isFlagsError(error)) throw error;
  return undefined;
}

describe.each(STORAGES)('calls at the same time on $name', ({ open }) => {
  it('end each request once, in the commit of its changes, and count each person once', async () => {
    const ended = new Map<string, number>();
    await fc.assert(
      fc.asyncProperty(groups, async (plot) => {
        const { storage, dispose } = await open();
        const clock = settableClock();
        const close = async () => undefined;
        const start = (): Promise<Flags<string>> =>
          openFlags({
            ...SILENT,
            now: clock.now,
            storage: { ...storage, close, usage: { ...memoryUsage(), close } },
          });
        const nodes = [await start(), await start()] as const;
        const [first] = nodes;
        const refs = [await addGradual(first), await addGradual(first, '1', 'banner')];
        const ids: string[] = [];

        async function run(one: Call): Promise<unknown> {
          const flags = nodes[one.node === 0 ? 0 : 1];
          const of = (name: string) => ({ ...PRODUCTION, flag: name });
          if (one.op === 'policy') {
            const environments = one.required === 0 ? {} : { production: { required: one.required } };
            return flags.approvalPolicy.set({ environments }, BYPASS);
          }
          if (one.op === 'due') {
            clock.advance(one.pass);
            return flags.runDue();
          }
          if (one.op === 'create') {
            const ref = refs.find((strategy) => strategy.flag === one.flag);
            const target = { startRollout: ref, archiveFlag: { ...DEFAULT, flag: one.flag } }[one.change as string];
            const input = one.change === 'startRollout' ? { input: STEPS } : {};
            const changes = [{ op: one.change, ref: target ?? of(one.flag), ...input } as Change];
            const at = one.later === undefined ? {} : { at: clock.text(one.later) };
            const replaces = one.replaces === undefined ? {} : { replaces: ids[one.replaces] ?? 'none' };
            const options = { ...at, ...replaces, ifUnchanged: one.ifUnchanged };
            return flags
              .as(one.person)
              .changeRequests.create(changes, options)
              .then(({ id }) => ids.push(id));
          }
          if ('flag' in one) {
            const ref = one.op === 'reviveFlag' ? { ...DEFAULT, flag: one.flag } : of(one.flag);
            return flags.apply([{ op: one.op, ref } as Change], BYPASS);
          }
          const ref = { changeRequest: ids[one.nth] ?? 'none' };
          const { changeRequests } = flags.as(one.person);
          if (one.op === 'approve') return approve(flags, ref, one.person);
          if (one.op === 'apply') return changeRequests.apply(ref);
          if (one.op === 'applyAt') return changeRequests.apply(ref, { at: clock.text(HOUR) });
          return changeRequests[one.op as 'reject' | 'withdraw'](ref);
        }

        for (const group of plot) await Promise.all(group.map((one) => run(one).catch(ignoreRefusal)));

        for await (const { id, state, author, changeSet, approvals, required } of paginate((page) =>
          first.changeRequests.list({}, page),
        )) {
          ended.set(state, (ended.get(state) ?? 0) + 1);
          const { events } = await storage.events({
            order: 'newest-first',
            limit: 1000,
            filter: { type: 'change-request-ended' },
          });
          const own = events.filter(({ data }) => Object(data).id === id);
          const isEnded = !['open', 'approved'].includes(state);
          // Nobody has recorded yet that time has ended it.
          if (state === 'expired') expect(own.length).toBeLessThanOrEqual(1);
          else expect([id, state, own.length]).toEqual([id, state, isEnded ? 1 : 0]);
          const people = approvals.map(({ actor }) => actor.id);
          expect(new Set([...people, author.id]).size).toBe(people.length + 1);
          if (changeSet === null) continue;
          expect([state, own[0]?.changeSet]).toEqual(['applied', changeSet]);
          const set = await first.history.get({ changeSet });
          expect(set.events.every(({ origin }) => origin === `change-request/${id}`)).toBe(true);
          expect(set.events.length).toBeGreaterThan(1);
          expect((await first.changeRequests.get({ changeRequest: id })).required).toBe(required);
        }
        await Promise.all(nodes.map((one) => one.close()));
        await dispose();
      }),
      { numRuns: extent({ short: 40, full: 300 }) },
    );
    expect(ended.get('applied')).toBeGreaterThan(0);
  });
});
