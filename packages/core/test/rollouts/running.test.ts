import { until } from '../../../../test/until.js';
import { DueSteps } from '../../src/features/rollouts/due-steps.js';
import type { FlagsEngine } from '../../src/flags-engine.js';
import { FlagsError, LIMITS, memoryStorage, openFlags } from '../../src/index.js';
import { ENGINE } from '../../src/kernel/changes/run-operation.js';
import type { DueMode } from '../../src/kernel/due/runner.js';
import { faultyStorage } from '../../src/testing.js';
import type { GuardAnswer, GuardedRollout } from '../../src/types.js';
import { withFakeTime } from '../fake-time.js';
import { PRODUCTION } from '../references.js';
import { refusalOf } from '../refusal.js';
import { SILENT } from '../replica/silent.js';
import { DAY, HOUR, MINUTE, SECOND, settableClock } from '../settable-clock.js';
import { addGradual, percentage, round, STEPS } from './start.js';

describe('a node with due: { run: true }', () => {
  it('takes by itself the steps that are due, each at its time', () =>
    withFakeTime(async (pass) => {
      const flags = await openFlags({ ...SILENT, storage: memoryStorage(), due: { run: true } });
      const ref = await addGradual(flags);
      const steps = [{ percentage: 5, hold: 100 }, { percentage: 25, hold: 100 }, { percentage: 100 }];
      await flags.rollouts.start(ref, { steps });
      const taken: unknown[] = [];
      // Not only at the next poll, which comes after 5 seconds.
      for (const time of [99, 1, 99, 1]) {
        await pass(time);
        taken.push(await percentage(flags));
      }
      expect(taken).toEqual(['5', '25', '25', '100']);
      expect((await flags.events.list({ type: 'rollout-stepped' })).total).toBe(2);
      await pass(1);
      expect((await flags.rollouts.list()).items).toEqual([]);
      await flags.close();
    }));

  it('takes the steps of a rollout that another node has started', async () => {
    const storage = memoryStorage();
    const open = (run: DueMode) => {
      const shared = { ...storage, close: async () => undefined };
      return openFlags({ ...SILENT, storage: shared, pollInterval: 10, due: { run } });
    };
    const [one, other] = [await open(true), await open('elsewhere')];
    const ref = await addGradual(other);
    await other.rollouts.start(ref, {
      steps: [
        { percentage: 5, hold: 100 },
        { percentage: 25, hold: null },
      ],
    });
    await until(async () => (await percentage(other)) === '25');
    expect((await other.events.list({ type: 'rollout-stepped' })).items).toMatchObject([{ origin: 'rollout' }]);
    await Promise.all([one.close(), other.close()]);
  });

  it('applies change requests while a guard hangs', async () => {
    const guard = jest.fn(() => new Promise<'go'>(() => undefined));
    const options = { storage: memoryStorage(), due: { run: true, guard } } as const;
    const flags = await openFlags({ ...SILENT, ...options });
    const ref = await addGradual(flags);
    await flags.rollouts.start(ref, { steps: [{ percentage: 5, hold: 0 }, { percentage: 100 }] });
    await until(() => guard.mock.calls.length > 0);
    const { id } = await flags.changeRequests.create([{ op: 'disable', ref: PRODUCTION }], {
      at: new Date().toISOString(),
    });
    await until(async () => (await flags.changeRequests.get({ changeRequest: id })).state === 'applied');
    expect(guard).toHaveBeenCalledTimes(1);
    await flags.close();
  });

  it('tells what waits, and which rollouts wait for another process with a guard', async () => {
    const flags = await openFlags({ ...SILENT, storage: memoryStorage(), due: { run: true } });
    const ref = await addGradual(flags);
    await flags.rollouts.start(ref, { steps: [{ percentage: 5, hold: 0 }, { percentage: 9 }], guarded: true });
    expect(flags.status().due).toEqual({ pending: 1, overdue: 0, unguarded: 1 });
    await flags.rollouts.pause(ref);
    expect(flags.status().due).toEqual({ pending: 0, overdue: 0, unguarded: 0 });
    expect(await percentage(flags)).toBe('5');
    await flags.close();
  });

  it('reads nothing while nothing is due', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'performance', 'queueMicrotask'] });
    try {
      const storage = memoryStorage();
      let reads = 0;
      const get: typeof storage.get = (key) => {
        reads += 1;
        return storage.get(key);
      };
      const list: typeof storage.list = (query) => {
        // Those of schedules are read at every poll.
        if (query.kind === 'flag') reads += 1;
        return storage.list(query);
      };
      const flags = await openFlags({ ...SILENT, storage: { ...storage, get, list }, due: { run: true } });
      await flags.rollouts.start(await addGradual(flags), STEPS);
      await jest.advanceTimersByTimeAsync(5 * SECOND);
      reads = 0;
      for (let second = 0; second < 60; second++) await jest.advanceTimersByTimeAsync(SECOND);
      expect(reads).toBe(0);
      await flags.close();
    } finally {
      jest.useRealTimers();
    }
  });
});

