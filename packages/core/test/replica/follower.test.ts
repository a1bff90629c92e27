import { until } from '../../../../test/until.js';
import { type Flags, type FlagsOptions, memoryStorage, openFlags } from '../../src/index.js';
import type { FlagsStorage } from '../../src/storage/port.js';
import { type FaultyStorage, faultyStorage } from '../../src/testing.js';
import { CHECKOUT, DEFAULT, PRODUCTION } from '../references.js';
import { settableClock } from '../settable-clock.js';
import { temporaryDirectory } from '../storage/temporary-directory.js';
import { runToItsEnd } from './child-run.js';
import { openOnOneFile } from './on-one-file.js';
import { SILENT } from './silent.js';
import { createSwitchedOn, onlyFor } from './switched-on.js';

describe('following the feed', () => {
  /** A feed that returns every page backwards and every event twice, as no storage may. */
  function disorderly(storage: FlagsStorage): FlagsStorage {
    return {
      get: (key) => storage.get(key),
      list: (query) => storage.list(query),
      commit: (commit) => storage.commit(commit),
      close: () => storage.close(),
      async events(query) {
        const { events } = await storage.events(query);
        return { events: query.order === 'newest-first' ? events : [...events, ...events].reverse() };
      },
    };
  }

  /** A storage that records the names of the documents that are read one by one. */
  function observing(storage: FlagsStorage): { readonly storage: FlagsStorage; readonly read: string[] } {
    const read: string[] = [];
    const get: FlagsStorage['get'] = (key) => {
      read.push(key.id);
      return storage.get(key);
    };
    return { storage: { ...storage, get }, read };
  }

  it('ends at the same state in whatever order, and however often, events arrive', async () => {
    const shared = memoryStorage();
    const writer = await openFlags({ ...SILENT, storage: shared });
    const reader = await openFlags({ ...SILENT, storage: disorderly(shared) });
    await createSwitchedOn(writer, { flag: 'checkout' });
    await createSwitchedOn(writer, { flag: 'second' });
    await writer.archiveFlag(CHECKOUT);
    await writer.deleteFlag({ flag: 'checkout' });
    await createSwitchedOn(writer, { flag: 'checkout', strategies: [onlyFor('ada')] });
    await writer.disable({ ...PRODUCTION, flag: 'second' });
    await reader.refresh();
    expect(reader.configuration().flags).toEqual(writer.configuration().flags);
    expect([reader.isEnabled('checkout'), reader.isEnabled('checkout', { userId: 'ada' })]).toEqual([false, true]);
    await writer.close();
  });

  it('reads a document once, however many pages of events name it', async () => {
    const shared = memoryStorage();
    const { storage: observed, read } = observing(shared);
    const writer = await openFlags({ ...SILENT, storage: shared });
    const reader = await openFlags({ ...SILENT, storage: observed });
    await createSwitchedOn(writer, { flag: 'checkout' });
    for (let change = 0; change < 1_200; change++) await writer.updateFlag(CHECKOUT, { description: `${change}` });
    read.length = 0;
    await reader.refresh();
    expect(read).toEqual(['checkout']);
    expect(reader.configuration().flags).toEqual(writer.configuration().flags);
    await writer.close();
  });

  it('reads a document once, however many events name it', async () => {
    const shared = memoryStorage();
    const { storage: observed, read } = observing(shared);
    const writer = await openFlags({ ...SILENT, storage: shared });
    const reader = await openFlags({ ...SILENT, storage: observed });
    await createSwitchedOn(writer, { flag: 'checkout' });
    for (const flag of ['blue', 'green']) await writer.setVariants(CHECKOUT, [{ name: flag }]);
    read.length = 0;
    await reader.refresh();
    await reader.refresh();
    expect(read).toEqual(['checkout']);
    await writer.close();
  });

  it('does not read changes of this process', async () => {
    const shared = memoryStorage();
    const { storage: observed, read } = observing(shared);
    const flags = await openFlags({ ...SILENT, storage: observed });
    await createSwitchedOn(flags, { flag: 'checkout' });
    read.length = 0;
    await flags.refresh();
    expect(read).toEqual([]);
    await flags.close();
  });
});

