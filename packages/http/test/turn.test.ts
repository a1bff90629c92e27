import { coalescePerTick, runInTurn } from '../src/event-loop.js';

describe('a turn', () => {
  it('ends after all that has come in already, at once for all who wait for it', async () => {
    const turn = coalescePerTick();
    const seen: string[] = [];
    const waiting = [turn().then(() => seen.push('one')), turn().then(() => seen.push('two'))];
    await new Promise((resolve) => process.nextTick(resolve));
    seen.push('came in');
    await Promise.all(waiting);
    expect(seen).toEqual(['came in', 'one', 'two']);
  });

  it('is another one for who asks later', async () => {
    const turn = coalescePerTick();
    const first = turn();
    expect(turn()).toBe(first);
    await first;
    expect(turn()).not.toBe(first);
  });
});

describe('tasks in turn', () => {
  /** Runs tasks that take so long, and then something else that was waiting for the same event-loop pass. */
  async function orderOf(milliseconds: number): Promise<readonly string[]> {
    const order: string[] = [];
    await new Promise<void>((resolve) => {
      for (const name of ['first', 'second']) {
        runInTurn(() => {
          const end = performance.now() + milliseconds;
          while (performance.now() < end);
          order.push(name);
          if (name === 'second') setImmediate(resolve);
        });
      }
      setImmediate(() => order.push('other'));
    });
    return order;
  }

  it('share an event-loop pass while they are short', async () => {
    expect(await orderOf(0)).toEqual(['first', 'second', 'other']);
  });

  it('let others run after a long one', async () => {
    expect(await orderOf(5)).toEqual(['first', 'other', 'second']);
  });

  it('run in the order of the calls, however long they are', async () => {
    const order: number[] = [];
    await new Promise<void>((resolve) => {
      for (const number of [1, 2, 3, 4, 5, 6]) {
        runInTurn(() => {
          const end = performance.now() + (number % 2 === 0 ? 5 : 0);
          while (performance.now() < end);
          order.push(number);
          if (number === 6) resolve();
        });
      }
    });
    expect(order).toEqual([1, 2, 3, 4, 5, 6]);
  });
});
