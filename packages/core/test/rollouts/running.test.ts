import { until } from '../../../../test/until.js';
import { createFlags, FlagsError, LIMITS, memoryStorage } from '../../src/index.js';
import { faultyStorage } from '../../src/testing.js';
import { withFakeTime } from '../fake-time.js';
import { PRODUCTION } from '../references.js';
import { refusalOf } from '../refusal.js';
import { SILENT } from '../replica/silent.js';
import { DAY, HOUR, MINUTE, SECOND, settableClock } from '../settable-clock.js';
import { addGradual, percentage, round, STEPS } from './start.js';

describe('a node with runSchedules: true', () => {
  it('takes by itself the steps that are due, each at its time', () =>
    withFakeTime(async (pass) => {
      const flags = await createFlags({ ...SILENT, storage: memoryStorage(), runSchedules: true });
      const ref = await addGradual(flags);
      const steps = [{ rollout: 5, hold: 100 }, { rollout: 25, hold: 100 }, { rollout: 100 }];
      const { id } = await flags.startRollout(ref, { steps });
      const taken: unknown[] = [];
      // Not only at the next poll, which comes after 5 seconds.
      for (const time of [99, 1, 99, 1]) {
        await pass(time);
        taken.push(await percentage(flags));
      }
      expect(taken).toEqual(['5', '25', '25', '100']);
      expect((await flags.listEvents({ type: 'rollout-stepped' })).total).toBe(2);
      await pass(1);
      expect(await flags.getRollout({ rollout: id })).toMatchObject({ state: 'done' });
      await flags.close();
    }));

  it('ends a rollout as soon as its replica brings a change of the flag', () =>
    withFakeTime(async (pass) => {
      const flags = await createFlags({ ...SILENT, storage: memoryStorage(), runSchedules: true });
      const ref = await addGradual(flags);
      const { id } = await flags.startRollout(ref, STEPS);
      await flags.disable(PRODUCTION);
      await pass(1);
      expect(await flags.getRollout({ rollout: id })).toMatchObject({ state: 'ended' });
      await flags.close();
    }));

  it('carries schedules out while a guard hangs', async () => {
    const guard = jest.fn(() => new Promise<'go'>(() => undefined));
    const options = { storage: memoryStorage(), runSchedules: true, rolloutGuard: guard } as const;
    const flags = await createFlags({ ...SILENT, ...options });
    const ref = await addGradual(flags);
    await flags.startRollout(ref, { steps: [{ rollout: 5, hold: 0 }, { rollout: 100 }] });
    await until(() => guard.mock.calls.length > 0);
    const { id } = await flags.createSchedule([{ op: 'disable', ref: PRODUCTION }], { at: new Date().toISOString() });
    await until(async () => (await flags.getSchedule({ schedule: id })).state === 'applied');
    expect(guard).toHaveBeenCalledTimes(1);
    await flags.close();
  });

  it('tells which rollouts wait for another process with a guard', async () => {
    const flags = await createFlags({ ...SILENT, storage: memoryStorage(), runSchedules: true });
    const ref = await addGradual(flags);
    const rollout = await flags.startRollout(ref, { steps: [{ rollout: 5, hold: 0 }, { rollout: 9 }], guarded: true });
    expect(flags.status().schedules).toEqual({ pending: 0, overdue: 0, unguarded: 1 });
    await flags.pauseRollout({ rollout: rollout.id });
    expect(flags.status().schedules).toEqual({ pending: 0, overdue: 0, unguarded: 0 });
    expect(await percentage(flags)).toBe('5');
    await flags.close();
  });

  it('looks once a poll while nothing is due', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'performance', 'queueMicrotask'] });
    try {
      const storage = memoryStorage();
      let reads = 0;
      const list: typeof storage.list = (query) => {
        if (query.kind === 'rollout') reads += 1;
        return storage.list(query);
      };
      const flags = await createFlags({ ...SILENT, storage: { ...storage, list }, runSchedules: true });
      await flags.startRollout(await addGradual(flags), STEPS);
      await jest.advanceTimersByTimeAsync(5 * SECOND);
      reads = 0;
      for (let second = 0; second < 60; second++) await jest.advanceTimersByTimeAsync(SECOND);
      expect(reads).toBeGreaterThanOrEqual(11);
      expect(reads).toBeLessThanOrEqual(13);
      await flags.close();
      reads = 0;
      await jest.advanceTimersByTimeAsync(MINUTE);
      expect(reads).toBe(0);
    } finally {
      jest.useRealTimers();
    }
  });
});

