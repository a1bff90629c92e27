import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { until } from '../../../../test/until.js';
import { REGISTRY } from '../../src/features.js';
import { createFeed, type Feed } from '../../src/kernel/log/feed.js';
import { openFlags } from '../../src/open-flags.js';
import { sqliteStorage } from '../../src/sqlite.js';
import { memoryStorage } from '../../src/storage/memory/storage.js';
import type { FlagsStorage, StoredEventQuery } from '../../src/storage/port.js';
import { faultyStorage, type PortCall } from '../../src/testing.js';
import { happen, hearing } from '../changesets/listening.js';
import { temporaryDirectory } from '../storage/temporary-directory.js';

/** A feed that looks for events only when it is woken. */
function feedOf(storage: FlagsStorage) {
  const errors: unknown[] = [];
  const feed = createFeed({ storage, registry: REGISTRY, pollInterval: 0, onError: (error) => errors.push(error) });
  return { feed, errors };
}

/** A storage on which the first read of events in this order fails. */
function failingOnce(memory: FlagsStorage, order: StoredEventQuery['order']): FlagsStorage {
  const storage = faultyStorage(memory);
  const when = ({ method, input }: PortCall<FlagsStorage>) => method === 'events' && input[0].order === order;
  storage.inject({ when, nth: 1, error: new Error('disk') });
  return storage;
}

async function happenAndWake(storage: FlagsStorage, feed: Feed, ...ids: readonly string[]): Promise<void> {
  for (const id of ids) await happen(storage, id);
  feed.wake();
}

