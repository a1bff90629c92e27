import assert from 'node:assert/strict';
import { assertSame } from './assert-same.js';
import type { MetricsRule } from './rule.js';
import { MINUTE, NOW, once, registration, report } from './samples.js';

const CALLERS = Array.from({ length: 200 }, (_, index) => index);

export function simultaneousRules(rule: MetricsRule): void {
  rule('two hundred reports at once all count', async (metrics) => {
    const counts = [{ flag: 'checkout', yes: 2, no: 1 }];
    await Promise.all(CALLERS.map(async () => metrics.record([report({ counts })])));
    assertSame(await metrics.counts({ after: 0 }), [{ flag: 'checkout', yes: 400, no: 200 }]);
    assertSame(await metrics.usage(), [{ application: 'shop', flag: 'checkout', count: 600 }]);
  });

  rule('two hundred reports at once through two instances all count', async (metrics, again) => {
    const instances = [metrics, await again()];
    const record = async (caller: number) => instances[caller % 2]?.record([report({ counts: once('a', 'b') })]);
    await Promise.all(CALLERS.map(record));
    for (const instance of instances) {
      const counts = await instance.counts({ after: 0 });
      assertSame(
        counts.map(({ flag, yes }) => [flag, yes]),
        [
          ['a', 200],
          ['b', 200],
        ],
      );
    }
  });

  rule('the latest of many last-seen times wins, whoever comes last', async (metrics, again) => {
    const instances = [metrics, await again()];
    const record = async (caller: number) =>
      instances[caller % 2]?.record([report({ at: NOW + MINUTE, stop: NOW - Math.abs(caller - 100) })]);
    await Promise.all(CALLERS.map(record));
    assert.equal((await metrics.lastSeen(['checkout'])).get('checkout'), NOW);
  });

  rule('reports in crossing order of flags all count', async (metrics, again) => {
    const instances = [metrics, await again()];
    const orders = [once('a', 'b', 'c'), once('c', 'b', 'a')];
    const record = async (caller: number) =>
      instances[caller % 2]?.record([report({ counts: orders[caller % 2] ?? [] })]);
    await Promise.all(CALLERS.map(record));
    const sums = (await metrics.counts({ after: 0 })).map(({ yes }) => yes);
    assertSame(sums, [200, 200, 200]);
  });

  rule('many instances that register at once make one application', async (metrics, again) => {
    const instances = [metrics, await again()];
    const register = async (caller: number) =>
      instances[caller % 2]?.register(registration({ instance: { id: `shop-${caller}` } }));
    await Promise.all(CALLERS.map(register));
    assert.equal((await metrics.applications({ seenSince: 0 })).length, 1);
    assert.equal((await metrics.application('shop'))?.instances.length, CALLERS.length);
  });

  rule('what one instance has acknowledged another sees', async (metrics, again) => {
    const other = await again();
    assertSame(await other.counts({ after: 0 }), []);
    await metrics.record([report()]);
    assertSame(await other.counts({ after: 0 }), once('checkout'));
    assertSame(await other.application('shop'), await metrics.application('shop'));
    assert.equal((await other.lastSeen(['checkout'])).get('checkout'), NOW);
    await other.forget('checkout');
    assertSame(await metrics.counts({ after: 0 }), []);
  });
}
