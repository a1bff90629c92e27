import { setTimeout as sleep } from 'node:timers/promises';
import { type Change, createFlags, type Flags, FlagsError, LIMITS, memoryStorage } from '../../src/index.js';
import type { FlagsStorage } from '../../src/storage.js';
import { faultyStorage, testFlags } from '../../src/testing.js';
import { withFakeTime } from '../fake-time.js';
import { CHECKOUT, DEFAULT, PRODUCTION } from '../references.js';
import { refusalOf } from '../refusal.js';
import { SILENT } from '../replica/silent.js';
import { DAY, HOUR, SECOND, settableClock } from '../settable-clock.js';

const ENABLE: readonly Change[] = [{ op: 'enable', ref: PRODUCTION }];

async function addCheckout(flags: Flags): Promise<void> {
  await flags.createFlag(DEFAULT, { name: 'checkout' });
  await flags.addStrategy(PRODUCTION, { name: 'default' });
}

/** The storage, with the calls that read schedules. */
function watched(storage: FlagsStorage) {
  const reads: number[] = [];
  const list: FlagsStorage['list'] = (query) => {
    if (query.kind === 'schedule' && query.parent === 'open') reads.push(Date.now());
    return storage.list(query);
  };
  return { storage: { ...storage, list }, reads };
}

describe('a node with runSchedules: true', () => {
  it('applies by itself what is due, a past time at once, and shows what is pending', () =>
    withFakeTime(async (pass) => {
      const flags = await createFlags({ ...SILENT, storage: memoryStorage(), runSchedules: true });
      await addCheckout(flags);
      const due = await flags.createSchedule(ENABLE, { at: new Date(Date.now() + 150).toISOString() });
      await flags.createSchedule(ENABLE, { at: new Date(Date.now() + HOUR).toISOString() });
      await pass(149);
      expect(flags.status().due).toEqual({ pending: 2, overdue: 0, unguarded: 0 });
      expect(flags.isEnabled('checkout')).toBe(false);
      // Not only at the next poll, which comes after 5 seconds.
      await pass(1);
      expect(flags.isEnabled('checkout')).toBe(true);
      expect(await flags.getSchedule({ schedule: due.id })).toMatchObject({ state: 'applied', lateBy: 0 });
      expect(flags.status().due).toEqual({ pending: 1, overdue: 0, unguarded: 0 });
      const past = await flags.createSchedule([{ op: 'disable', ref: PRODUCTION }], {
        at: new Date(Date.now() - 1).toISOString(),
      });
      await pass(0);
      expect(await flags.getSchedule({ schedule: past.id })).toMatchObject({ state: 'applied' });
      await flags.close();
    }));

  it('carries out a schedule that becomes due during a round', () =>
    withFakeTime(async (pass) => {
      const clock = settableClock();
      const storage = memoryStorage();
      const list: FlagsStorage['list'] = (query) => {
        // A round reads the proposals after the schedules.
        if (query.kind === 'proposal') clock.advance(100);
        return storage.list(query);
      };
      const options = { ...SILENT, storage: { ...storage, list }, now: clock.now };
      const flags = await createFlags({ ...options, runSchedules: true });
      await addCheckout(flags);
      const made = await flags.createSchedule(ENABLE, { at: clock.text(100) });
      // Two rounds, the first of them at the start. The next poll comes after 5 seconds.
      for (const time of [0, 100, 1]) await pass(time);
      expect(await flags.getSchedule({ schedule: made.id })).toMatchObject({ state: 'applied' });
      await flags.close();
    }));

  it('carries out a schedule that was made while the node read the list', () =>
    withFakeTime(async (pass) => {
      let release: (() => void) | undefined;
      const inner = memoryStorage();
      const list: FlagsStorage['list'] = async (query) => {
        const page = await inner.list(query);
        const isFirstLook = query.kind === 'schedule' && query.parent === 'open' && !release;
        if (isFirstLook) await new Promise<void>((resolve) => (release = resolve));
        return page;
      };
      const flags = await createFlags({ ...SILENT, storage: { ...inner, list }, runSchedules: true });
      await pass(0);
      expect(release).toBeDefined();
      await addCheckout(flags);
      const made = await flags.createSchedule(ENABLE, { at: new Date(Date.now() + 200).toISOString() });
      release?.();
      for (const time of [0, 200]) await pass(time);
      expect(await flags.getSchedule({ schedule: made.id })).toMatchObject({ state: 'applied', lateBy: 0 });
      await flags.close();
    }));

  it('looks once a poll while nothing is due', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'performance', 'queueMicrotask'] });
    try {
      const { storage, reads } = watched(memoryStorage());
      const flags = await createFlags({ ...SILENT, storage, runSchedules: true });
      await addCheckout(flags);
      await flags.createSchedule(ENABLE, { at: new Date(Date.now() + HOUR).toISOString() });
      reads.length = 0;
      for (let second = 0; second < 60; second++) await jest.advanceTimersByTimeAsync(SECOND);
      expect(reads.length).toBeGreaterThanOrEqual(11);
      expect(reads.length).toBeLessThanOrEqual(13);
      await flags.close();
      reads.length = 0;
      await jest.advanceTimersByTimeAsync(60 * SECOND);
      expect(reads).toEqual([]);
    } finally {
      jest.useRealTimers();
    }
  });

  it('counts what is overdue', async () => {
    const clock = settableClock();
    const storage = memoryStorage();
    const flags = await createFlags({
      ...SILENT,
      storage,
      runSchedules: true,
      now: clock.now,
      authorizeDue: () => new Promise<boolean>(() => undefined),
    });
    await addCheckout(flags);
    await flags.createSchedule(ENABLE, { at: clock.text(SECOND) });
    clock.advance(11 * SECOND);
    expect(flags.status().due).toEqual({ pending: 1, overdue: 0, unguarded: 0 });
    clock.advance(SECOND);
    expect(flags.status().due).toEqual({ pending: 1, overdue: 1, unguarded: 0 });
    await flags.close();
  });

  it('shows and looks at nothing with another option', async () => {
    for (const runSchedules of [false, 'elsewhere'] as const) {
      const { storage, reads } = watched(memoryStorage());
      const flags = await createFlags({ ...SILENT, storage, runSchedules });
      expect(flags.status().due).toEqual(runSchedules ? { pending: 0, overdue: 0, unguarded: 0 } : undefined);
      await sleep(20);
      expect(reads).toEqual([]);
      await flags.close();
    }
    const flags = createFlags({ storage: memoryStorage(), runSchedules: 'here' as 'elsewhere' });
    expect((await refusalOf(flags)).details).toEqual([expect.objectContaining({ path: '/runSchedules' })]);
  });

  it('carries schedules of test flags out by runDue', async () => {
    const clock = settableClock();
    const flags = testFlags({ checkout: false }, { now: clock.now });
    await flags.createSchedule([{ op: 'archiveFlag', ref: CHECKOUT }], { at: clock.text(HOUR) });
    clock.advance(HOUR);
    expect((await flags.runDue()).items).toMatchObject([{ state: 'applied' }]);
    await flags.close();
  });
});