describe('status', () => {
  it('counts on a node that leaves it to another one, and not where nobody does it', async () => {
    const clock = settableClock();
    const flags = await openFlags({ ...SILENT, storage: memoryStorage(), now: clock.now });
    await flags.rollouts.start(await addGradual(flags), STEPS);
    expect(flags.status().due).toEqual({ pending: 1, overdue: 0, unguarded: 0 });
    clock.advance(DAY + 10 * SECOND);
    expect(flags.status().due).toEqual({ pending: 1, overdue: 0, unguarded: 0 });
    clock.advance(1);
    expect(flags.status().due).toEqual({ pending: 1, overdue: 1, unguarded: 0 });
    await flags.close();
    const off = await openFlags({ ...SILENT, storage: memoryStorage(), due: { run: false } });
    expect(off.status()).not.toHaveProperty('due');
    await off.close();
  });

  it('does not call late what the guard holds', async () => {
    const clock = settableClock();
    const options = { now: clock.now, due: { run: 'elsewhere', guard: () => 'hold' as const } as const };
    const flags = await openFlags({ ...SILENT, storage: memoryStorage(), ...options });
    await flags.rollouts.start(await addGradual(flags), STEPS);
    clock.advance(DAY + MINUTE);
    await flags.runDue();
    expect(flags.status().due).toMatchObject({ pending: 1, overdue: 0 });
    await flags.close();
  });
});

describe('a failure', () => {
  it('of the storage leaves the rollout as it is, and the next round takes the step', async () => {
    const clock = settableClock();
    const faulty = faultyStorage(memoryStorage());
    const errors: unknown[] = [];
    const onError = (error: unknown) => errors.push(error);
    const flags = await openFlags({ ...SILENT, storage: faulty, now: clock.now, onError });
    const ref = await addGradual(flags);
    await flags.rollouts.start(ref, STEPS);
    clock.advance(DAY);
    const fault = faulty.inject({ method: 'commit', error: new FlagsError('storage_busy', 'Busy.') });
    expect(await round(flags)).toEqual([]);
    expect(await round(flags)).toEqual([]);
    expect(errors).toMatchObject([{ code: 'storage_busy' }]);
    fault.remove();
    expect((await flags.rollouts.list()).items).toMatchObject([{ state: 'running', step: 0, failure: null }]);
    expect(await round(flags)).toEqual([['running', 1]]);
    await flags.close();
  });

  it('of the storage asks the guard again at the next look', async () => {
    const clock = settableClock();
    const faulty = faultyStorage(memoryStorage());
    const guard = jest.fn(() => 'go' as const);
    const options = { now: clock.now, onError: () => undefined, due: { run: 'elsewhere', guard } as const };
    const flags = await openFlags({ ...SILENT, storage: faulty, ...options });
    await flags.rollouts.start(await addGradual(flags), STEPS);
    clock.advance(DAY);
    const fault = faulty.inject({ method: 'commit', error: new FlagsError('storage_busy', 'Busy.') });
    expect(await round(flags)).toEqual([]);
    fault.remove();
    expect(await round(flags)).toEqual([['running', 1]]);
    expect(guard).toHaveBeenCalledTimes(2);
    await flags.close();
  });

  it('of `due.authorize` leaves it as it is too', async () => {
    const clock = settableClock();
    const errors: unknown[] = [];
    let answer: () => Promise<boolean> = () => Promise.reject(new Error('no users'));
    const options = {
      now: clock.now,
      onError: (error: unknown) => errors.push(error),
      due: { run: 'elsewhere', authorize: () => answer() } as const,
    };
    const flags = await openFlags({ ...SILENT, storage: memoryStorage(), ...options });
    await flags.rollouts.start(await addGradual(flags), STEPS);
    clock.advance(DAY);
    for (let turn = 0; turn < 3; turn++) expect(await round(flags)).toEqual([]);
    expect(errors.map(String)).toEqual([expect.stringContaining('due.authorize failed (Error: no users)')]);
    answer = async () => true;
    expect(await round(flags)).toEqual([['running', 1]]);
    await flags.close();
  });
});

