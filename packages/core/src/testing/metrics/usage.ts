import { assertSame } from './assert-same.js';
import type { MetricsRule } from './rule.js';
import { once, registration, report } from './samples.js';

export function usageRules(rule: MetricsRule): void {
  rule('there is none before the first report', async (metrics) => {
    await metrics.register(registration());
    assertSame(await metrics.usage(), []);
  });

  rule('sums yes and no of all reports of an application', async (metrics) => {
    await metrics.record([report({ counts: [{ flag: 'checkout', yes: 3, no: 1 }] })]);
    await metrics.record([report({ instance: { id: 'shop-2' }, counts: [{ flag: 'checkout', yes: 0, no: 2 }] })]);
    assertSame(await metrics.usage(), [{ application: 'shop', flag: 'checkout', count: 6 }]);
  });

  rule('keeps applications apart and lists by application, then flag', async (metrics) => {
    await metrics.record([report({ application: 'shop', counts: once('search', 'checkout') })]);
    await metrics.record([report({ application: 'billing', counts: once('checkout') })]);
    assertSame(await metrics.usage(), [
      { application: 'billing', flag: 'checkout', count: 1 },
      { application: 'shop', flag: 'checkout', count: 1 },
      { application: 'shop', flag: 'search', count: 1 },
    ]);
  });

  rule('lists a flag that was reported with zeros', async (metrics) => {
    await metrics.record([report({ counts: [{ flag: 'checkout', yes: 0, no: 0 }] })]);
    assertSame(await metrics.usage(), [{ application: 'shop', flag: 'checkout', count: 0 }]);
  });

  rule('an application shows the flags it has evaluated, each once and in order', async (metrics) => {
    await metrics.record([report({ counts: once('search', 'checkout') })]);
    await metrics.record([report({ counts: once('checkout', 'banner') })]);
    await metrics.record([report({ application: 'billing', counts: once('invoice') })]);
    assertSame((await metrics.application('shop'))?.flags, ['banner', 'checkout', 'search']);
  });
}
