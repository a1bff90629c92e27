import { until } from '../../../../test/until.js';
import { throttle } from '../../src/listening/notifier.js';

describe('what is spaced', () => {
  const HOUR = 3_600_000;

  it('is done at once when it is asked for, and not again before the pause is over', async () => {
    let times = 0;
    const { ask, finish } = throttle(HOUR, () => {
      times += 1;
    });
    for (let asked = 0; asked < 3; asked++) ask();
    await Promise.resolve();
    expect(times).toBe(1);
    await finish();
    expect(times).toBe(2);
  });

  it('is done again after the pause', async () => {
    let times = 0;
    const { ask, finish } = throttle(1, () => {
      times += 1;
    });
    ask();
    ask();
    await until(() => times === 2);
    await finish();
    expect(times).toBe(2);
  });
});