it('steps, pauses and rolls back a flag near the limit of a document, which no edit may exceed', async () => {
  const clock = settableClock();
  let answer = false;
  const storage = memoryStorage();
  const flags = await openFlags({
    ...SILENT,
    storage,
    now: clock.now,
    due: { run: 'elsewhere', authorize: () => answer },
  });
  const ref = await addGradual(flags);
  const filling = (length: number) => ({ name: 'userWithId', parameters: { userIds: 'x'.repeat(length) } }) as const;
  const bytes = async () =>
    Buffer.byteLength(JSON.stringify((await storage.get({ kind: 'flag', id: 'checkout' }))?.body));
  await flags.addStrategy(PRODUCTION, filling(500_000));
  await flags.addStrategy(PRODUCTION, filling(500_000));
  const { id } = await flags.addStrategy(PRODUCTION, filling(1));
  const last = { ...PRODUCTION, strategy: id };
  const steps = [
    { percentage: 5, hold: DAY },
    { percentage: 25, hold: DAY },
    { percentage: 100, hold: DAY },
  ];
  await flags.rollouts.start(ref, { steps });
  const room = LIMITS.documentBytes - (await bytes());
  expect((await refusalOf(flags.updateStrategy(last, filling(room + 2)))).code).toBe('document_too_large');
  await flags.updateStrategy(last, filling(room + 1));
  expect(await bytes()).toBe(LIMITS.documentBytes);
  clock.advance(DAY);
  expect(await round(flags)).toEqual([['paused', 0]]);
  expect(await bytes()).toBeGreaterThan(LIMITS.documentBytes);
  answer = true;
  await flags.rollouts.resume(ref);
  expect(await round(flags)).toEqual([['running', 1]]);
  await flags.rollouts.advance(ref);
  expect(await percentage(flags)).toBe('100');
  const edit = flags.updateFlag({ project: 'default', flag: 'checkout' }, { description: 'x' });
  expect((await refusalOf(edit)).code).toBe('document_too_large');
  await flags.rollouts.stop(ref, { rollback: true });
  expect(await percentage(flags)).toBe('1');
  await flags.close();
});