describe('another instance on the same file', () => {
  const NOBODY = [{ contextName: 'userId', operator: 'IN' as const, values: ['nobody'] }];

  const open = openOnOneFile();

  async function writerAndReader() {
    const writer = await open(SILENT);
    await createSwitchedOn(writer, { flag: 'checkout' });
    return { writer, reader: await open(SILENT) };
  }

  it('has all flags when it opens', async () => {
    const { reader } = await writerAndReader();
    expect([reader.isEnabled('checkout'), reader.status().state]).toEqual([true, 'current']);
  });

  it('sees a change after a refresh, and not before', async () => {
    const { writer, reader } = await writerAndReader();
    await writer.disable(PRODUCTION);
    expect(reader.isEnabled('checkout')).toBe(true);
    expect(await reader.refresh()).toMatchObject({ state: 'current' });
    expect(reader.isEnabled('checkout')).toBe(false);
  });

  it('sees changes of another instance to the flag that it changes itself', async () => {
    const { writer, reader } = await writerAndReader();
    await writer.setVariants(CHECKOUT, [{ name: 'blue' }]);
    expect(reader.getVariant('checkout').name).toBe('disabled');
    await reader.updateFlag(CHECKOUT, { description: 'Pays' });
    expect(reader.getVariant('checkout').name).toBe('blue');
    await writer.refresh();
    expect(reader.configuration().flags).toEqual(writer.configuration().flags);
  });

  it('sees a change by polling, in both directions', async () => {
    const writer = await open(SILENT);
    const reader = await open({ ...SILENT, pollInterval: 5 });
    await createSwitchedOn(writer, { flag: 'checkout' });
    await until(() => reader.isEnabled('checkout'));
    await writer.disable(PRODUCTION);
    await until(() => !reader.isEnabled('checkout'));
    await createSwitchedOn(reader, { flag: 'second' });
    await writer.refresh();
    expect(writer.isEnabled('second')).toBe(true);
  });

  it('sees a flag that was deleted, and one created under its name', async () => {
    const { writer, reader } = await writerAndReader();
    await writer.archiveFlag(CHECKOUT);
    await writer.deleteFlag({ flag: 'checkout' });
    await reader.refresh();
    expect(reader.isEnabled('checkout', {}, { fallback: true })).toBe(true);
    await createSwitchedOn(writer, { flag: 'checkout', strategies: [onlyFor('ada')] });
    await reader.refresh();
    expect([reader.isEnabled('checkout'), reader.isEnabled('checkout', { userId: 'ada' })]).toEqual([false, true]);
  });

  it('sees a flag that was deleted and created again between two refreshes', async () => {
    const { writer, reader } = await writerAndReader();
    await writer.archiveFlag(CHECKOUT);
    await writer.deleteFlag({ flag: 'checkout' });
    await createSwitchedOn(writer, { flag: 'checkout', strategies: [onlyFor('ada')] });
    await reader.refresh();
    expect(reader.configuration()).toEqual({ ...writer.configuration(), version: expect.any(Number) });
  });

  it('sees segments and dependencies change', async () => {
    const { writer, reader } = await writerAndReader();
    const { id } = await writer.segments.create({ name: 'beta', constraints: [] });
    await createSwitchedOn(writer, { flag: 'payments', strategies: [{ name: 'default', segments: [id] }] });
    await writer.addDependency(CHECKOUT, { flag: 'payments' });
    await reader.refresh();
    expect(reader.isEnabled('checkout')).toBe(true);
    await writer.segments.update({ segment: id }, { constraints: NOBODY });
    await reader.refresh();
    expect(reader.isEnabled('checkout')).toBe(false);
  });

  it('reads more changes than fit into one read', async () => {
    const { writer, reader } = await writerAndReader();
    const names = Array.from({ length: 1001 }, (_, at) => `flag-${at}`);
    await Promise.all(names.map((name) => writer.createFlag(DEFAULT, { name })));
    await reader.refresh();
    expect(reader.configuration().flags).toEqual(writer.configuration().flags);
  });

  it('changes a state that it has not seen yet', async () => {
    const { writer, reader } = await writerAndReader();
    await writer.setVariants(CHECKOUT, [{ name: 'blue' }]);
    await reader.updateFlag(CHECKOUT, { description: 'of the reader' });
    expect(reader.getVariant('checkout').name).toBe('blue');
    await reader.refresh();
    await writer.refresh();
    expect(reader.configuration().flags).toEqual(writer.configuration().flags);
  });

  it('keeps its stamp after changes of other instances without an effect on evaluation', async () => {
    const { writer, reader } = await writerAndReader();
    const before = reader.configuration();
    await writer.createProject({ id: 'second', name: 'Second' });
    await writer.addMember(DEFAULT, { userId: 7, roleId: 4 });
    await reader.refresh();
    expect(reader.configuration()).toBe(before);
  });
});

