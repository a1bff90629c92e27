import assert from 'node:assert/strict';
import { assertSame } from './assert-same.js';
import type { MetricsRule } from './rule.js';
import { MINUTE, NOW, once, report } from './samples.js';

export function forgettingRules(rule: MetricsRule): void {
  rule('drops the counts, the usage and the last-seen time of a flag', async (metrics) => {
    await metrics.record([report({ counts: once('checkout', 'search') })]);
    await metrics.record([report({ application: 'billing', stop: NOW - MINUTE, counts: once('checkout') })]);
    await metrics.forget('checkout');
    assertSame(await metrics.counts({ after: 0 }), once('search'));
    assertSame(await metrics.usage(), [{ application: 'shop', flag: 'search', count: 1 }]);
    assertSame([...(await metrics.lastSeen(['checkout', 'search'])).keys()], ['search']);
    assertSame((await metrics.application('billing'))?.flags, []);
  });

  rule('lets the flag start anew when it is reported again', async (metrics) => {
    await metrics.record([report({ counts: [{ flag: 'checkout', yes: 7, no: 7 }] })]);
    await metrics.forget('checkout');
    await metrics.record([report({ stop: NOW - MINUTE })]);
    assertSame(await metrics.counts({ after: 0 }), once('checkout'));
    assertSame(await metrics.usage(), [{ application: 'shop', flag: 'checkout', count: 1 }]);
    assert.equal((await metrics.lastSeen(['checkout'])).get('checkout'), NOW - MINUTE);
  });

  rule('changes nothing for a flag that was never reported', async (metrics) => {
    await metrics.record([report()]);
    await metrics.forget('search');
    assertSame(await metrics.counts({ after: 0 }), once('checkout'));
  });
}
