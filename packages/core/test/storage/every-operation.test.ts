import { extent } from '../../../../test/extent.js';
import { SEED } from '../../../../test/seed.js';
import { type Flags, isFlagsError, openFlags } from '../../src/index.js';
import type { FlagsStorage } from '../../src/storage/port.js';
import type { UsageStorage } from '../../src/storage/usage/port.js';
import type { Fault } from '../../src/testing.js';
import { contentOf } from '../invariants/stored-content.js';
import { type Attempt, EVALUATIONS, furnish, OPERATIONS } from '../operations.js';
import { CHECKOUT, DEFAULT } from '../references.js';
import { SILENT } from '../replica/silent.js';
import { PROPERTY_STORAGES } from '../storage-kinds.js';
import { type HostileValue, hostileValues, spoil } from './hostile-values.js';
import { createWorld, expectCurrent, expectReplayed, type World } from './world.js';

const CASES = Object.entries(OPERATIONS).flatMap(([name, attempts]) =>
  [attempts].flat().map((attempt, index, all) => [all.length > 1 ? `${name} ${index + 1}` : name, attempt] as const),
);

/** A fault at one call of an operation, at one point. */
interface Strike {
  readonly port: 'storage' | 'usage';
  readonly nth: number;
  readonly point: 'before' | 'after';
  /** Whether the storage writes at that call. */
  readonly isWrite: boolean;
  readonly error: Error;
}

/** The latest calls of an operation are those that write. */
const STRIKES = extent({ short: 2, full: Number.POSITIVE_INFINITY });
const WRITES: ReadonlySet<string> = new Set(['commit', 'record', 'register', 'forget', 'forgetApplication', 'prune']);

describe.each(extent({ short: PROPERTY_STORAGES.slice(0, 1), full: PROPERTY_STORAGES }))('on $name', ({ open }) => {
  async function withWorld<T>(work: (world: World) => Promise<T>): Promise<T> {
    const { storage, dispose } = await open();
    const world = await createWorld(storage);
    try {
      return await work(world);
    } finally {
      world.storage.heal();
      world.usage.heal();
      await world.flags.close();
      await dispose();
    }
  }

  /** The states before and after the operation without a fault, and every call at which one can be injected. */
  function rehearse(attempt: Attempt) {
    return withWorld(async (world) => {
      const before = await world.content();
      const made = { storage: world.storage.calls.length, usage: world.usage.calls.length };
      world.resetIds();
      await attempt(world.flags);
      const strikes = (['storage', 'usage'] as const).flatMap((port) =>
        world[port].calls
          .slice(made[port])
          .flatMap(({ method }, index) =>
            (['before', 'after'] as const).map((point) => strikeAt({ port, method, nth: index + 1, point })),
          ),
      );
      return { before, after: await world.content(), strikes };
    });
  }

  it.each(CASES)(
    'executes %s as a whole or not at all, and reports which, wherever the storage fails',
    async (_, attempt) => {
      const { before, after, strikes } = await rehearse(attempt);
      expect(strikes.length).toBeGreaterThan(0);
      for (const strike of strikes.slice(-STRIKES)) {
        await withWorld(async (world) => {
          const isDone = await isDoneDespite(world, { attempt, strike });
          expect([strike.error.message, await world.content()]).toEqual([
            strike.error.message,
            isDone ? after : before,
          ]);
          await expectReplayed(world.stored);
          await expectCurrent(world);
          await expectRepeatable(world, { attempt, isDone, after });
        });
      }
    },
  );

  it.each(Object.entries(EVALUATIONS))('executes %s without a call to the storage', (_, evaluate) =>
    withWorld(async ({ flags, storage, usage }) => {
      const before = await evaluate(flags);
      const faults = [storage.inject({}), usage.inject({})];
      expect(await evaluate(flags)).toEqual(before);
      await new Promise(setImmediate);
      expect(faults.map((fault) => fault.strikes())).toEqual([0, 0]);
    }),
  );

  it('delays only changes of the same document while a commit hangs', () =>
    withWorld(async ({ flags, storage }) => {
      const hanging = storage.inject({ method: 'commit', nth: 1, hang: true });
      const order: string[] = [];
      const first = flags.updateFlag(CHECKOUT, { description: 'first' }).then(() => order.push('first'));
      while (hanging.strikes() === 0) await new Promise(setImmediate);
      const second = flags.updateFlag(CHECKOUT, { description: 'second' }).then(() => order.push('second'));
      await flags.updateFlag({ ...DEFAULT, flag: 'parent' }, { description: 'other' }).then(() => order.push('other'));
      expect((await flags.getFlag(CHECKOUT)).description).toBe('');
      expect(flags.isEnabled('checkout', {}, { environment: 'development' })).toBe(true);
      hanging.release();
      await Promise.all([first, second]);
      expect(order).toEqual(['other', 'first', 'second']);
      expect((await flags.getFlag(CHECKOUT)).description).toBe('second');
    }));

  it('waits for a commit that hangs before it closes', () =>
    withWorld(async ({ flags, storage }) => {
      const hanging = storage.inject({ method: 'commit', nth: 1, hang: true });
      const change = flags.updateFlag(CHECKOUT, { description: 'last' });
      while (hanging.strikes() === 0) await new Promise(setImmediate);
      const ended: string[] = [];
      const closing = flags.close().then(() => ended.push('closing'));
      await new Promise(setImmediate);
      expect(ended).toEqual([]);
      hanging.release();
      expect((await change).description).toBe('last');
      await closing;
    }));
});

