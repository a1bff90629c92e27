import { startPolling } from '../../src/base/polling.js';
import type { Flags } from '../../src/index.js';
import { openFlags } from '../../src/open-flags.js';
import { memoryStorage } from '../../src/storage/memory/storage.js';
import { memoryUsage } from '../../src/storage/memory/usage.js';
import type { FlagsStorage } from '../../src/storage/port.js';
import { faultyStorage } from '../../src/testing.js';
import { methodsOf } from '../method-names.js';

describe('closing', () => {
  const DEFAULT = { project: 'default' };
  const CLOSED = { name: 'FlagsError', code: 'closed' };

  /** A real storage that records when a commit ends and when it is closed. */
  function logging(storage: FlagsStorage): FlagsStorage & { readonly log: readonly string[] } {
    const log: string[] = [];
    return {
      ...storage,
      log,
      async commit(commit) {
        await new Promise(setImmediate);
        const result = await storage.commit(commit);
        log.push('committed');
        return result;
      },
      async close() {
        log.push('closed');
        await storage.close();
      },
    };
  }

  /** Evaluation continues after the end. */
  const EVALUATION = [
    'isEnabled',
    'getVariant',
    'getPayload',
    'forContext',
    'explain',
    'evaluateAll',
    'configuration',
    'recentContexts',
    'projectOf',
    'status',
    'refresh',
    'onImpression',
    'onConfigurationChange',
  ];

  /** Every operation, with an input that an open engine would refuse. */
  function everyOperation(flags: Flags): readonly (readonly [name: string, call: () => Promise<unknown>])[] {
    const others = new Set(['settings', 'as', 'closing', 'close', 'subscribe', 'asOf', ...EVALUATION]);
    const methods = [...methodsOf(flags)].filter(([name]) => !others.has(name));
    return methods.map(([name, method]) => [name, async () => method({}, {})]);
  }

  it('waits for running operations, then closes the storage', async () => {
    const storage = logging(memoryStorage());
    const flags = await openFlags({ storage });
    const underWay = Promise.all(['a', 'b', 'c'].map((name) => flags.createFlag(DEFAULT, { name })));
    await flags.close();
    expect(storage.log).toEqual(['committed', 'committed', 'committed', 'committed', 'closed']);
    expect(await underWay).toHaveLength(3);
  });

  it('does not wait for a subscription that cannot read its start, nor do the changes behind it', async () => {
    const storage = faultyStorage(memoryStorage());
    const flags = await openFlags({ storage, pollInterval: 0, usage: { interval: 0 } });
    const hanging = storage.inject({ method: 'events', hang: true });
    flags.subscribe(() => undefined);
    const change = flags.createFlag(DEFAULT, { name: 'checkout' });
    while (hanging.strikes() === 0) await new Promise(setImmediate);
    await flags.close();
    expect((await change).name).toBe('checkout');
  });

  it('happens once, however often it is called', async () => {
    const storage = logging(memoryStorage());
    const flags = await openFlags({ storage });
    await Promise.all([flags.close(), flags.close(), flags.as('ada').close()]);
    await flags.close();
    expect(storage.log).toEqual(['committed', 'closed']);
  });

  it('refuses every later operation, for every actor', async () => {
    const flags = await openFlags({ storage: memoryStorage() });
    const asAda = flags.as('ada');
    const view = flags.history.asOf(new Date());
    const closing = flags.close();
    for (const one of [flags, asAda, flags.as('grace')]) {
      expect(everyOperation(one).length).toBeGreaterThan(30);
      for (const [name, operation] of everyOperation(one)) {
        await expect(operation().then(() => name)).rejects.toMatchObject(CLOSED);
      }
      expect(() => one.subscribe(() => undefined)).toThrow(expect.objectContaining(CLOSED));
      expect(() => one.history.asOf(new Date())).toThrow(expect.objectContaining(CLOSED));
      await expect(view.getFlag({ project: 'default', flag: 'a' })).rejects.toMatchObject(CLOSED);
    }
    await closing;
  });

  it('can be called by a listener', async () => {
    const flags = await openFlags({ storage: memoryStorage(), pollInterval: 0 });
    const closed = new Promise<void>((resolve, reject) => {
      flags.subscribe(() => flags.close().then(resolve, reject));
    });
    await flags.createFlag(DEFAULT, { name: 'checkout' });
    await closed;
    await expect(flags.listProjects()).rejects.toMatchObject(CLOSED);
  });
});