it('looks at 1,000 rollouts among 100,000 flags in less than a millisecond, without a read', async () => {
  const storage = memoryStorage();
  const clock = settableClock();
  const options = { ...SILENT, now: clock.now };
  const first = await openFlags({ ...options, storage: { ...storage, close: async () => undefined } });
  const spare = await addGradual(first);
  const { strategy: _strategy, ...place } = spare;
  const strategy = { name: 'flexibleRollout', parameters: { rollout: '1' } } as const;
  const strategies = Array.from({ length: 10 }, () => strategy);
  for (let index = 0; index < 100; index++) {
    const flag = `flag-${index}`;
    await first.createFlag({ project: 'default' }, { name: flag });
    const configured = await first.configureEnvironment({ ...place, flag }, { enabled: true, strategies });
    await first.apply(
      configured.strategies.map(({ id }) => {
        const input = { steps: [{ percentage: 5, hold: HOUR }, { percentage: 100 }] };
        return { op: 'startRollout', ref: { ...place, flag, strategy: id }, input } as const;
      }),
    );
  }
  const refused = await refusalOf(first.rollouts.start(spare, STEPS));
  expect(refused.code).toBe('invalid_input');
  expect(refused.details).toMatchObject([{ message: expect.stringContaining('at most 1000') }]);
  await first.close();
  // Written past the engine: 100,000 changes take a minute.
  const stored = await storage.get({ kind: 'flag', id: 'flag-0' });
  const body = { ...(stored?.body as object), environments: [] };
  for (let start = 0; start < 99_899; start += 1000) {
    const writes = Array.from({ length: 1000 }, (_, index) => {
      const id = `other-${start + index}`;
      const key = { kind: 'flag', id };
      return { key, expected: 0, parent: 'default', body: { ...body, name: id }, summary: null };
    });
    await storage.commit({ writes, events: [] });
  }
  let reads = 0;
  const counted = <Args extends unknown[], Result>(read: (...args: Args) => Result) => {
    return (...args: Args) => {
      reads += 1;
      return read(...args);
    };
  };
  const counting = {
    ...storage,
    get: counted(storage.get),
    list: counted(storage.list),
    events: counted(storage.events),
  };
  const flags = await openFlags({ ...options, storage: counting });
  const engine = (flags as unknown as { readonly [ENGINE]: FlagsEngine })[ENGINE];
  const source = new DueSteps(engine, engine.rolling, { guard: () => 'go', authorize: undefined, actor: '' });
  reads = 0;
  let fastest = Number.POSITIVE_INFINITY;
  // A busy machine slows down most attempts.
  for (let attempt = 0; attempt < 1000 && fastest >= 1; attempt++) {
    const begun = performance.now();
    await source.run(clock.now().getTime());
    fastest = Math.min(fastest, performance.now() - begun);
  }
  expect([reads, fastest < 1]).toEqual([0, true]);
  clock.advance(HOUR);
  expect((await flags.runDue()).items).toHaveLength(1000);
  await flags.close();
}, 120_000);

it('asks `due.authorize` beside the writer: a hanging answer delays no other step and no other change', async () => {
  const clock = settableClock();
  let release: (answer: boolean) => void = () => undefined;
  const asked: string[] = [];
  const flags = await openFlags({
    ...SILENT,
    storage: memoryStorage(),
    now: clock.now,
    due: {
      run: 'elsewhere',
      authorize(_, { documents }) {
        asked.push(`${documents[0]?.id}`);
        if (documents[0]?.id !== 'checkout') return true;
        return new Promise<boolean>((resolve) => {
          release = resolve;
        });
      },
    },
  });
  const ref = await addGradual(flags);
  await flags.rollouts.start(ref, STEPS);
  await flags.rollouts.start(await addGradual(flags, '1', 'other'), STEPS);
  await flags.approvalPolicy.set({ environments: { development: { required: 1 } } });
  clock.advance(DAY);
  const running = round(flags);
  await until(async () => asked.length === 2 && (await flags.rollouts.list({ flag: 'other' })).items[0]?.step === 1);
  // The answer is about the flag as it was.
  await flags.updateFlag({ project: 'default', flag: 'checkout' }, { description: 'changed meanwhile' });
  release(true);
  await until(() => asked.length === 3);
  release(true);
  expect(await running).toEqual([
    ['running', 1],
    ['running', 1],
  ]);
  expect(await percentage(flags)).toBe('25');
  await flags.close();
});

