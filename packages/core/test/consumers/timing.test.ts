import { type Flags, FlagsError, type FlagsOptions, memoryStorage, openFlags } from '../../src/index.js';
import type { FlagsStorage } from '../../src/storage/port.js';
import { faultyStorage } from '../../src/testing.js';
import { DAY, HOUR, MINUTE, SECOND } from '../settable-clock.js';
import { aborted, hang, happen, recording } from './recording.js';

const KEY = { kind: 'consumer', id: 'audit' };

describe('a consumer in the course of time', () => {
  const running: Flags<string>[] = [];
  let errors: unknown[];

  beforeEach(() => {
    errors = [];
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
  });
  afterEach(async () => {
    jest.useRealTimers();
    await Promise.all(running.splice(0).map((flags) => flags.close()));
  });

  async function open(storage: FlagsStorage, options: Omit<FlagsOptions, 'storage'> = {}): Promise<Flags<string>> {
    const onError = (error: unknown) => void errors.push(error);
    const flags = await openFlags({ usage: { interval: 0 }, onError, ...options, storage });
    running.push(flags);
    return flags;
  }

  /** Lets the time pass in steps, and everything happen that is due. */
  async function pass(time: number, step = SECOND): Promise<void> {
    for (let passed = 0; passed < time; passed += step) {
      await jest.advanceTimersByTimeAsync(step);
      await turns();
    }
  }

  async function turns(): Promise<void> {
    for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
  }

  it('writes a sign of life every third of the lease, and the cursor at most once a second', async () => {
    const storage = faultyStorage(memoryStorage());
    const flags = await open(storage);
    const { handler, seen } = recording();
    await flags.consume('audit', handler);
    await turns();
    const commitsWithin = async (work: () => Promise<void>) => {
      const before = storage.calls.length;
      await work();
      const isOfConsumer = (input: unknown) => JSON.stringify(input).includes('"kind":"consumer"');
      return storage.calls.slice(before).filter(({ method, input }) => method === 'commit' && isOfConsumer(input))
        .length;
    };
    expect(await commitsWithin(() => pass(MINUTE))).toBe(6);
    const busy = await commitsWithin(async () => {
      for (let n = 0; n < 100; n++) {
        await happen(flags, `f${n}`);
        await pass(100, 100);
      }
    });
    expect(seen()).toHaveLength(100);
    expect(busy).toBeGreaterThanOrEqual(9);
    expect(busy).toBeLessThanOrEqual(11);
  });

  it('reads no more often than the feed while nothing happens, whether it runs or watches', async () => {
    const storage = memoryStorage();
    const faulty = faultyStorage({ ...storage, close: async () => undefined });
    const one = await open(storage);
    await one.consume('audit', () => undefined);
    await turns();
    const other = await open(faulty);
    await other.consume('audit', () => undefined);
    await turns();
    const before = faulty.calls.length;
    await pass(MINUTE);
    const calls = faulty.calls.slice(before).map(({ method, input }) => `${method} ${JSON.stringify(input)}`);
    expect(calls.filter((call) => call.includes('consumer'))).toHaveLength(20);
    expect(calls.filter((call) => call.startsWith('events')).length).toBeLessThanOrEqual(60);
  });

  it('is taken over when its revision has not changed for the lease, and not before', async () => {
    const storage = memoryStorage();
    const shared = { ...storage, close: async () => undefined };
    const faulty = faultyStorage(shared);
    const one = await open(faulty, { usage: { interval: 0, instance: 'one' } });
    await one.consume('audit', () => undefined);
    const other = await open(shared, { usage: { interval: 0, instance: 'other' } });
    await other.consume('audit', () => undefined);
    const nodeNow = async () => (await other.consumers.list()).items[0]?.node;
    await pass(5 * MINUTE);
    expect(await nodeNow()).toBe('one');
    // As if the process had been killed right after a sign of life.
    faulty.inject({ method: 'commit' });
    await pass(29 * SECOND);
    expect(await nodeNow()).toBe('one');
    await pass(10 * SECOND);
    expect(await nodeNow()).toBe('other');
    // It lives again, and watches.
    faulty.heal();
    await pass(5 * MINUTE);
    expect(await nodeNow()).toBe('other');
  });

  it('keeps the lease while its handler is slow, and while it ends', async () => {
    const storage = memoryStorage();
    const one = await open(storage);
    const other = await open({ ...storage, close: async () => undefined });
    let finish: () => void = () => undefined;
    const [slow, watching] = [
      recording(() => {
        return new Promise<void>((resolve) => {
          finish = resolve;
        });
      }),
      recording(),
    ];
    const stop = await one.consume('audit', slow.handler, { lease: SECOND });
    await turns();
    await other.consume('audit', watching.handler, { lease: SECOND });
    await happen(one, 'a');
    await turns();
    await pass(HOUR / 60);
    expect([slow.seen(), watching.seen()]).toEqual([['a'], []]);
    const stopping = stop();
    await pass(4 * SECOND, 100);
    expect(watching.seen()).toEqual([]);
    finish();
    await stopping;
    await pass(3 * SECOND);
    await happen(one, 'b');
    await pass(SECOND);
    expect(watching.seen()).toEqual(['b']);
  });

  it('ends after 5 seconds without its handler, and its lease lapses', async () => {
    const storage = memoryStorage();
    const one = await open(storage);
    const other = await open({ ...storage, close: async () => undefined });
    const hanging = recording(hang);
    const watching = recording();
    const stop = await one.consume('audit', hanging.handler);
    await turns();
    await other.consume('audit', watching.handler);
    await happen(one, 'a');
    await turns();
    let isStopped = false;
    const stopping = stop().then(() => {
      isStopped = true;
    });
    expect(hanging.signals[0]?.aborted).toBe(true);
    await pass(4 * SECOND);
    expect(isStopped).toBe(false);
    await pass(SECOND);
    await stopping;
    await pass(20 * SECOND);
    expect(watching.seen()).toEqual([]);
    await pass(15 * SECOND);
    expect(watching.seen()).toEqual(['a']);
    expect(errors).toEqual([]);
  });

  it('repeats a batch after 1 s to 5 min while its receiver is down for a week, and then delivers all', async () => {
    const storage = memoryStorage();
    const flags = await open(storage, { pollInterval: 0 });
    let isDown = true;
    const times: number[] = [];
    const { handler, seen } = recording(() => {
      times.push(Date.now());
      if (isDown) throw new Error('receiver is down');
    });
    await flags.consume('audit', handler, { lease: DAY });
    await turns();
    await happen(flags, 'a');
    await turns();
    await pass(10 * SECOND, 100);
    await happen(flags, 'b');
    await pass(7 * DAY, 2 * MINUTE);
    const pauses = times.slice(1).map((time, index) => time - (times[index] ?? 0));
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(SECOND);
    expect(Math.max(...pauses)).toBeLessThanOrEqual(5 * MINUTE + 2 * MINUTE);
    expect(pauses[0]).toBeLessThanOrEqual(2 * SECOND + 100);
    expect(times.length).toBeGreaterThan((7 * DAY) / (7 * MINUTE));
    expect(errors).toEqual([new Error('receiver is down')]);
    expect((await flags.consumers.list()).items).toMatchObject([
      { error: 'receiver is down', lag: { events: 2, ms: expect.any(Number) } },
    ]);
    isDown = false;
    await pass(6 * MINUTE, 2 * MINUTE);
    expect(seen().slice(-2)).toEqual(['a', 'b']);
    // The cursor is written after its events, which may have come in the last moment of the time that has passed.
    await pass(SECOND);
    expect((await flags.consumers.list()).items).toMatchObject([{ error: null, lag: { events: 0 } }]);
  });

  it('reports a storage that is away once, ends its batch when its lease has lapsed, and continues after it', async () => {
    const storage = faultyStorage(memoryStorage());
    const flags = await open(storage);
    const { handler, signals, seen } = recording(async (_, signal) => {
      if (signals.length === 1) await aborted(signal);
    });
    await flags.consume('audit', handler);
    await turns();
    await happen(flags, 'a');
    await turns();
    const replica = errors.length;
    storage.inject({ method: 'commit' });
    await pass(29 * SECOND);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
    await pass(12 * SECOND);
    expect(signals[0]?.aborted).toBe(true);
    expect(errors.slice(replica)).toMatchObject([{ code: 'storage_unavailable' }]);
    storage.heal();
    await pass(20 * SECOND);
    expect(seen()).toEqual(['a', 'a']);
  });

  it('takes the lease although the answer to its write was lost', async () => {
    const storage = faultyStorage(memoryStorage());
    const flags = await open(storage);
    await (await flags.consume('audit', () => undefined))();
    storage.inject({ method: 'commit', point: 'after', nth: 1 });
    const { handler, seen } = recording();
    await flags.consume('audit', handler);
    await turns();
    await happen(flags, 'a');
    await pass(4 * SECOND);
    expect(seen()).toEqual(['a']);
  });

  describe('whose storage has lost the event at the cursor', () => {
    /** Loses the events after a position, as a server does that takes over without them. */
    function forgetful() {
      const storage = memoryStorage();
      let lost: string | undefined;
      const events: FlagsStorage['events'] = (query) => {
        if (query.order === 'oldest-first' && lost !== undefined && query.after === lost) {
          throw new FlagsError('history_lost', `The event at ${lost} is lost.`);
        }
        return storage.events(query);
      };
      const lose = (position: string | undefined) => {
        lost = position;
      };
      return { storage: { ...storage, events }, lose };
    }

    async function delivered(storage: FlagsStorage) {
      return (await storage.get(KEY))?.body as { readonly position: string | null };
    }

    it.each([true, false])('continues after the newest event; with a listener: %s', async (hasListener) => {
      const { storage, lose } = forgetful();
      const flags = await open(storage);
      const positions: unknown[] = [];
      const onHistoryLost = async (position: string | undefined) => void positions.push(position);
      const { handler, seen } = recording();
      await flags.consume('audit', handler, hasListener ? { onHistoryLost } : {});
      await turns();
      await happen(flags, 'a');
      await pass(2 * SECOND);
      const { position } = await delivered(storage);
      lose(position ?? undefined);
      await happen(flags, 'missed');
      const newest = (await storage.events({ order: 'newest-first', limit: 1 })).events[0]?.position;
      await pass(2 * SECOND);
      await happen(flags, 'b');
      await pass(2 * SECOND);
      expect(seen()).toEqual(['a', 'b']);
      const losses = errors.filter((error) => (error as FlagsError).code === 'history_lost');
      expect(positions).toEqual(hasListener ? [newest] : []);
      // The follower of the documents may report it as well.
      expect(losses.length).toBeGreaterThanOrEqual(hasListener ? 0 : 1);
      expect((await delivered(storage)).position).not.toBe(position);
      expect((await flags.consumers.list()).items).toMatchObject([{ lag: { events: 0, ms: 0 } }]);
    });

    it('has no lag in the list while it is not run', async () => {
      const { storage, lose } = forgetful();
      const flags = await open(storage);
      await happen(flags, 'a');
      await (await flags.consume('audit', () => undefined))();
      await happen(flags, 'b');
      lose((await delivered(storage)).position ?? undefined);
      expect((await flags.consumers.list()).items).toMatchObject([{ lag: { events: 0, ms: 0 } }]);
    });
  });

  it('goes on when `onHistoryLost` throws', async () => {
    const storage = memoryStorage();
    let isLost = false;
    const events: FlagsStorage['events'] = (query) => {
      if (isLost && query.order === 'oldest-first' && query.maxBytes === 65_536) {
        isLost = false;
        throw new FlagsError('history_lost', 'lost');
      }
      return storage.events(query);
    };
    const flags = await open({ ...storage, events });
    const { handler, seen } = recording();
    const fault = new Error('listener');
    await flags.consume('audit', handler, { onHistoryLost: () => Promise.reject(fault) });
    await turns();
    isLost = true;
    await pass(2 * SECOND);
    await happen(flags, 'a');
    await pass(SECOND);
    expect([seen(), errors]).toEqual([['a'], [fault]]);
  });
});
