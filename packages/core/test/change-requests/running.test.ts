import { type Change, type Flags, FlagsError, LIMITS, memoryStorage, openFlags } from '../../src/index.js';
import type { FlagsStorage } from '../../src/storage.js';
import { faultyStorage, testFlags } from '../../src/testing.js';
import type { ChangeRequestRef } from '../../src/types.js';
import { withFakeTime } from '../fake-time.js';
import { CHECKOUT, DEFAULT, PRODUCTION } from '../references.js';
import { refusalOf } from '../refusal.js';
import { SILENT } from '../replica/silent.js';
import { DAY, HOUR, MINUTE, SECOND, settableClock } from '../settable-clock.js';

const ENABLE: readonly Change[] = [{ op: 'enable', ref: PRODUCTION }];

async function addCheckout(flags: Flags): Promise<void> {
  await flags.createFlag(DEFAULT, { name: 'checkout' });
  await flags.addStrategy(PRODUCTION, { name: 'default' });
}

/** The storage, with the calls that read change requests. */
function watched(storage: FlagsStorage) {
  const reads: number[] = [];
  const list: FlagsStorage['list'] = (query) => {
    if (query.kind === 'change-request' && query.parent === 'open') reads.push(Date.now());
    return storage.list(query);
  };
  return { storage: { ...storage, list }, reads };
}