describe('a subscription', () => {
  it('sends later commits, in order', async () => {
    const storage = memoryStorage();
    await happen(storage, 'before');
    const { feed } = feedOf(storage);
    const { heard, listener } = hearing();
    feed.subscribe(listener);
    await feed.ready();
    await happenAndWake(storage, feed, 'a', 'b', 'c');
    await until(() => heard.length >= 3);
    expect(heard).toEqual(['a', 'b', 'c']);
  });

  it('starts with everything after a position', async () => {
    const storage = memoryStorage();
    for (const id of ['a', 'b', 'c']) await happen(storage, id);
    const [first] = (await storage.events({ order: 'oldest-first', limit: 1 })).events;
    const { feed } = feedOf(storage);
    const { heard, listener } = hearing();
    feed.subscribe(listener, { after: first?.position ?? '' });
    await until(() => heard.length >= 2);
    expect(heard).toEqual(['b', 'c']);
  });

  it('reads at most one page of bytes at once', async () => {
    const storage = memoryStorage();
    await happen(storage, 'first');
    const position = (await storage.events({ order: 'oldest-first', limit: 1 })).events[0]?.position;
    for (const id of ['a', 'b', 'c', 'd']) await happen(storage, id, 'x'.repeat(600_000));
    const lengths: number[] = [];
    const events: FlagsStorage['events'] = async (query) => {
      const page = await storage.events(query);
      lengths.push(page.events.length);
      return page;
    };
    const { feed } = feedOf({ ...storage, events });
    const { heard, listener } = hearing();
    feed.subscribe(listener, { after: position ?? '' });
    await until(() => heard.length >= 4);
    expect(heard).toEqual(['a', 'b', 'c', 'd']);
    expect(Math.max(...lengths)).toBe(1);
  });

  it('sends more than it reads at once', async () => {
    const storage = memoryStorage();
    await happen(storage, 'first');
    const position = (await storage.events({ order: 'oldest-first', limit: 1 })).events[0]?.position;
    for (let n = 0; n < 450; n++) await happen(storage, `f${n}`);
    const { feed } = feedOf(storage);
    const { heard, listener } = hearing();
    feed.subscribe(listener, { after: position ?? '' });
    await until(() => heard.length >= 450);
    expect(heard).toEqual(Array.from({ length: 450 }, (_, n) => `f${n}`));
  });

  it('waits for its own listener only', async () => {
    const storage = memoryStorage();
    const { feed } = feedOf(storage);
    const [slow, quick] = [hearing(), hearing()];
    let release: () => void = () => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    feed.subscribe(async (event) => {
      slow.listener(event);
      await released;
    });
    feed.subscribe(quick.listener);
    await feed.ready();
    await happenAndWake(storage, feed, 'a', 'b');
    await until(() => quick.heard.length >= 2);
    expect(slow.heard).toEqual(['a']);
    release();
    await until(() => slow.heard.length >= 2);
    expect(slow.heard).toEqual(['a', 'b']);
  });

  it('reports a listener that throws or rejects, and sends it the next event', async () => {
    const storage = memoryStorage();
    const { feed, errors } = feedOf(storage);
    const { heard, listener } = hearing();
    feed.subscribe((event) => {
      listener(event);
      if (event.flag === 'a') throw new Error('thrown');
      if (event.flag === 'b') return Promise.reject(new Error('rejected'));
      return undefined;
    });
    await feed.ready();
    await happenAndWake(storage, feed, 'a', 'b', 'c');
    await until(() => heard.length >= 3);
    expect(errors).toEqual([new Error('thrown'), new Error('rejected')]);
  });

  it('repeats a failed read from the same position', async () => {
    const memory = memoryStorage();
    const storage = failingOnce(memory, 'oldest-first');
    await happen(memory, 'a');
    const { feed, errors } = feedOf(storage);
    const { heard, listener } = hearing();
    const [event] = (await memory.events({ order: 'newest-first', limit: 1 })).events;
    feed.subscribe(listener, { after: event?.position ?? '' });
    await until(() => errors.length > 0);
    await happenAndWake(memory, feed, 'b');
    await until(() => heard.length > 0);
    expect(heard).toEqual(['b']);
    expect(errors).toEqual([new Error('disk')]);
  });

  it('repeats a failed read of its start before anything more is committed', async () => {
    const memory = memoryStorage();
    const storage = failingOnce(memory, 'newest-first');
    const { feed, errors } = feedOf(storage);
    const { heard, listener } = hearing();
    feed.subscribe(listener);
    await until(() => errors.length > 0);
    await feed.ready();
    await happenAndWake(memory, feed, 'a');
    await until(() => heard.length > 0);
    expect(heard).toEqual(['a']);
  });

  it('can be ended by its listener, and sends nothing more', async () => {
    const storage = memoryStorage();
    const { feed } = feedOf(storage);
    const [ended, going] = [hearing(), hearing()];
    const unsubscribe = feed.subscribe((event) => {
      ended.listener(event);
      unsubscribe();
      unsubscribe();
    });
    feed.subscribe(going.listener);
    await feed.ready();
    await happenAndWake(storage, feed, 'a', 'b');
    await until(() => going.heard.length >= 2);
    await happenAndWake(storage, feed, 'c');
    await until(() => going.heard.length >= 3);
    expect(ended.heard).toEqual(['a']);
  });

  it('can close the feed from its listener without waiting for itself', async () => {
    const storage = memoryStorage();
    const { feed, errors } = feedOf(storage);
    const closed = new Promise<void>((resolve) => {
      feed.subscribe(async () => {
        await feed.close();
        resolve();
      });
    });
    await feed.ready();
    await happenAndWake(storage, feed, 'a', 'b');
    await closed;
    expect(errors).toEqual([]);
  });

  it('does not read the storage after the feed is closed', async () => {
    const storage = faultyStorage(memoryStorage());
    const { feed, errors } = feedOf(storage);
    feed.subscribe(() => undefined);
    await feed.close();
    const before = storage.calls.length;
    feed.wake();
    await new Promise(setImmediate);
    expect([storage.calls.length, errors]).toEqual([before, []]);
  });
});