describe('an instance whose polls have failed for a long time', () => {
  const FAILURE = new Error('The disk is gone.');
  const INTERVAL = 1000;

  const heard: string[] = [];
  let storage: FaultyStorage;
  let writer: Flags;
  let reader: Flags;

  beforeEach(async () => {
    const shared = memoryStorage();
    storage = faultyStorage(shared);
    writer = await openFlags({ ...SILENT, storage: shared });
    await createSwitchedOn(writer, { flag: 'checkout' });
    jest.useFakeTimers();
    reader = await openFlags({ ...SILENT, storage, pollInterval: INTERVAL, onError: () => undefined });
    reader.subscribe((event) => void heard.push(event.type));
    storage.inject({ error: FAILURE });
    await jest.advanceTimersByTimeAsync(120 * INTERVAL);
    storage.heal();
  });
  afterEach(async () => {
    storage.heal();
    jest.useRealTimers();
    await reader.close();
    await writer.close();
  });

  it('polls at its interval again after any successful call to the storage', async () => {
    expect(await reader.refresh()).toMatchObject({ state: 'current' });
    storage.inject({ error: FAILURE });
    await jest.advanceTimersByTimeAsync(INTERVAL);
    expect(reader.status()).toMatchObject({ state: 'stale', error: FAILURE });
  });

  it('does not read after it is closed, although a call has just succeeded', async () => {
    const told: unknown[] = [];
    const other = await openFlags({
      ...SILENT,
      storage,
      pollInterval: INTERVAL,
      onError: (error) => told.push(error),
    });
    storage.inject({ error: FAILURE });
    await jest.advanceTimersByTimeAsync(10 * INTERVAL);
    storage.heal();
    const refreshed = other.refresh();
    await other.close();
    await refreshed;
    await jest.advanceTimersByTimeAsync(60 * INTERVAL);
    expect(told).toEqual([FAILURE]);
  });

  it('sends events to its listeners at its interval again after its own change', async () => {
    await reader.createFlag({ project: 'default' }, { name: 'own' });
    await jest.advanceTimersByTimeAsync(0);
    heard.length = 0;
    await writer.setVariants(CHECKOUT, [{ name: 'blue' }]);
    await jest.advanceTimersByTimeAsync(INTERVAL);
    expect(heard).toEqual(['variants-updated']);
  });
});

describe('a storage that notifies of changes', () => {
  /** A storage whose watchers the test notifies. */
  function watched(storage: FlagsStorage) {
    const watchers = new Set<() => void>();
    return {
      watchers,
      tell: () => {
        for (const onChange of watchers) onChange();
      },
      storage: {
        ...storage,
        watch(onChange: () => void) {
          watchers.add(onChange);
          return () => void watchers.delete(onChange);
        },
      },
    };
  }

  it('updates evaluation and subscriptions at once, without polling', async () => {
    const shared = memoryStorage();
    const { storage, tell } = watched(shared);
    const writer = await openFlags({ ...SILENT, storage: shared, pollInterval: 0 });
    const reader = await openFlags({ ...SILENT, storage, pollInterval: 0 });
    const heard: string[] = [];
    reader.subscribe((event) => void heard.push(event.type));
    await createSwitchedOn(writer, { flag: 'checkout' });
    expect(reader.isEnabled('checkout')).toBe(false);
    tell();
    await until(() => reader.isEnabled('checkout') && heard.includes('flag-created'));
    await reader.close();
  });

  it('is no longer watched after the flags are closed', async () => {
    const { storage, watchers } = watched(memoryStorage());
    const flags = await openFlags({ ...SILENT, storage });
    expect(watchers.size).toBe(1);
    await flags.close();
    expect(watchers.size).toBe(0);
  });
});

