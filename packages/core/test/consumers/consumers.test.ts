import { until } from '../../../../test/until.js';
import { type Flags, LIMITS, memoryStorage, openFlags, paginate } from '../../src/index.js';
import { faultyStorage } from '../../src/testing.js';
import { onEveryStorage } from '../on-every-storage.js';
import { DEFAULT } from '../references.js';
import { refusalOf } from '../refusal.js';
import { SILENT } from '../replica/silent.js';
import { MINUTE, settableClock } from '../settable-clock.js';
import { aborted, hang, happen, recording } from './recording.js';

const AUDIT = { consumer: 'audit' };
/** Nodes meet each other's events within 20 ms, and notice each other's death within a second. */
const QUICK = { pollInterval: 20, onError: () => undefined };
const LEASE = { lease: 1000 };

async function audit(flags: Flags<string>) {
  const [found] = (await flags.consumers.list()).items;
  return found;
}

onEveryStorage((start, share) => {
  describe('a consumer', () => {
    it('gets every event in order, from now or from the beginning', async () => {
      const flags = await start(QUICK);
      await happen(flags, 'a');
      const [late, whole] = [recording(), recording()];
      await flags.consume('late', late.handler);
      await flags.consume('whole', whole.handler, { from: 'beginning' });
      await happen(flags, 'b', 'c');
      await until(() => late.seen().includes('c') && whole.seen().includes('c'));
      expect(late.seen()).toEqual(['b', 'c']);
      expect(whole.seen()).toEqual(['project-created', 'a', 'b', 'c']);
    });

    it('gets batches of at most 64 KiB, and of one larger event', async () => {
      const flags = await start(QUICK);
      const { handler, batches, seen } = recording();
      for (const name of ['a', 'b', 'c', 'd']) {
        await flags.createFlag(DEFAULT, { name, description: name.repeat(10_000) });
      }
      const parameters = { text: 'x'.repeat(100_000) };
      const place = { ...DEFAULT, flag: 'd', environment: 'production' };
      await flags.addStrategy(place, { name: 'default', parameters });
      const stop = await flags.consume('audit', handler, { from: 'beginning' });
      await until(() => seen().length >= 6);
      await stop();
      expect(batches).toEqual([['project-created', 'a', 'b', 'c', 'd'], ['d']]);
    });

    it('continues where it was after a restart, and ignores `from` then', async () => {
      const onShared = await share();
      const first = await onShared(QUICK);
      const before = recording();
      await first.consume('audit', before.handler);
      await happen(first, 'a');
      await until(() => before.seen().length === 1);
      await first.close();
      const second = await onShared(QUICK);
      await happen(second, 'b');
      const after = recording();
      await second.consume('audit', after.handler, { from: 'beginning' });
      await until(() => after.seen().length > 0);
      expect(after.seen()).toEqual(['b']);
    });

    it('runs on one node at a time, and on another one when the first gives it up', async () => {
      const onShared = await share();
      const [one, other] = [await onShared(QUICK), await onShared(QUICK)];
      const [here, there] = [recording(), recording()];
      // Longer than a busy machine holds a process up. The other node looks for a free lease ten times in it.
      const lease = { lease: 10_000 };
      const stop = await one.consume('audit', here.handler, lease);
      await other.consume('audit', there.handler, lease);
      await happen(other, 'a', 'b');
      await until(() => here.seen().length === 2);
      await stop();
      await happen(one, 'c');
      await until(() => there.seen().length > 0);
      expect([here.seen(), there.seen()]).toEqual([['a', 'b'], ['c']]);
      await stop();
    });

    it('goes to another node when the first shows no sign of life, which learns it from its next write', async () => {
      const storage = memoryStorage();
      const faulty = faultyStorage({ ...storage, close: async () => undefined });
      const one = await openFlags({ ...QUICK, storage: faulty, usage: { interval: 0, instance: 'one' } });
      const other = await openFlags({ ...QUICK, storage, usage: { interval: 0, instance: 'other' } });
      const [here, there] = [recording((_, signal) => aborted(signal)), recording()];
      await one.consume('audit', here.handler, LEASE);
      await happen(one, 'a');
      await until(() => here.seen().length === 1);
      expect(await audit(one)).toMatchObject({ node: 'one' });
      // Its commits wait: the node lives, and cannot show it.
      const hanging = faulty.inject({ method: 'commit', hang: true });
      await other.consume('audit', there.handler, LEASE);
      await until(() => there.seen().length === 1);
      expect(await audit(other)).toMatchObject({ node: 'other' });
      // By its own clock, its lease has lapsed: before another node may take it.
      expect(here.signals[0]?.aborted).toBe(true);
      hanging.remove();
      await happen(other, 'b');
      await until(() => there.seen().length === 2);
      expect([here.seen(), there.seen()]).toEqual([['a'], ['a', 'b']]);
      await one.close();
      await other.close();
    });

    it('is aborted by a lost compare-and-set, watches, and takes over again', async () => {
      const storage = memoryStorage();
      const flags = await openFlags({ ...QUICK, storage });
      const { handler, signals, seen } = recording(async (_, signal) => {
        if (signals.length === 1) await aborted(signal);
      });
      await flags.consume('audit', handler, LEASE);
      await happen(flags, 'a');
      await until(() => signals.length === 1);
      const key = { kind: 'consumer', id: 'audit' };
      await until(async () => {
        const stored = await storage.get(key);
        const body = { ...(stored?.body as object), holder: 'another', node: 'another' };
        const write = { key, expected: stored?.revision ?? 0, parent: null, body, summary: null };
        return (await storage.commit({ writes: [write], events: [] })).ok;
      });
      await until(() => signals[0]?.aborted);
      expect(await audit(flags)).toMatchObject({ node: 'another' });
      // The other node shows no sign of life.
      await until(() => signals.length === 2);
      expect(seen()).toEqual(['a', 'a']);
      await flags.close();
    });

    it('does not wait for another one that fails, is slow or hangs', async () => {
      const flags = await start(QUICK);
      const [failing, hanging, healthy] = [
        recording(() => Promise.reject(new Error(`receiver ${'x'.repeat(2000)}\0\uD800`))),
        recording((_, signal) => aborted(signal)),
        recording(),
      ];
      await flags.consume('failing', failing.handler);
      await flags.consume('hanging', hanging.handler);
      await flags.consume('healthy', healthy.handler);
      await happen(flags, 'a', 'b', 'c');
      await until(() => healthy.seen().length === 3);
      await until(async () => (await audit(flags))?.error !== null);
      const [first, second, third] = (await flags.consumers.list()).items;
      expect(first).toMatchObject({ name: 'failing', error: expect.stringMatching(/^receiver x{100}/) });
      expect(first?.error?.length).toBe(LIMITS.consumerError);
      expect([second?.error, third?.error]).toEqual([null, null]);
      expect(hanging.seen()[0]).toBe('a');
      await until(async () => (await flags.consumers.list()).items[2]?.lag.events === 0);
    });

    it('is counted while it fails, also by the node that takes over, and reports each reason once', async () => {
      const errors: string[] = [];
      const flags = await start({ ...QUICK, onError: (error) => void errors.push((error as Error).message) });
      expect(flags.status()).not.toHaveProperty('consumers');
      let reason: string | undefined = 'receiver is down';
      const { handler, seen } = recording(() => {
        if (reason !== undefined) throw new Error(reason);
      });
      const stop = await flags.consume('audit', handler);
      await until(() => flags.status().consumers?.running === 1);
      expect(flags.status().consumers).toEqual({ running: 1, failing: 0 });
      await happen(flags, 'a');
      await until(() => flags.status().consumers?.failing === 1);
      await until(() => seen().length > 1);
      reason = 'cannot read properties of null';
      await until(() => errors.length > 1);
      expect(errors).toEqual(['receiver is down', reason]);
      await stop();
      expect(flags.status()).not.toHaveProperty('consumers');

      const calls = seen().length;
      await flags.consume('audit', handler);
      await until(() => flags.status().consumers?.failing === 1);
      reason = undefined;
      await until(() => seen().length > calls && flags.status().consumers?.failing === 0);
      expect((await audit(flags))?.lag.events).toBeLessThanOrEqual(1);
    });

    it('is reset while it runs, hangs or waits after a failure', async () => {
      const flags = await start(QUICK);
      let isBroken = true;
      const { handler, seen, signals } = recording(async (names, signal) => {
        if (isBroken && names.includes('poison')) throw new Error('cannot be read');
        if (names.length === 1 && names[0] === 'endless') await aborted(signal);
      });
      await flags.consume('audit', handler, LEASE);
      await happen(flags, 'a', 'poison');
      await until(async () => (await audit(flags))?.error === 'cannot be read');
      await flags.consumers.reset(AUDIT, { from: 'now' });
      await happen(flags, 'b');
      await until(() => seen().includes('b'));
      expect(seen().at(-1)).toBe('b');
      await until(async () => (await audit(flags))?.lag.events === 0);
      expect(await audit(flags)).toMatchObject({ error: null });

      await happen(flags, 'endless');
      await until(() => seen().includes('endless'));
      isBroken = false;
      await flags.consumers.reset(AUDIT, { from: 'beginning' });
      await until(() => signals.at(-2)?.aborted);
      const whole = ['project-created', 'a', 'poison', 'b', 'endless'];
      await until(() => seen().filter((name) => name === 'endless').length === 2);
      expect(seen().slice(-5)).toEqual(whole);
    });

    it('is reset and deleted at once on the node that runs it, however long the lease is', async () => {
      const errors: unknown[] = [];
      const flags = await start({ ...QUICK, onError: (error) => void errors.push(error) });
      const { handler, seen, signals } = recording((_, signal) => aborted(signal));
      await flags.consume('audit', handler, { lease: LIMITS.consumerLease });
      await happen(flags, 'a');
      await until(() => seen().includes('a'));
      await flags.consumers.reset(AUDIT, { from: 'beginning' });
      expect(signals[0]?.aborted).toBe(true);
      await until(() => seen().includes('project-created'));
      await flags.consumers.delete(AUDIT);
      expect(signals[1]?.aborted).toBe(true);
      await until(() => errors.length === 1);
      expect(errors).toMatchObject([{ code: 'consumer_not_found' }]);
    });

    it('is deleted while its handler runs, and is not made again', async () => {
      const errors: unknown[] = [];
      const flags = await start({ ...QUICK, onError: (error) => void errors.push(error) });
      const { handler, signals } = recording((_, signal) => aborted(signal));
      const stop = await flags.consume('audit', handler, LEASE);
      await happen(flags, 'a');
      await until(() => signals.length === 1);
      await flags.consumers.delete(AUDIT);
      await until(() => errors.length === 1);
      expect(errors).toMatchObject([{ code: 'consumer_not_found' }]);
      expect(signals[0]?.reason).toBe(errors[0]);
      await happen(flags, 'b');
      expect((await flags.consumers.list()).items).toEqual([]);
      expect(signals).toHaveLength(1);
      await stop();
      for (const attempt of [flags.consumers.delete(AUDIT), flags.consumers.reset(AUDIT, { from: 'now' })]) {
        expect((await refusalOf(attempt)).code).toBe('consumer_not_found');
      }
    });

    it('uses the flags, also while they close', async () => {
      const flags = await start(QUICK);
      const { handler, seen } = recording(async ([name = '']) => {
        await flags.getFlag({ ...DEFAULT, flag: name });
      });
      await flags.consume('audit', handler);
      await happen(flags, 'a');
      await until(() => seen().length > 0);
      await happen(flags, 'b');
      await flags.close();
      expect(seen().slice(0, 1)).toEqual(['a']);
    });
  });

  describe('the list of consumers', () => {
    it('has the lag in events, up to 1,000, and in milliseconds', async () => {
      const clock = settableClock();
      const flags = await start({ ...QUICK, now: clock.now, usage: { interval: 0, instance: 'here' } });
      const stopped = await flags.consume('stopped', () => undefined);
      await stopped();
      const { handler, seen } = recording();
      await flags.consume('running', handler);
      expect((await flags.consumers.list()).items[1]?.lag).toEqual({ events: 0, ms: 0 });
      await happen(flags, 'a');
      clock.advance(MINUTE);
      await happen(flags, 'b');
      await until(() => seen().length === 2);
      await until(async () => (await flags.consumers.list()).items[0]?.lag.events === 0);
      const position = (await flags.events.listNext()).position;
      expect((await flags.consumers.list()).items).toEqual([
        {
          name: 'running',
          position,
          lag: { events: 0, ms: 0 },
          error: null,
          node: 'here',
          since: clock.text(-MINUTE),
        },
        {
          name: 'stopped',
          position: expect.any(String),
          lag: { events: 2, ms: MINUTE },
          error: null,
          node: null,
          since: null,
        },
      ]);
      for (let set = 0; set < 3; set++) {
        const ref = { ...DEFAULT, flag: 'a' };
        await flags.apply(
          Array.from({ length: 400 }, (_, n) => ({ op: 'updateFlag', ref, input: { description: `${set} ${n}` } })),
        );
      }
      expect((await flags.consumers.list()).items[1]?.lag.events).toBe(LIMITS.consumerLag);
    });

    it('has pages', async () => {
      const flags = await start(SILENT);
      for (const name of ['a', 'b', 'c']) await (await flags.consume(name, () => undefined))();
      const names: string[] = [];
      for await (const { name } of paginate((page) => flags.consumers.list({ ...page, limit: 2 }))) names.push(name);
      expect(names).toEqual(['a', 'b', 'c']);
    });
  });

  describe('consume', () => {
    const nothing = (): void => undefined;

    it.each([
      ['a name that no flag may have', ['a b', nothing], '/name'],
      ['no name', [undefined, nothing], '/name'],
      ['another start', ['audit', nothing, { from: 'yesterday' }], '/from'],
      ['a lease below a second', ['audit', nothing, { lease: 999 }], '/lease'],
      ['a lease of more than a day', ['audit', nothing, { lease: 86_400_001 }], '/lease'],
      ['no handler', ['audit'], undefined],
      ['a listener that is no function', ['audit', nothing, { onHistoryLost: {} }], undefined],
      ['options that are no object', ['audit', nothing, 7], ''],
    ])('refuses %s', async (_, given, path) => {
      const flags = await start(SILENT);
      const call = flags.consume as (...values: readonly unknown[]) => Promise<unknown>;
      const error = await refusalOf(call.apply(flags, given as unknown[]));
      expect([error.code, error.details[0]?.path]).toEqual(['invalid_input', path]);
      expect((await flags.consumers.list()).items).toEqual([]);
    });

    it('refuses more than 100 consumers, and names what to do', async () => {
      const flags = await start(SILENT);
      const ends: (() => Promise<void>)[] = [];
      for (let n = 0; n < LIMITS.consumers; n++) ends.push(await flags.consume(`c${n}`, nothing));
      const error = await refusalOf(flags.consume('more', nothing));
      expect([error.code, error.message]).toEqual(['invalid_input', expect.stringContaining('deleteConsumer')]);
      await flags.consume('c7', nothing);
      await flags.consumers.delete({ consumer: 'c8' });
      await flags.consume('more', nothing);
      await Promise.all(ends.map((end) => end()));
    });

    it('refuses a reset to another start', async () => {
      const flags = await start(SILENT);
      await flags.consume('audit', hang);
      for (const input of [{ from: 'then' }, {}, undefined]) {
        const error = await refusalOf(flags.consumers.reset(AUDIT, input as never));
        expect(error.code).toBe('invalid_input');
      }
    });
  });
});