describe('a failure', () => {
  const clock = settableClock();

  async function open() {
    const faulty = faultyStorage(memoryStorage());
    const errors: unknown[] = [];
    const flags = await createFlags({
      ...SILENT,
      storage: faulty,
      now: clock.now,
      runSchedules: 'elsewhere',
      onError: (error) => errors.push(error),
    });
    await addCheckout(flags);
    return { faulty, errors, flags };
  }

  it.each(['storage_busy', 'storage_unavailable', 'outcome_unknown', 'too_much_contention'] as const)(
    'of the storage (%s) keeps schedules pending, and is reported once',
    async (code) => {
      const { faulty, errors, flags } = await open();
      const made = await flags.createSchedule(ENABLE, { at: clock.text() });
      const fault = faulty.inject({ method: 'commit', error: new FlagsError(code, 'An injected fault.') });
      for (let round = 0; round < 3; round++) expect(await flags.runDue()).toEqual({ items: [] });
      expect(errors).toEqual([expect.objectContaining({ code })]);
      fault.remove();
      expect(await flags.getSchedule({ schedule: made.id })).toMatchObject({ state: 'pending' });
      expect((await flags.runDue()).items).toMatchObject([{ id: made.id, state: 'applied' }]);
      await flags.close();
    },
  );

  it('of the storage lets the rest wait for the next poll', async () => {
    const { faulty, flags } = await open();
    await flags.createSchedule(ENABLE, { at: clock.text() });
    await flags.createSchedule([{ op: 'disable', ref: PRODUCTION }], { at: clock.text(1) });
    clock.advance(1);
    const fault = faulty.inject({ method: 'commit', times: 1, error: new FlagsError('storage_busy', 'Busy.') });
    expect(await flags.runDue()).toEqual({ items: [] });
    fault.remove();
    expect((await flags.runDue()).items).toMatchObject([{ state: 'applied' }, { state: 'applied' }]);
    expect(flags.isEnabled('checkout')).toBe(false);
    await flags.close();
  });

  it('that lost the answer to a commit applies nothing twice', async () => {
    const storage = memoryStorage();
    let isLost = false;
    const commit: FlagsStorage['commit'] = async (given) => {
      const result = await storage.commit(given);
      if (isLost) throw new FlagsError('outcome_unknown', 'The connection is lost.');
      return result;
    };
    const flags = await createFlags({
      ...SILENT,
      storage: { ...storage, commit },
      now: clock.now,
      runSchedules: 'elsewhere',
      onError: () => undefined,
    });
    await addCheckout(flags);
    const { id } = await flags.createSchedule(ENABLE, { at: clock.text() });
    isLost = true;
    expect(await flags.runDue()).toEqual({ items: [] });
    isLost = false;
    expect(await flags.runDue()).toEqual({ items: [] });
    expect(await flags.getSchedule({ schedule: id })).toMatchObject({
      state: 'applied',
      changeSet: expect.any(String),
    });
    expect((await flags.listEvents({ type: 'environment-enabled' })).total).toBe(1);
    await flags.close();
  });

  it('to list schedules rejects', async () => {
    const { faulty, flags } = await open();
    const fault = faulty.inject({ method: 'list', error: new FlagsError('storage_unavailable', 'Down.') });
    expect((await refusalOf(flags.runDue())).code).toBe('storage_unavailable');
    fault.remove();
    await flags.close();
  });
});