describe('the timers of an instance', () => {
  const FAILURE = new Error('The disk is full.');

  const directory = temporaryDirectory();
  afterAll(() => directory.remove());
  afterEach(() => jest.useRealTimers());

  it('do not keep the process running if it is left open', async () => {
    expect(await runToItsEnd('left-open', directory.path)).toBe('true current');
  });

  it('end when it is closed', async () => {
    jest.useFakeTimers();
    const flags = await openFlags({ storage: memoryStorage() });
    expect(jest.getTimerCount()).toBe(3);
    await flags.close();
    expect(jest.getTimerCount()).toBe(0);
  });

  it('end if it cannot be opened', async () => {
    jest.useFakeTimers();
    const full: FlagsStorage = {
      ...memoryStorage(),
      commit: () => {
        throw FAILURE;
      },
    };
    await expect(openFlags({ storage: full })).rejects.toBe(FAILURE);
    expect(jest.getTimerCount()).toBe(0);
  });
});

describe('closing', () => {
  const ADA = { userId: 'ada' };

  const open = openOnOneFile();

  it('records the counts', async () => {
    const flags = await open({ ...SILENT, usage: { ...SILENT.usage, application: 'shop' } });
    await createSwitchedOn(flags, { flag: 'checkout' });
    for (let call = 0; call < 7; call++) flags.isEnabled('checkout');
    await flags.close();
    const next = await open(SILENT);
    expect((await next.usage.listSeenFlags()).items).toEqual([
      { application: 'shop', flags: ['checkout'], evaluations: 7 },
    ]);
    expect((await next.getFlag(CHECKOUT)).lastSeenAt).not.toBeNull();
  });

  it('leaves the last state for evaluation', async () => {
    const flags = await open(SILENT);
    await createSwitchedOn(flags, { flag: 'checkout' });
    await flags.setVariants(CHECKOUT, [{ name: 'blue' }]);
    const pinned = flags.forContext(ADA);
    await flags.close();
    expect([flags.isEnabled('checkout', ADA), flags.getVariant('checkout', ADA).name]).toEqual([true, 'blue']);
    expect([pinned.isEnabled('checkout'), flags.forContext(ADA).isEnabled('checkout')]).toEqual([true, true]);
    expect(flags.isEnabled('checkout', ADA, { environment: 'development' })).toBe(false);
    expect(flags.explain('checkout', ADA).reason).toBe('strategy');
    expect(flags.configuration().flags).toHaveLength(1);
    await expect(flags.getFlag(CHECKOUT)).rejects.toMatchObject({ code: 'closed' });
  });

  it('makes a refresh report a stale state, and rejects none', async () => {
    const flags = await open(SILENT);
    await flags.close();
    expect(await flags.refresh()).toMatchObject({ state: 'stale', error: expect.anything() });
  });

  it('waits for a running refresh', async () => {
    const flags = await open(SILENT);
    const refreshing = flags.refresh();
    await flags.close();
    expect(await refreshing).toMatchObject({ state: 'current' });
  });
});

