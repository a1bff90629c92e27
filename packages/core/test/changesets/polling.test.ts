import { startPolling } from '../../src/replica/change-poller.js';

beforeEach(() => {
  jest.useFakeTimers();
});

afterEach(() => {
  jest.useRealTimers();
});

/** When it looked, in milliseconds since the beginning. */
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

describe('polling', () => {
  it('looks once per interval while that works, and no more once it is stopped', async () => {
    expect(await looksWithin(3500, () => true)).toEqual([1000, 2000, 3000]);
  });

  it('looks ever more seldom while that fails, and never less than every fifteen seconds', async () => {
    const looks = await looksWithin(300_000, () => false);
    const pauses = looks.map((look, index) => look - (looks[index - 1] ?? 0));
    for (const [index, pause] of pauses.slice(1).entries()) {
      const longest = Math.min(1000 * 2 ** (index + 1), 15_000);
      expect(pause).toBeGreaterThanOrEqual(longest / 2);
      expect(pause).toBeLessThanOrEqual(longest);
    }
    expect(new Set(pauses.slice(5)).size).toBeGreaterThan(1);
  });

  it('is back at its interval as soon as looking works again', async () => {
    const looks = await looksWithin(100_000, (look) => look > 6);
    const pauses = looks.map((look, index) => look - (looks[index - 1] ?? 0));
    expect(pauses.slice(7)).toEqual(pauses.slice(7).map(() => 1000));
    expect(pauses.length).toBeGreaterThan(20);
  });

  it('is back at its interval when somebody else finds that it works', async () => {
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

  it('is not moved by who finds that it works when it has not failed, or is looking', async () => {
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