describe('many schedules', () => {
  it('are bounded: 1,000 pending ones, and 64 MiB of changes', async () => {
    const clock = settableClock();
    const storage = memoryStorage();
    const flags = await createFlags({ ...SILENT, storage, now: clock.now, runSchedules: 'elsewhere' });
    await addCheckout(flags);
    const options = { at: clock.text(HOUR) };
    const { id: first } = await flags.createSchedule(ENABLE, options);
    const stored = await storage.get({ kind: 'schedule', id: first });
    const copy = async (count: number, change: object) => {
      const writes = Array.from({ length: count }).map((_member, index) => {
        const id = `copy-${`${index}`.padStart(5, '0')}`;
        const body = { ...(stored?.body as object), id, ...change };
        const { changes: _, ...summary } = body as typeof body & { readonly changes?: unknown };
        const parent = 'endedAt' in change ? 'ended' : 'open';
        return { key: { kind: 'schedule', id }, expected: 0, parent, body, summary };
      });
      await storage.commit({ writes, events: [] });
      return writes.map(({ key }) => key);
    };
    const remove = (keys: readonly { readonly kind: string; readonly id: string }[]) =>
      storage.commit({ writes: keys.map((key) => ({ key, expected: 1, deleted: true as const })), events: [] });
    const copies = await copy(LIMITS.pendingSchedules - 2, {});
    const last = await flags.createSchedule(ENABLE, options);
    const refused = await refusalOf(flags.createSchedule(ENABLE, options));
    expect(refused.code).toBe('invalid_input');
    expect(refused.message).toContain('1000 schedules may be pending');
    await flags.cancelSchedule({ schedule: last.id });
    await flags.cancelSchedule({ schedule: (await flags.createSchedule(ENABLE, options)).id });
    await remove(copies);
    const large = await copy(64, { bytes: LIMITS.documentBytes });
    expect((await refusalOf(flags.createSchedule(ENABLE, options))).code).toBe('invalid_input');
    expect(large.length).toBe(64);
    await flags.close();
  });

  it('refuses one that does not fit a document', async () => {
    const clock = settableClock();
    const flags = await createFlags({ ...SILENT, storage: memoryStorage(), now: clock.now, runSchedules: 'elsewhere' });
    const changes = Array.from({ length: 120 }, (_, index): Change => {
      return { op: 'createFlag', ref: DEFAULT, input: { name: `flag-${index}`, description: 'x'.repeat(10_000) } };
    });
    expect((await refusalOf(flags.createSchedule(changes, { at: clock.text(HOUR) }))).code).toBe('document_too_large');
    await flags.close();
  });

  it('are deleted 90 days after their end; their events remain', async () => {
    const clock = settableClock();
    const flags = await createFlags({ ...SILENT, storage: memoryStorage(), now: clock.now, runSchedules: 'elsewhere' });
    await addCheckout(flags);
    const old = await flags.createSchedule(ENABLE, { at: clock.text() });
    await flags.runDue();
    clock.advance(89 * DAY);
    const recent = await flags.createSchedule(ENABLE, { at: clock.text() });
    await flags.runDue();
    expect((await flags.listSchedules()).items).toHaveLength(2);
    clock.advance(DAY + 1);
    await flags.runDue();
    expect((await flags.listSchedules()).items.map(({ id }) => id)).toEqual([recent.id]);
    expect((await refusalOf(flags.getSchedule({ schedule: old.id }))).code).toBe('schedule_not_found');
    expect((await flags.listEvents({ type: 'schedule-ended' })).total).toBe(2);
    await flags.close();
  });
});