describe('polling for commits of other processes', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });

  afterEach(() => {
    jest.useRealTimers();
  });

  it('happens once per interval, less often while it fails, and reports a failure once', async () => {
    const storage = faultyStorage(memoryStorage());
    const errors: unknown[] = [];
    const feed = createFeed({
      storage,
      registry: REGISTRY,
      pollInterval: 1000,
      onError: (error) => errors.push(error),
    });
    feed.subscribe(() => undefined);
    feed.subscribe(() => undefined);
    await feed.ready();
    const readsWithin = async (time: number) => {
      const before = storage.calls.length;
      await jest.advanceTimersByTimeAsync(time);
      return storage.calls.length - before;
    };
    await readsWithin(1);
    expect(await readsWithin(10_000)).toBe(20);

    storage.inject({ method: 'events', times: 1_000, error: new Error('away') });
    await readsWithin(60_000);
    const seldom = await readsWithin(60_000);
    expect(seldom).toBeGreaterThanOrEqual(2 * 3);
    expect(seldom).toBeLessThanOrEqual(2 * 9);
    expect(errors).toEqual([new Error('away'), new Error('away')]);

    storage.heal();
    await readsWithin(15_000);
    expect(await readsWithin(10_000)).toBe(20);
    storage.inject({ method: 'events', error: new Error('away again') });
    await readsWithin(10_000);
    expect(errors.slice(2)).toEqual([new Error('away again'), new Error('away again')]);
    await feed.close();
    expect(await readsWithin(60_000)).toBe(0);
  });
});

const options = { pollInterval: 0, onError: (error: unknown) => expect(error).toBeUndefined() };

describe('a subscription that starts at the current end', () => {
  it('reads its start once, so that it skips no later commit', async () => {
    const memory = memoryStorage();
    const storage = faultyStorage(memory);
    const late = storage.inject({
      when: ({ method, input }) => method === 'events' && input[0].order === 'newest-first',
      nth: 2,
      times: 100,
      hang: true,
    });
    const feed = createFeed({ storage, registry: REGISTRY, ...options });
    const { heard, listener } = hearing();
    feed.subscribe(listener);
    await feed.ready();
    await happen(memory, 'a');
    late.release();
    feed.wake();
    await new Promise(setImmediate);
    await new Promise(setImmediate);
    expect(heard).toEqual(['a']);
    await feed.close();
  });
});

describe('a wake', () => {
  it.each(Array.from({ length: 30 }, (_, ticks) => ticks))(
    'is noticed when it comes %i ticks after a read without events',
    async (ticks) => {
      const memory = memoryStorage();
      for (const id of ['before', 'a']) await happen(memory, id);
      const [before] = (await memory.events({ order: 'oldest-first', limit: 1 })).events;
      let visible = false;
      let isRead = false;
      const storage: FlagsStorage = {
        ...memory,
        async events(query) {
          const page = visible ? await memory.events(query) : { events: [] };
          isRead = true;
          return page;
        },
      };
      const feed = createFeed({ storage, registry: REGISTRY, ...options });
      const { heard, listener } = hearing();
      feed.subscribe(listener, { after: before?.position ?? '' });
      while (!isRead) await Promise.resolve();
      for (let tick = 0; tick < ticks; tick++) await Promise.resolve();
      visible = true;
      feed.wake();
      for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate);
      expect(heard).toEqual(['a']);
      await feed.close();
    },
  );
});

describe('a subscription to a storage with other writers', () => {
  const DEFAULT = { project: 'default' };

  it('sends commits of another instance to the same SQLite file', async () => {
    const directory = temporaryDirectory();
    const path = join(directory.path, 'flags.db');
    const reader = await openFlags({ storage: sqliteStorage(path), pollInterval: 5 });
    const writer = await openFlags({ storage: sqliteStorage(path) });
    const { heard, listener } = hearing();
    reader.subscribe(listener);
    const [last] = (await reader.events.list()).items;
    expect(last?.type).toBe('project-created');
    // The reader's own change waits until the subscription knows its start.
    await reader.createFlag(DEFAULT, { name: 'own' });
    for (const name of ['a', 'b']) await writer.createFlag(DEFAULT, { name });
    await until(() => heard.length >= 3);
    expect(heard).toEqual(['own', 'a', 'b']);
    await reader.close();
    await writer.close();
    directory.remove();
  });

  it('keeps no process running', () => {
    const program = `
      const { openFlags, memoryStorage } = require(${JSON.stringify(join(__dirname, '../../dist/index.js'))});
      openFlags({ storage: memoryStorage(), pollInterval: 10 }).then((flags) => {
        flags.subscribe(() => undefined);
        console.log('subscribed');
      });
    `;
    const { stdout, status } = spawnSync(process.execPath, ['-e', program], { timeout: 60_000, encoding: 'utf8' });
    expect([stdout.trim(), status]).toEqual(['subscribed', 0]);
  }, 60_000);
});