describe('a failure', () => {
  it('of the storage leaves the rollout as it is, and the next round takes the step', async () => {
    const clock = settableClock();
    const faulty = faultyStorage(memoryStorage());
    const errors: unknown[] = [];
    const onError = (error: unknown) => errors.push(error);
    const flags = await createFlags({ ...SILENT, storage: faulty, now: clock.now, onError });
    const ref = await addGradual(flags);
    const { id } = await flags.startRollout(ref, STEPS);
    clock.advance(DAY);
    const fault = faulty.inject({ method: 'commit', error: new FlagsError('storage_busy', 'Busy.') });
    expect(await round(flags)).toEqual([]);
    expect(await round(flags)).toEqual([]);
    expect(errors).toMatchObject([{ code: 'storage_busy' }]);
    fault.remove();
    expect(await flags.getRollout({ rollout: id })).toMatchObject({ state: 'running', step: 0, failure: null });
    expect(await round(flags)).toEqual([['running', 1]]);
    await flags.close();
  });

  it('of `authorizeDue` leaves it as it is too', async () => {
    const clock = settableClock();
    const errors: unknown[] = [];
    let answer: () => Promise<boolean> = () => Promise.reject(new Error('no users'));
    const options = { now: clock.now, onError: (error: unknown) => errors.push(error), authorizeDue: () => answer() };
    const flags = await createFlags({ ...SILENT, storage: memoryStorage(), ...options });
    await flags.startRollout(await addGradual(flags), STEPS);
    clock.advance(DAY);
    for (let turn = 0; turn < 3; turn++) expect(await round(flags)).toEqual([]);
    expect(errors.map(String)).toEqual([expect.stringContaining('authorizeDue failed (Error: no users)')]);
    answer = async () => true;
    expect(await round(flags)).toEqual([['running', 1]]);
    await flags.close();
  });
});

it('refuses the rollout beyond 1,000 active ones', async () => {
  const flags = await createFlags({ ...SILENT, storage: memoryStorage() });
  const { strategy: _strategy, ...environment } = await addGradual(flags);
  const started: string[] = [];
  const strategies = Array.from({ length: LIMITS.strategiesPerEnvironment }, () => ({
    name: 'flexibleRollout' as const,
    parameters: { rollout: '1' },
  }));
  const flagsNeeded = Math.ceil((LIMITS.activeRollouts + 1) / strategies.length);
  let refused: unknown;
  for (let index = 0; index < flagsNeeded; index++) {
    const flag = `flag-${index}`;
    await flags.createFlag({ project: 'default' }, { name: flag });
    const ref = { ...environment, flag };
    const configured = await flags.configureEnvironment(ref, { enabled: true, strategies });
    for (const { id } of configured.strategies) {
      const starting = flags.startRollout({ ...ref, strategy: id }, { steps: [{ rollout: 5, hold: HOUR }] });
      if (started.length < LIMITS.activeRollouts) started.push((await starting).id);
      else refused ??= await refusalOf(starting);
    }
  }
  expect(started).toHaveLength(LIMITS.activeRollouts);
  expect(refused).toMatchObject({
    code: 'invalid_input',
    details: [{ message: expect.stringContaining('at most 1000') }],
  });
  await flags.stopRollout({ rollout: `${started[0]}` });
  await flags.close();
}, 60_000);
