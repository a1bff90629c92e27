import { beginSlice, nextTurn, paced, pause } from '../../src/base/paced.js';
import { createKeyedMutex } from '../../src/kernel/changes/change-set-writer.js';

function spend(milliseconds: number): void {
  for (const end = performance.now() + milliseconds; performance.now() < end; );
}

/** Runs slices of this length, while other work waits for the same pass of the event loop. */
async function orderOf(milliseconds: number): Promise<readonly string[]> {
  await new Promise(setImmediate);
  const order: string[] = [];
  const take = async (name: string) => {
    await nextTurn();
    spend(milliseconds);
    order.push(name);
  };
  const all = [take('first'), take('second')];
  setImmediate(() => order.push('other'));
  await Promise.all(all);
  await new Promise(setImmediate);
  return order;
}

describe('slices of work', () => {
  it('share a pass of the event loop while they are short', async () => {
    expect(await orderOf(0)).toEqual(['first', 'second', 'other']);
  });

  it('yield after a long one', async () => {
    expect(await orderOf(10)).toEqual(['first', 'other', 'second']);
  });

  it('run in the order of the calls, however long they are', async () => {
    const order: number[] = [];
    await Promise.all(
      [1, 2, 3, 4, 5, 6].map(async (number) => {
        await nextTurn();
        spend(number % 2 === 0 ? 8 : 0);
        order.push(number);
      }),
    );
    expect(order).toEqual([1, 2, 3, 4, 5, 6]);
  });
});

describe('a slice', () => {
  it('begins with the first pause of a turn, or before long work without one', async () => {
    await new Promise(setImmediate);
    spend(10);
    expect(pause()).toBeUndefined();
    await new Promise(setImmediate);
    beginSlice();
    spend(10);
    expect(pause()).toBeInstanceOf(Promise);
  });
});

describe('paced work', () => {
  it('processes all items of lists and iterators', async () => {
    async function* later() {
      yield* [3, 4];
    }
    const seen: number[] = [];
    for await (const item of paced([1, 2])) seen.push(item);
    for await (const item of paced(later())) seen.push(item);
    expect(seen).toEqual([1, 2, 3, 4]);
  });

  it('yields after its slice', async () => {
    let others = 0;
    const timer = setInterval(() => {
      others += 1;
    }, 1);
    for await (const _item of paced(Array.from({ length: 20 }))) spend(3);
    clearInterval(timer);
    expect(others).toBeGreaterThan(5);
  });

  it('ends when its signal aborts, and closes its source', async () => {
    const controller = new AbortController();
    let isClosed = false;
    function* items() {
      try {
        for (;;) yield 1;
      } finally {
        isClosed = true;
      }
    }
    const work = async () => {
      for await (const _item of paced(items(), { signal: controller.signal })) {
        spend(10);
        controller.abort(new Error('gone'));
      }
    };
    await expect(work()).rejects.toThrow('gone');
    expect(isClosed).toBe(true);
  });
});

describe('calls for the same key', () => {
  /** Work that ends on demand. */
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

  it('run one after the other, in the order of the calls', async () => {
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

  it('continue after a failure, which rejects only its own call', async () => {
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

  it('wait for the earlier calls of each of their keys, and cannot deadlock', async () => {
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
    // Starts synchronously: the key has no earlier call.
    expect(later.isBegun()).toBe(true);
  });
});