describe('the lag of many consumers', () => {
  const EVENTS = LIMITS.consumerLag + 250;

  /** Consumers at these numbers of events before the newest one; Infinity: at the beginning. */
  async function stuckAt(behind: readonly number[]) {
    const storage = memoryStorage();
    const read: number[] = [];
    const flags = await openFlags({
      ...SILENT,
      storage: {
        ...storage,
        async events(query) {
          const page = await storage.events(query);
          if (query.withoutData) read.push(page.events.length);
          return page;
        },
      },
    });
    // Until the engine closes, which waits five seconds for a handler that hangs.
    const { handler: stuck } = recording((_, signal) => aborted(signal));
    for (let at = 0; at < EVENTS; at++) {
      if (behind.includes(EVENTS - at)) await flags.consume(`c${EVENTS - at}`, stuck);
      await flags.updateProject(DEFAULT, { description: `${at}` });
    }
    if (behind.includes(0)) await flags.consume('c0', stuck);
    if (behind.includes(Infinity)) await flags.consume('cInfinity', stuck, { from: 'beginning' });
    read.length = 0;
    return { flags, read };
  }

  it('is exact up to 1,000 events, from wherever they are', async () => {
    const behind = [0, 1, 2, 99, 100, 101, 199, 200, 998, 999, 1000, 1001, 1200, Infinity];
    const { flags } = await stuckAt(behind);
    const lags = (await flags.consumers.list()).items.map(({ name, lag }) => [name, lag.events]);
    expect(Object.fromEntries(lags)).toEqual(
      Object.fromEntries(behind.map((count) => [`c${count}`, Math.min(count, LIMITS.consumerLag)])),
    );
    await flags.close();
  });

  it('reads the newest events once for all of them', async () => {
    const { flags, read } = await stuckAt(Array.from({ length: LIMITS.consumers }, (_, at) => EVENTS - 2 * at));
    const { items } = await flags.consumers.list();
    expect(items).toHaveLength(LIMITS.consumers);
    const sum = read.reduce((one, other) => one + other, 0);
    expect(sum).toBeLessThan(LIMITS.consumerLag + 3 * LIMITS.consumers);
    expect(read.length).toBeLessThan(13 + LIMITS.consumers);
    await flags.close();
  });

  it('reads little for consumers that have caught up', async () => {
    const { flags, read } = await stuckAt([0]);
    await flags.consumers.list();
    expect(read).toEqual([0]);
    await flags.close();
  });
});