describe('a node with due: { run: true }', () => {
  it('applies by itself what is due, a past time at once, and shows what is pending', () =>
    withFakeTime(async (pass) => {
      const flags = await openFlags({ ...SILENT, storage: memoryStorage(), due: { run: true } });
      await addCheckout(flags);
      const due = await flags.changeRequests.create(ENABLE, { at: new Date(Date.now() + 150).toISOString() });
      await flags.changeRequests.create(ENABLE, { at: new Date(Date.now() + HOUR).toISOString() });
      await pass(149);
      expect(flags.status().due).toEqual({ pending: 2, overdue: 0, unguarded: 0 });
      expect(flags.isEnabled('checkout')).toBe(false);
      // Not only at the next poll, which comes after 5 seconds.
      await pass(1);
      expect(flags.isEnabled('checkout')).toBe(true);
      expect(await flags.changeRequests.get({ changeRequest: due.id })).toMatchObject({ state: 'applied', lateBy: 0 });
      expect(flags.status().due).toEqual({ pending: 1, overdue: 0, unguarded: 0 });
      const past = await flags.changeRequests.create([{ op: 'disable', ref: PRODUCTION }], {
        at: new Date(Date.now() - 1).toISOString(),
      });
      await pass(0);
      expect(await flags.changeRequests.get({ changeRequest: past.id })).toMatchObject({ state: 'applied' });
      await flags.close();
    }));

  it('applies a request that becomes due during a round', () =>
    withFakeTime(async (pass) => {
      const clock = settableClock();
      const storage = memoryStorage();
      const list: FlagsStorage['list'] = (query) => {
        const page = storage.list(query);
        // Each look at the open requests takes time.
        if (query.kind === 'change-request' && query.parent === 'open') clock.advance(100);
        return page;
      };
      const options = { ...SILENT, storage: { ...storage, list }, now: clock.now };
      const flags = await openFlags({ ...options, due: { run: true } });
      await addCheckout(flags);
      const made = await flags.changeRequests.create(ENABLE, { at: clock.text(100) });
      // Two rounds, the first of them at the start. The next poll comes after 5 seconds.
      for (const time of [0, 100, 1]) await pass(time);
      expect(await flags.changeRequests.get({ changeRequest: made.id })).toMatchObject({ state: 'applied' });
      await flags.close();
    }));

  it('applies a request that was made while the node read the list', () =>
    withFakeTime(async (pass) => {
      let release: (() => void) | undefined;
      const inner = memoryStorage();
      const list: FlagsStorage['list'] = async (query) => {
        const page = await inner.list(query);
        const isFirstLook = query.kind === 'change-request' && query.parent === 'open' && !release;
        if (isFirstLook) await new Promise<void>((resolve) => (release = resolve));
        return page;
      };
      const flags = await openFlags({ ...SILENT, storage: { ...inner, list }, due: { run: true } });
      await pass(0);
      expect(release).toBeDefined();
      await addCheckout(flags);
      const made = await flags.changeRequests.create(ENABLE, { at: new Date(Date.now() + 200).toISOString() });
      release?.();
      for (const time of [0, 200]) await pass(time);
      expect(await flags.changeRequests.get({ changeRequest: made.id })).toMatchObject({ state: 'applied', lateBy: 0 });
      await flags.close();
    }));

  it('looks once a poll while nothing is due', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'performance', 'queueMicrotask'] });
    try {
      const { storage, reads } = watched(memoryStorage());
      const flags = await openFlags({ ...SILENT, storage, due: { run: true } });
      await addCheckout(flags);
      await flags.changeRequests.create(ENABLE, { at: new Date(Date.now() + HOUR).toISOString() });
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
    const flags = await openFlags({
      ...SILENT,
      storage,
      due: { run: true, authorize: () => new Promise<boolean>(() => undefined) },
      now: clock.now,
    });
    await addCheckout(flags);
    await flags.changeRequests.create(ENABLE, { at: clock.text(SECOND) });
    clock.advance(11 * SECOND);
    expect(flags.status().due).toEqual({ pending: 1, overdue: 0, unguarded: 0 });
    clock.advance(SECOND);
    expect(flags.status().due).toEqual({ pending: 1, overdue: 1, unguarded: 0 });
    await flags.close();
  });

  it.each<[string, (flags: Flags<string>, ref: ChangeRequestRef) => Promise<unknown>]>([
    ['applied', (flags, ref) => flags.changeRequests.apply(ref)],
    ['withdrawn', (flags, ref) => flags.changeRequests.withdraw(ref)],
    ['replaced', (flags, { changeRequest }) => flags.changeRequests.create(ENABLE, { replaces: changeRequest })],
  ])('counts no request that was %s before its time', async (_, end) => {
    const flags = await openFlags({ ...SILENT, storage: memoryStorage() });
    await addCheckout(flags);
    const { id } = await flags.changeRequests.create(ENABLE, { at: new Date(Date.now() + HOUR).toISOString() });
    expect(flags.status().due).toMatchObject({ pending: 1 });
    await end(flags, { changeRequest: id });
    expect(flags.status().due).toMatchObject({ pending: 0 });
    await flags.close();
  });

  it('counts nothing with due: { run: false }, and looks once a minute for what time has ended', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'performance', 'queueMicrotask'] });
    try {
      for (const run of [false, 'elsewhere'] as const) {
        const { storage, reads } = watched(memoryStorage());
        const flags = await openFlags({ ...SILENT, storage, pollInterval: 1000, due: { run } });
        expect('due' in flags.status()).toBe(run === 'elsewhere');
        for (let second = 0; second < 150; second++) await jest.advanceTimersByTimeAsync(SECOND);
        expect(reads.length).toBe(3);
        await flags.close();
      }
    } finally {
      jest.useRealTimers();
    }
  });

  it.each([
    [{ run: 'here' }, '/due/run'],
    [{ authorize: true }, '/due/authorize'],
    [{ guard: 'go' }, '/due/guard'],
    [{ runs: true }, '/due'],
    [true, '/due'],
  ])('refuses the option %j', async (due, path) => {
    const { details, message } = await refusalOf(openFlags({ storage: memoryStorage(), due: due as never }));
    expect(details).toEqual([expect.objectContaining({ path })]);
    expect(message).toContain('due');
  });

  it.each(['runSchedules', 'authorizeDue', 'rolloutGuard'])('refuses the earlier option %s', async (name) => {
    const options = { storage: memoryStorage(), [name]: true } as never;
    expect((await refusalOf(openFlags(options))).message).toContain(name);
  });

  it('does what is due for test flags, by runDue', async () => {
    const clock = settableClock();
    const flags = testFlags({ checkout: false }, { now: clock.now });
    await flags.changeRequests.create([{ op: 'archiveFlag', ref: CHECKOUT }], { at: clock.text(HOUR) });
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
    const flags = await openFlags({
      ...SILENT,
      storage: faulty,
      now: clock.now,
      due: { run: 'elsewhere' },
      onError: (error) => errors.push(error),
    });
    await addCheckout(flags);
    return { faulty, errors, flags };
  }

  it.each(['storage_busy', 'storage_unavailable', 'outcome_unknown', 'too_much_contention'] as const)(
    'of the storage (%s) keeps requests open, and is reported once',
    async (code) => {
      const { faulty, errors, flags } = await open();
      const made = await flags.changeRequests.create(ENABLE, { at: clock.text() });
      const fault = faulty.inject({ method: 'commit', error: new FlagsError(code, 'An injected fault.') });
      for (let round = 0; round < 3; round++) expect(await flags.runDue()).toEqual({ items: [] });
      expect(errors).toEqual([expect.objectContaining({ code })]);
      fault.remove();
      expect(await flags.changeRequests.get({ changeRequest: made.id })).toMatchObject({ state: 'approved' });
      expect((await flags.runDue()).items).toMatchObject([{ id: made.id, state: 'applied' }]);
      await flags.close();
    },
  );

  it('of the storage rejects a read of what a request would do, and does not look like a refusal', async () => {
    const { faulty, flags } = await open();
    await flags.approvalPolicy.set({ environments: { production: { required: 1 } } });
    const { id } = await flags.changeRequests.create([{ op: 'enable', ref: PRODUCTION }]);
    const error = new FlagsError('storage_unavailable', 'An injected fault.');
    const fault = faulty.inject({ method: 'events', error });
    await expect(flags.changeRequests.get({ changeRequest: id })).rejects.toBe(error);
    fault.remove();
    expect(await flags.changeRequests.get({ changeRequest: id })).toMatchObject({ effect: expect.any(String) });
    await flags.close();
  });

  it('of the storage lets the rest wait for the next poll', async () => {
    const { faulty, flags } = await open();
    await flags.changeRequests.create(ENABLE, { at: clock.text() });
    await flags.changeRequests.create([{ op: 'disable', ref: PRODUCTION }], { at: clock.text(1) });
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
    const flags = await openFlags({
      ...SILENT,
      storage: { ...storage, commit },
      now: clock.now,
      due: { run: 'elsewhere' },
      onError: () => undefined,
    });
    await addCheckout(flags);
    const { id } = await flags.changeRequests.create(ENABLE, { at: clock.text() });
    isLost = true;
    expect(await flags.runDue()).toEqual({ items: [] });
    isLost = false;
    expect(await flags.runDue()).toEqual({ items: [] });
    expect(await flags.changeRequests.get({ changeRequest: id })).toMatchObject({
      state: 'applied',
      changeSet: expect.any(String),
    });
    expect((await flags.events.list({ type: 'environment-enabled' })).total).toBe(1);
    await flags.close();
  });

  it('to list requests rejects', async () => {
    const { faulty, flags } = await open();
    const fault = faulty.inject({ method: 'list', error: new FlagsError('storage_unavailable', 'Down.') });
    expect((await refusalOf(flags.runDue())).code).toBe('storage_unavailable');
    fault.remove();
    await flags.close();
  });
});