describe('a storage that fails', () => {
  const FAILURE = new Error('The disk is gone.');

  const running: Flags[] = [];

  afterEach(() => Promise.all(running.splice(0).map((flags) => flags.close())));

  async function open(options: FlagsOptions): Promise<Flags> {
    const flags = await openFlags({ ...SILENT, ...options });
    running.push(flags);
    return flags;
  }

  /** Two instances on one storage; the reader's storage can fail. */
  async function writerAndReader(options: Omit<FlagsOptions, 'storage'> = {}) {
    const shared = memoryStorage();
    const storage = faultyStorage(shared);
    const writer = await open({ storage: shared });
    await createSwitchedOn(writer, { flag: 'checkout' });
    const reader = await open({ ...options, storage });
    return { writer, reader, storage };
  }

  it('leaves the last good state for evaluation', async () => {
    const { writer, reader, storage } = await writerAndReader();
    await writer.setVariants(CHECKOUT, [{ name: 'blue' }]);
    await reader.refresh();
    const before = reader.configuration();
    storage.inject({ error: FAILURE });
    await writer.disable(PRODUCTION);
    await reader.refresh();
    expect([reader.isEnabled('checkout'), reader.getVariant('checkout').name]).toEqual([true, 'blue']);
    expect(reader.configuration()).toBe(before);
  });

  it('is in the status, with the error and when the state was last current', async () => {
    const clock = settableClock();
    const { reader, storage } = await writerAndReader({ now: clock.now, due: { run: 'elsewhere' } });
    const good = clock.text();
    storage.inject({ error: FAILURE });
    clock.advance(1000);
    const due = { pending: 0, overdue: 0, unguarded: 0 };
    expect(await reader.refresh()).toEqual({ state: 'stale', checkedAt: good, error: FAILURE, due });
    expect(reader.status()).toEqual({ state: 'stale', checkedAt: good, error: FAILURE, due });
    storage.heal();
    clock.advance(1000);
    expect(await reader.refresh()).toEqual({ state: 'current', checkedAt: clock.text(), due });
  });

  it('is followed again without a restart when it works, from the last position', async () => {
    const { writer, reader, storage } = await writerAndReader({ pollInterval: 2, onError: () => undefined });
    storage.inject({ error: FAILURE });
    await until(() => reader.status().state === 'stale');
    await writer.disable(PRODUCTION);
    await createSwitchedOn(writer, { flag: 'second' });
    expect([reader.isEnabled('checkout'), reader.isEnabled('second')]).toEqual([true, false]);
    storage.heal();
    await until(() => reader.status().state === 'current');
    expect([reader.isEnabled('checkout'), reader.isEnabled('second')]).toEqual([false, true]);
  });

  it('is reported once by the poll, and again only after a success in between', async () => {
    const errors: unknown[] = [];
    const onError = (error: unknown) => errors.push(error);
    const { reader, storage } = await writerAndReader({ pollInterval: 2, onError });
    const first = storage.inject({ error: FAILURE });
    await until(() => first.strikes() >= 5);
    expect(errors).toEqual([FAILURE]);
    storage.heal();
    await until(() => reader.status().state === 'current');
    const second = storage.inject({ error: FAILURE });
    await until(() => second.strikes() >= 5);
    expect(errors).toEqual([FAILURE, FAILURE]);
  });

  it('is only shown by the status if the caller calls refresh', async () => {
    const errors: unknown[] = [];
    const { reader, storage } = await writerAndReader({ onError: (error) => errors.push(error) });
    storage.inject({ error: FAILURE });
    expect((await reader.refresh()).error).toBe(FAILURE);
    expect(errors).toEqual([]);
  });

  it('refuses changes with its own error, and shows no effect of them', async () => {
    const { reader, storage } = await writerAndReader();
    storage.inject({ error: FAILURE });
    await expect(reader.disable(PRODUCTION)).rejects.toBe(FAILURE);
    expect(reader.isEnabled('checkout')).toBe(true);
    storage.heal();
    await reader.disable(PRODUCTION);
    expect(reader.isEnabled('checkout')).toBe(false);
  });

  it('rejects the opening with its own error if it fails at the start', async () => {
    const storage = faultyStorage(memoryStorage());
    storage.inject({ error: FAILURE });
    await expect(openFlags({ ...SILENT, storage })).rejects.toBe(FAILURE);
  });
});