// In memory only: the time limit of a statement to a database would pass as well.
it('holds after ten seconds of a hanging guard, whose signal aborts, and the close does not wait for it', async () => {
  const clock = settableClock();
  const errors: unknown[] = [];
  const asked: GuardedRollout[] = [];
  const guard = (rollout: GuardedRollout) => {
    asked.push(rollout);
    return new Promise<GuardAnswer>(() => undefined);
  };
  const onError = (error: unknown) => errors.push(error);
  const options = { storage: memoryStorage(), now: clock.now, onError, due: { run: 'elsewhere', guard } } as const;
  const flags = await openFlags({ ...SILENT, ...options });
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'performance', 'queueMicrotask'] });
  try {
    await flags.rollouts.start(await addGradual(flags), STEPS);
    clock.advance(DAY);
    const running = round(flags);
    while (asked.length === 0) await jest.advanceTimersByTimeAsync(1);
    await jest.advanceTimersByTimeAsync(9_000);
    expect(asked[0]?.signal.aborted).toBe(false);
    await jest.advanceTimersByTimeAsync(1_100);
    expect(await running).toEqual([]);
    expect(asked[0]?.signal.aborted).toBe(true);
    expect(errors.map(String)).toEqual([expect.stringContaining('no answer within 10000 ms')]);
    clock.advance(MINUTE);
    const last = round(flags);
    while (asked.length === 1) await jest.advanceTimersByTimeAsync(1);
    await flags.close();
    expect(await last).toEqual([]);
    expect(asked[1]?.signal.aborted).toBe(true);
  } finally {
    jest.useRealTimers();
  }
});

it('steps the others while a guard hangs, and asks at most 16 times at once', async () => {
  const clock = settableClock();
  const errors: unknown[] = [];
  let asked: GuardedRollout[] = [];
  let answer: (rollout: GuardedRollout) => GuardAnswer | Promise<GuardAnswer> = () => 'go';
  const flags = await openFlags({
    ...SILENT,
    storage: memoryStorage(),
    now: clock.now,
    onError: (error) => errors.push(error),
    due: {
      run: 'elsewhere',
      guard(rollout) {
        asked.push(rollout);
        return answer(rollout);
      },
    },
  });
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'performance', 'queueMicrotask'] });
  try {
    const names = Array.from({ length: 20 }, (_, index) => `flag-${index + 10}`);
    for (const name of names) await flags.rollouts.start(await addGradual(flags, '1', name), STEPS);
    answer = ({ ref: { flag } }) => (flag === 'flag-10' ? new Promise<GuardAnswer>(() => undefined) : 'go');
    clock.advance(DAY);
    const hanging = round(flags);
    while (asked.length < 20) await jest.advanceTimersByTimeAsync(1);
    // Steps 19 flags, while the first one hangs.
    const reached = async (index: number) =>
      (await flags.rollouts.list()).items.filter(({ step }) => step === index).length;
    while ((await reached(1)) < 19) await jest.advanceTimersByTimeAsync(1);
    clock.advance(DAY);
    // A later look does not wait for it either, nor ask about it twice.
    const later = flags.runDue();
    while ((await reached(2)) < 19) await jest.advanceTimersByTimeAsync(1);
    expect(asked).toHaveLength(39);
    await jest.advanceTimersByTimeAsync(10_100);
    expect((await hanging).length).toBe(19);
    const moved = (await later).items.length;
    expect([moved, errors.map(String)]).toEqual([19, [expect.stringContaining('flag-10')]]);
    expect(errors).toHaveLength(1);
    answer = () => new Promise<GuardAnswer>(() => undefined);
    asked = [];
    clock.advance(DAY);
    const blocked = flags.runDue();
    while (asked.length < 16) await jest.advanceTimersByTimeAsync(1);
    await jest.advanceTimersByTimeAsync(100);
    expect(asked).toHaveLength(16);
    await jest.advanceTimersByTimeAsync(10_100);
    expect(asked).toHaveLength(20);
    await jest.advanceTimersByTimeAsync(10_100);
    expect((await blocked).items).toEqual([]);
  } finally {
    jest.useRealTimers();
  }
  await flags.close();
});