describe('many requests', () => {
  it('are bounded: 1,000 that wait, and 64 MiB of changes', async () => {
    const clock = settableClock();
    const storage = memoryStorage();
    const flags = await openFlags({ ...SILENT, storage, now: clock.now, due: { run: 'elsewhere' } });
    await addCheckout(flags);
    const options = { at: clock.text(HOUR) };
    const make = (name: string) => flags.as(name).changeRequests.create(ENABLE, options);
    const { id: first } = await make('first');
    const stored = await storage.get({ kind: 'change-request', id: first });
    const copy = async (count: number, change: object) => {
      const writes = Array.from({ length: count }).map((_member, index) => {
        const id = `copy-${`${index}`.padStart(5, '0')}`;
        const body = { ...(stored?.body as object), id, author: { name: `copy ${index}` }, ...change };
        const { changes: _, ...summary } = body as typeof body & { readonly changes?: unknown };
        return { key: { kind: 'change-request', id }, expected: 0, parent: 'open', body, summary };
      });
      await storage.commit({ writes, events: [] });
      return writes.map(({ key }) => key);
    };
    const remove = (keys: readonly { readonly kind: string; readonly id: string }[]) =>
      storage.commit({ writes: keys.map((key) => ({ key, expected: 1, deleted: true as const })), events: [] });
    const copies = await copy(LIMITS.waitingRequests - 2, {});
    const last = await make('last');
    const refused = await refusalOf(make('one'));
    expect(refused.code).toBe('invalid_input');
    expect(refused.message).toContain('at most 1000 change requests wait');
    // One that takes the place of another fits.
    const { id: other } = await flags.as('one').changeRequests.create(ENABLE, { ...options, replaces: last.id });
    expect((await flags.changeRequests.get({ changeRequest: last.id })).state).toBe('withdrawn');
    await flags.changeRequests.withdraw({ changeRequest: other });
    await remove(copies);
    const large = await copy(64, { bytes: LIMITS.documentBytes });
    expect((await refusalOf(make('one'))).code).toBe('invalid_input');
    expect(large.length).toBe(64);
    await flags.close();
  });

  it('of one person are bounded, with those of her tokens, so that others find room', async () => {
    const clock = settableClock();
    const flags = await openFlags({ ...SILENT, storage: memoryStorage(), now: clock.now });
    await addCheckout(flags);
    const ada = flags.as({ name: 'Ada', id: 7 });
    const { token } = await ada.tokens.create({ name: 'ci', kind: 'admin' });
    for (let count = 0; count < LIMITS.waitingRequestsPerPerson; count++) {
      await (count % 2 === 0 ? ada : flags.as(token)).changeRequests.create(ENABLE);
    }
    for (const author of [ada, flags.as(token), flags.as({ name: 'Ada Lovelace', id: '7' })]) {
      const { code, message } = await refusalOf(author.changeRequests.create(ENABLE));
      expect([code, message]).toEqual(['invalid_input', expect.stringContaining('at most 100 change requests of one')]);
    }
    await flags.as({ name: 'Ada', id: 8 }).changeRequests.create(ENABLE);
    // Time makes room.
    clock.advance(14 * DAY);
    await ada.changeRequests.create(ENABLE);
    await flags.close();
  });

  it('of one person are bounded, also if she makes them at once', async () => {
    const flags = await openFlags({ ...SILENT, storage: memoryStorage() });
    await addCheckout(flags);
    const ada = flags.as({ name: 'Ada', id: 7 });
    const calls = Array.from({ length: 120 }, () => ada.changeRequests.create(ENABLE));
    const made = (await Promise.allSettled(calls)).filter(({ status }) => status === 'fulfilled');
    expect(made).toHaveLength(LIMITS.waitingRequestsPerPerson);
    await flags.close();
  });

  it('refuse one that does not fit a document', async () => {
    const flags = await openFlags({ ...SILENT, storage: memoryStorage() });
    const changes = Array.from({ length: 120 }, (_, index): Change => {
      return { op: 'createFlag', ref: DEFAULT, input: { name: `flag-${index}`, description: 'x'.repeat(10_000) } };
    });
    expect((await refusalOf(flags.changeRequests.create(changes))).code).toBe('document_too_large');
    await flags.close();
  });

  it('are deleted 90 days after their end; their events remain', async () => {
    const clock = settableClock();
    const flags = await openFlags({ ...SILENT, storage: memoryStorage(), now: clock.now, due: { run: 'elsewhere' } });
    await addCheckout(flags);
    const old = await flags.changeRequests.create(ENABLE, { at: clock.text() });
    await flags.runDue();
    clock.advance(89 * DAY);
    const recent = await flags.changeRequests.create(ENABLE, { at: clock.text() });
    await flags.runDue();
    expect((await flags.changeRequests.list()).items).toHaveLength(2);
    clock.advance(DAY + 1);
    await flags.runDue();
    expect((await flags.changeRequests.list()).items.map(({ id }) => id)).toEqual([recent.id]);
    expect((await refusalOf(flags.changeRequests.get({ changeRequest: old.id }))).code).toBe(
      'change_request_not_found',
    );
    expect((await flags.events.list({ type: 'change-request-ended' })).total).toBe(2);
    await flags.close();
  });

  it('expire and are deleted on a node that does nothing that is due, unless it cannot write', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'performance', 'queueMicrotask'] });
    try {
      const clock = settableClock();
      const storage = faultyStorage(memoryStorage());
      const errors: unknown[] = [];
      const options = { ...SILENT, storage, now: clock.now, due: {}, pollInterval: 1000 };
      const flags = await openFlags({ ...options, onError: (error) => errors.push(error) });
      await addCheckout(flags);
      const { id, expiresAt } = await flags.changeRequests.create(ENABLE);
      clock.advance(14 * DAY);
      const full = storage.inject({ method: 'commit', error: new FlagsError('storage_unavailable', 'Read-only.') });
      await jest.advanceTimersByTimeAsync(5 * SECOND);
      full.remove();
      expect([full.strikes() > 0, errors]).toEqual([true, []]);
      expect((await flags.changeRequests.get({ changeRequest: id })).state).toBe('expired');
      expect((await flags.events.list({ type: 'change-request-ended' })).items).toEqual([]);
      clock.advance(MINUTE);
      await jest.advanceTimersByTimeAsync(5 * SECOND);
      const [ended] = (await flags.events.list({ type: 'change-request-ended' })).items;
      expect(ended).toMatchObject({ actor: 'system', data: { id, state: 'expired', endedAt: expiresAt } });
      clock.advance(90 * DAY + 1);
      await jest.advanceTimersByTimeAsync(5 * SECOND);
      expect((await flags.changeRequests.list()).items).toEqual([]);
      await flags.close();
    } finally {
      jest.useRealTimers();
    }
  });
});
