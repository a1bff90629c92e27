import assert from 'node:assert/strict';
import { assertSame } from './assert-same.js';
import type { MetricsRule } from './rule.js';
import { NOW, once, report, SECOND } from './samples.js';

const EVER = { after: 0 };

export function countRules(rule: MetricsRule): void {
  rule('there are none before the first report', async (metrics) => {
    assertSame(await metrics.counts(EVER), []);
  });

  rule('adds up what is reported of a flag', async (metrics) => {
    await metrics.record([report({ counts: [{ flag: 'checkout', yes: 3, no: 1 }] })]);
    await metrics.record([report({ counts: [{ flag: 'checkout', yes: 2, no: 5 }] })]);
    assertSame(await metrics.counts(EVER), [{ flag: 'checkout', yes: 5, no: 6 }]);
  });

  rule('adds up over seconds, applications and instances', async (metrics) => {
    await metrics.record([report({ stop: NOW - 5 * SECOND })]);
    await metrics.record([report({ application: 'billing' })]);
    await metrics.record([report({ instance: { id: 'shop-2' } })]);
    assertSame(await metrics.counts(EVER), [{ flag: 'checkout', yes: 3, no: 0 }]);
  });

  rule('keeps flags apart', async (metrics) => {
    const counts = [
      { flag: 'banner', yes: 1, no: 2 },
      { flag: 'checkout', yes: 3, no: 4 },
    ];
    await metrics.record([report({ counts })]);
    assertSame(await metrics.counts(EVER), counts);
  });

  rule('lists flags in order of their names, however they were reported', async (metrics) => {
    await metrics.record([report({ counts: once('c', 'a') })]);
    await metrics.record([report({ stop: NOW - SECOND, counts: once('b', 'd') })]);
    assertSame(await metrics.counts(EVER), once('a', 'b', 'c', 'd'));
  });

  rule('lists a flag that was reported with zeros', async (metrics) => {
    const counts = [{ flag: 'checkout', yes: 0, no: 0 }];
    await metrics.record([report({ counts })]);
    assertSame(await metrics.counts(EVER), counts);
  });

  rule('takes a report that counts no flag', async (metrics) => {
    await metrics.record([report({ counts: [] })]);
    assertSame(await metrics.counts(EVER), []);
    assert.equal((await metrics.application('shop'))?.seenAt, NOW);
  });

  rule('takes a report of a thousand flags', async (metrics) => {
    const counts = Array.from({ length: 1000 }, (_, index) => ({ flag: `flag-${1000 + index}`, yes: index, no: 1 }));
    await metrics.record([report({ counts })]);
    assertSame(await metrics.counts(EVER), counts);
  });

  // 1,100 times the largest exact number is more than 64 bits hold.
  rule('stops sums at the largest exact number, and goes on taking reports', async (metrics) => {
    const huge = report({ counts: [{ flag: 'checkout', yes: Number.MAX_SAFE_INTEGER, no: 0 }] });
    await Promise.all(Array.from({ length: 1100 }, async () => metrics.record([huge])));
    await metrics.record([
      report({ stop: NOW - 5000, counts: [{ flag: 'checkout', yes: Number.MAX_SAFE_INTEGER, no: 0 }] }),
    ]);
    assertSame(await metrics.counts(EVER), [{ flag: 'checkout', yes: Number.MAX_SAFE_INTEGER, no: 0 }]);
    const [use] = await metrics.usage();
    assert.equal(use?.count, Number.MAX_SAFE_INTEGER);
  });
}
