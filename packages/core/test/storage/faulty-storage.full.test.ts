import { type FlagsStorage, memoryStorage } from '../../src/index.js';
import { memoryUsage } from '../../src/storage/memory/usage.js';
import { faultyStorage, storageConformance } from '../../src/testing.js';
import { usageConformance } from '../usage/conformance/suite.js';
import { faultyUsage } from '../usage/faulty-usage.js';

const KEY = { kind: 'note', id: 'a' };
const EVERY = { kind: 'note', part: 'body' } as const;
const PUT = { writes: [{ key: KEY, expected: 0, parent: null, body: 1, summary: null }], events: [] };
const ERROR = new Error('injected');

// Without faults it passes the same rules as any storage.
storageConformance('a faulty storage without faults', () => ({ storage: faultyStorage(memoryStorage()) }));
usageConformance('faulty usage without faults', () => ({ usage: faultyUsage(memoryUsage()) }));

describe('a faulty storage', () => {
  it('fails before a call like an unavailable storage: nothing was changed', async () => {
    const storage = faultyStorage(memoryStorage());
    storage.inject({ method: 'commit' });
    await expect(storage.commit(PUT)).rejects.toMatchObject({ code: 'storage_unavailable' });
    expect(await storage.get(KEY)).toBeUndefined();
  });

  it('fails after a call as if its answer was lost: the call was executed', async () => {
    const storage = faultyStorage(memoryStorage());
    storage.inject({ method: 'commit', point: 'after' });
    await expect(storage.commit(PUT)).rejects.toMatchObject({ code: 'outcome_unknown' });
    expect(await storage.get(KEY)).toMatchObject({ body: 1 });
  });

  it.each(['before', 'after'] as const)('fails with the given error, %s', async (point) => {
    const storage = faultyStorage(memoryStorage());
    storage.inject({ method: 'get', point, error: ERROR });
    await expect(storage.get(KEY)).rejects.toBe(ERROR);
  });

  it('passes on notifications of other processes', async () => {
    const watchers = new Set<() => void>();
    const watched: FlagsStorage = {
      ...memoryStorage(),
      watch(onChange) {
        watchers.add(onChange);
        return () => void watchers.delete(onChange);
      },
    };
    const heard = jest.fn();
    const end = faultyStorage(watched).watch?.(heard);
    for (const tell of watchers) tell();
    expect(heard).toHaveBeenCalledTimes(1);
    end?.();
    expect(watchers.size).toBe(0);
    expect(faultyStorage(memoryStorage()).watch).toBeUndefined();
  });

  it('fails in every method but close', async () => {
    const storage = faultyStorage(memoryStorage());
    const fault = storage.inject({ error: ERROR });
    const calls = [
      storage.get(KEY),
      storage.list(EVERY),
      storage.commit(PUT),
      storage.events({ order: 'oldest-first', limit: 1 }),
    ];
    expect(await Promise.all(calls.map(outcomeOf))).toEqual(['failed', 'failed', 'failed', 'failed']);
    await storage.close();
    expect(fault.strikes()).toBe(4);
    expect(storage.calls.map(({ method }) => method)).toEqual(['get', 'list', 'commit', 'events', 'close']);
  });

  it('fails on close, if a fault is injected there', async () => {
    const storage = faultyStorage(memoryStorage());
    storage.inject({ method: 'close', error: ERROR });
    await expect(storage.close()).rejects.toBe(ERROR);
  });

  it('fails the nth matching call, and a number of calls after it', async () => {
    const storage = faultyStorage(memoryStorage());
    const fault = storage.inject({ method: ['get', 'list'], nth: 2, times: 2, error: ERROR });
    const outcomes = [];
    for (let call = 0; call < 4; call++) outcomes.push(await outcomeOf(storage.get(KEY)));
    expect(outcomes).toEqual(['answered', 'failed', 'failed', 'answered']);
    expect(fault.strikes()).toBe(2);
  });

  it('fails one call if only nth is given, and all calls by default', async () => {
    const storage = faultyStorage(memoryStorage());
    storage.inject({ nth: 1, error: ERROR });
    expect([await outcomeOf(storage.get(KEY)), await outcomeOf(storage.get(KEY))]).toEqual(['failed', 'answered']);
    storage.inject({ error: ERROR });
    expect([await outcomeOf(storage.get(KEY)), await outcomeOf(storage.get(KEY))]).toEqual(['failed', 'failed']);
  });

  it('checks the call before it fails', async () => {
    const storage = faultyStorage(memoryStorage());
    storage.inject({ when: (call) => call.method === 'get' && call.input[0].id === 'a', error: ERROR });
    await expect(storage.get(KEY)).rejects.toBe(ERROR);
    expect(await storage.get({ ...KEY, id: 'b' })).toBeUndefined();
  });

  it('holds calls until they are released, and does not hold later calls', async () => {
    const storage = faultyStorage(memoryStorage());
    const hanging = storage.inject({ method: 'commit', hang: true });
    const commit = outcomeOf(storage.commit(PUT));
    await new Promise(setImmediate);
    expect(await storage.get(KEY)).toBeUndefined();
    hanging.release();
    expect(await commit).toBe('answered');
    expect(await outcomeOf(storage.commit(PUT))).toBe('answered');
  });

  it('holds an answer back after the call was executed', async () => {
    const storage = faultyStorage(memoryStorage());
    storage.inject({ method: 'commit', point: 'after', hang: true, error: ERROR });
    const commit = outcomeOf(storage.commit(PUT));
    await new Promise(setImmediate);
    expect(await storage.get(KEY)).toMatchObject({ body: 1 });
    storage.heal();
    expect(await commit).toBe('failed');
  });

  it('delays a call, which then succeeds', async () => {
    const storage = faultyStorage(memoryStorage());
    storage.inject({ method: 'get', delay: 20 });
    const before = performance.now();
    expect(await outcomeOf(storage.get(KEY))).toBe('answered');
    expect(performance.now() - before).toBeGreaterThanOrEqual(19);
  });

  it('works again when one fault or all faults are removed', async () => {
    const storage = faultyStorage(memoryStorage());
    const [first, second] = [storage.inject({ error: ERROR }), storage.inject({ error: new Error('second') })];
    first.remove();
    first.remove();
    await expect(storage.get(KEY)).rejects.toThrow('second');
    storage.heal();
    expect([await outcomeOf(storage.get(KEY)), first.strikes(), second.strikes()]).toEqual(['answered', 0, 1]);
  });

  it('passes on the refusal of the storage itself', async () => {
    const storage = faultyStorage(memoryStorage());
    await storage.close();
    storage.inject({ method: 'get', point: 'after', error: ERROR });
    await expect(storage.get(KEY)).rejects.toMatchObject({ code: 'closed' });
  });
});

async function outcomeOf(call: PromiseLike<unknown> | unknown): Promise<'answered' | 'failed'> {
  try {
    await call;
    return 'answered';
  } catch {
    return 'failed';
  }
}