describe('closing while usage fails', () => {
  const FAULT = new Error('The usage cannot be closed.');

  it('closes the storage also when usage cannot be closed', async () => {
    const storage = memoryStorage();
    const usage = { ...memoryUsage(), close: () => Promise.reject(FAULT) };
    const flags = await openFlags({ storage: { ...storage, usage } });
    await expect(flags.close()).rejects.toBe(FAULT);
    await expect(storage.list({ kind: 'flag', part: 'body' })).rejects.toMatchObject({ code: 'closed' });
  });
});

describe('polling', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });

  afterEach(() => {
    jest.useRealTimers();
  });

  /** The times of its reads, in milliseconds since the start. */
  async function looksWithin(time: number, answer: (look: number) => boolean): Promise<readonly number[]> {
    const began = Date.now();
    const looks: number[] = [];
    const polling = startPolling({
      interval: 1000,
      attempt: async () => {
        looks.push(Date.now() - began);
        return answer(looks.length);
      },
    });
    await jest.advanceTimersByTimeAsync(time);
    polling.stop();
    await jest.advanceTimersByTimeAsync(100_000);
    return looks;
  }

  it('reads once per interval while that works, and stops', async () => {
    expect(await looksWithin(3500, () => true)).toEqual([1000, 2000, 3000]);
  });

  it('reads ever less often while that fails, but at least every fifteen seconds', async () => {
    const looks = await looksWithin(300_000, () => false);
    const pauses = looks.map((look, index) => look - (looks[index - 1] ?? 0));
    for (const [index, pause] of pauses.slice(1).entries()) {
      const longest = Math.min(1000 * 2 ** (index + 1), 15_000);
      expect(pause).toBeGreaterThanOrEqual(longest / 2);
      expect(pause).toBeLessThanOrEqual(longest);
    }
    expect(new Set(pauses.slice(5)).size).toBeGreaterThan(1);
  });

  it('returns to its interval as soon as a read succeeds', async () => {
    const looks = await looksWithin(100_000, (look) => look > 6);
    const pauses = looks.map((look, index) => look - (looks[index - 1] ?? 0));
    expect(pauses.slice(7)).toEqual(pauses.slice(7).map(() => 1000));
    expect(pauses.length).toBeGreaterThan(20);
  });

  it('returns to its interval when another caller reports success', async () => {
    let looks = 0;
    let works = false;
    const polling = startPolling({
      interval: 1000,
      attempt: async () => {
        looks += 1;
        return works;
      },
    });
    await jest.advanceTimersByTimeAsync(60_000);
    const before = looks;
    works = true;
    polling.resetBackoff();
    await jest.advanceTimersByTimeAsync(999);
    expect(looks).toBe(before);
    await jest.advanceTimersByTimeAsync(1);
    expect(looks).toBe(before + 1);
    polling.stop();
  });

  it('keeps its interval if another caller reports success without a failure, or during a read', async () => {
    let answer: (works: boolean) => void = () => undefined;
    let looks = 0;
    const polling = startPolling({
      interval: 1000,
      attempt: () => {
        looks += 1;
        return new Promise((resolve) => {
          answer = resolve;
        });
      },
    });
    await jest.advanceTimersByTimeAsync(900);
    polling.resetBackoff();
    await jest.advanceTimersByTimeAsync(100);
    expect(looks).toBe(1);
    answer(false);
    await jest.advanceTimersByTimeAsync(2000);
    expect(looks).toBe(2);
    polling.resetBackoff();
    await jest.advanceTimersByTimeAsync(60_000);
    expect(looks).toBe(2);
    polling.stop();
  });
});
