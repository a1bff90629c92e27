import { nextTurn, paced } from '../../src/base/paced.js';

function spend(milliseconds: number): void {
  for (const end = performance.now() + milliseconds; performance.now() < end; );
}

/** Takes turns that last so long, while something else waits for the same pass of the event loop. */
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

describe('turns', () => {
  it('share a pass of the event loop while they are short', async () => {
    expect(await orderOf(0)).toEqual(['first', 'second', 'other']);
  });

  it('yield after a long one', async () => {
    expect(await orderOf(10)).toEqual(['first', 'other', 'second']);
  });

  it('come in the order of the calls, however long they are', async () => {
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

describe('paced work', () => {
  it('has all items, of lists and of iterations', async () => {
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
