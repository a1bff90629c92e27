import { until } from '../../../../test/until.js';
import { throttle } from '../../src/notifications.js';

describe('a throttle', () => {
  const HOUR = 3_600_000;

  it('runs at once on request, and again only after the pause', async () => {
    let times = 0;
    const { request, finish } = throttle(HOUR, () => {
      times += 1;
    });
    for (let count = 0; count < 3; count++) request();
    await Promise.resolve();
    expect(times).toBe(1);
    await finish();
    expect(times).toBe(2);
  });

  it('runs again after the pause', async () => {
    let times = 0;
    const { request, finish } = throttle(1, () => {
      times += 1;
    });
    request();
    request();
    await until(() => times === 2);
    await finish();
    expect(times).toBe(2);
  });
});
