import { createKeyedMutex } from '../../src/changesets/change-set-writer.js';

/** Work that ends when told. */
function controlledWork() {
  let resolve: (value: string) => void = () => undefined;
  let reject: (error: Error) => void = () => undefined;
  const promise = new Promise<string>((...settle) => {
    [resolve, reject] = settle;
  });
  let begun = false;
  const work = () => {
    begun = true;
    return promise;
  };
  return { work, resolve, reject, isBegun: () => begun };
}

describe('turns', () => {
  it('are taken one after the other, in the order of asking', async () => {
    const takeTurn = createKeyedMutex();
    const log: string[] = [];
    const works = ['a', 'b', 'c'].map((name) => async () => {
      log.push(`${name} begins`);
      await new Promise(setImmediate);
      log.push(`${name} ends`);
      return name;
    });
    expect(await Promise.all(works.map((work) => takeTurn(['key'], work)))).toEqual(['a', 'b', 'c']);
    expect(log).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
  });

  it('start at once when the key is free', () => {
    const takeTurn = createKeyedMutex();
    const [one, other] = [controlledWork(), controlledWork()];
    void takeTurn(['one'], one.work);
    void takeTurn(['other'], other.work);
    expect([one.isBegun(), other.isBegun()]).toEqual([true, true]);
  });

  it('reject all waiting callers with the same error', async () => {
    const full = new Error('full');
    const takeTurn = createKeyedMutex((error) => error === full);
    const [first, second] = [controlledWork(), controlledWork()];
    const turns = [takeTurn(['key'], first.work), takeTurn(['key'], second.work), takeTurn(['key'], second.work)];
    first.reject(full);
    const outcome = { status: 'rejected', reason: full };
    expect(await Promise.allSettled(turns)).toEqual([outcome, outcome, outcome]);
    expect(second.isBegun()).toBe(false);
    expect(await takeTurn(['key'], async () => 'later')).toBe('later');
  });

  it('pass on after a failure, which only its own caller learns of', async () => {
    const takeTurn = createKeyedMutex();
    const [failing, next] = [controlledWork(), controlledWork()];
    const failed = takeTurn(['key'], failing.work);
    const passed = takeTurn(['key'], next.work);
    expect(next.isBegun()).toBe(false);
    failing.reject(new Error('failed'));
    await expect(failed).rejects.toThrow('failed');
    next.resolve('done');
    expect(await passed).toBe('done');
  });

  it('for several keys wait for the earlier ones of each key, and cannot deadlock', async () => {
    const takeTurn = createKeyedMutex();
    const log: string[] = [];
    const working = (name: string) => async () => {
      log.push(`${name} begins`);
      await new Promise(setImmediate);
      log.push(`${name} ends`);
    };
    await Promise.all([
      takeTurn(['a', 'b'], working('first')),
      takeTurn(['b', 'a'], working('second')),
      takeTurn(['b'], working('third')),
      takeTurn(['c'], working('other')),
    ]);
    expect(log.filter((entry) => !entry.startsWith('other'))).toEqual(
      ['first', 'second', 'third'].flatMap((name) => [`${name} begins`, `${name} ends`]),
    );
    expect(log.indexOf('other begins')).toBeLessThan(log.indexOf('first ends'));
  });

  it('release unused keys', async () => {
    const takeTurn = createKeyedMutex();
    await takeTurn(['key'], async () => 'first');
    await expect(takeTurn(['key'], () => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
    const later = controlledWork();
    void takeTurn(['key'], later.work);
    // Begins without waiting for a promise: no earlier turn is remembered.
    expect(later.isBegun()).toBe(true);
  });
});