function strikeAt(place: Pick<Strike, 'port' | 'nth' | 'point'> & { readonly method: string }): Strike {
  const { method, ...where } = place;
  const message = `${where.port} call ${where.nth}, ${method}, fails ${where.point} it took effect`;
  return { ...where, isWrite: WRITES.has(method), error: Object.assign(new Error(message), { code: 'EIO' }) };
}

/** Runs the operation while its storage fails. Returns whether it reports success. */
async function isDoneDespite(
  world: World,
  { attempt, strike }: { readonly attempt: Attempt; readonly strike: Strike },
): Promise<boolean> {
  const { port, nth, point, isWrite, error } = strike;
  const fault: Fault<Omit<FlagsStorage, 'walBytes'>> & Fault<UsageStorage> = { nth, point, error };
  const injected = world[port].inject(fault);
  world.resetIds();
  const outcome = await settled(attempt(world.flags));
  expect([error.message, injected.strikes()]).toEqual([error.message, 1]);
  injected.remove();
  // An unhandled rejection would surface here, and fail the test.
  await new Promise(setImmediate);
  if (!outcome.ok) {
    // A fault after the commit of a set leaves its result unknown.
    if (isFlagsError(outcome.error) && outcome.error.cause === error) {
      expect(outcome.error.code).toBe('outcome_unknown');
      return true;
    }
    expect(outcome.error).toBe(error);
    return isWrite && point === 'after';
  }
  // Errors after a change cannot undo it: the host is notified.
  expect(world.told).toEqual([error]);
  return true;
}

/**
 * A repetition makes a change that was not made. A change that was made is repeated or refused. Others are not
 * affected.
 */
async function expectRepeatable(
  world: World,
  { attempt, isDone, after }: { readonly attempt: Attempt; readonly isDone: boolean; readonly after: unknown },
): Promise<void> {
  world.resetIds();
  const again = await settled(attempt(world.flags));
  if (isDone) expect(again.ok || isFlagsError(again.error)).toBe(true);
  else expect([again.ok, await world.content()]).toEqual([true, after]);
  await world.flags.createFlag(DEFAULT, { name: 'afterwards' });
  await world.flags.updateFlag({ ...DEFAULT, flag: 'parent' }, { description: 'afterwards' });
  await expectReplayed(world.stored);
  await expectCurrent(world);
}

type Settled = { readonly ok: true } | { readonly ok: false; readonly error: unknown };

async function settled(promise: Promise<unknown>): Promise<Settled> {
  try {
    await promise;
    return { ok: true };
  } catch (error) {
    return { ok: false, error };
  }
}

describe('hostile input', () => {
  const BYTES = extent({ short: 1024 * 1024, full: 50 * 1024 * 1024 });
  const ATTEMPTS = Object.values<Attempt | readonly Attempt[]>(OPERATIONS).flat();

  describe.each(PROPERTY_STORAGES)(
    `the interface on $name, given ${BYTES} bytes of hostile input (seed ${SEED})`,
    ({ open }) => {
      it('refuses invalid input with a FlagsError, and stores none of it', async () => {
        const values = hostileValues(SEED);
        let refused = 0;
        for (let given = 0; given < BYTES; ) {
          const { storage, dispose } = await open();
          const flags = await openFlags({ ...SILENT, storage });
          await furnish(flags);
          let before = await textOf(storage);
          for (const attempt of ATTEMPTS) {
            const hostile = values.next().value;
            given += hostile.size;
            const error = await attempt(spoiling(flags, hostile)).then(() => undefined, asFlagsError);
            const after = await textOf(storage);
            if (error !== undefined) {
              refused += 1;
              if (after !== before) expect(JSON.parse(after)).toEqual(JSON.parse(before));
            }
            before = after;
          }
          await flags.createFlag({ project: 'default' }, { name: 'alive' });
          await dispose();
        }
        expect(refused).toBeGreaterThan(ATTEMPTS.length / 4);
        expect(Object.keys(Object.prototype)).toEqual([]);
      });
    },
  );

  /** All stored data as text, which compares much faster than objects. */
  async function textOf(storage: FlagsStorage): Promise<string> {
    return JSON.stringify(await contentOf(storage));
  }

  /** The same interface, with other arguments of its operations. */
  function spoiling(flags: Flags, hostile: HostileValue): Flags {
    return new Proxy(flags, {
      get(target, name, receiver) {
        const operation: unknown = Reflect.get(target, name, receiver);
        if (typeof operation !== 'function') return operation;
        return (...parameters: readonly unknown[]) =>
          operation(...(parameters.length === 0 ? parameters : spoil(parameters, hostile)));
      },
    });
  }

  function asFlagsError(error: unknown): unknown {
    if (isFlagsError(error)) return error;
    throw error;
  }
});
