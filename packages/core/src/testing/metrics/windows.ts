import assert from 'node:assert/strict';
import type { MetricsStorage } from '../../metrics/port.js';
import { assertSame } from './assert-same.js';
import type { MetricsRule } from './rule.js';
import { MINUTE, NOW, report, SECOND } from './samples.js';

async function yesAfter(metrics: MetricsStorage, after: number): Promise<number> {
  const [count] = await metrics.counts({ after });
  return count?.yes ?? 0;
}

export function windowRules(rule: MetricsRule): void {
  rule('a window holds what ended after its start, and nothing earlier', async (metrics) => {
    for (const age of [0, 30 * SECOND, 2 * MINUTE, 59 * MINUTE, 61 * MINUTE]) {
      await metrics.record([report({ stop: NOW - age })]);
    }
    assert.equal(await yesAfter(metrics, NOW - MINUTE), 2);
    assert.equal(await yesAfter(metrics, NOW - 60 * MINUTE), 4);
    assert.equal(await yesAfter(metrics, 0), 5);
  });

  rule('a flag with nothing in the window is not listed', async (metrics) => {
    await metrics.record([report({ stop: NOW - 2 * MINUTE })]);
    assertSame(await metrics.counts({ after: NOW - MINUTE }), []);
  });

  rule('the end of the period decides, not the arrival of the report', async (metrics) => {
    await metrics.record([report({ at: NOW, stop: NOW - 2 * MINUTE })]);
    assert.equal(await yesAfter(metrics, NOW - MINUTE), 0);
    assert.equal(await yesAfter(metrics, NOW - 3 * MINUTE), 1);
  });

  rule('a period that ends on a full second belongs to that second', async (metrics) => {
    await metrics.record([report({ stop: NOW })]);
    assert.equal(await yesAfter(metrics, NOW - 1), 1);
    assert.equal(await yesAfter(metrics, NOW), 0);
  });

  rule('a period that ends within a second belongs to the next full one', async (metrics) => {
    await metrics.record([report({ stop: NOW - SECOND + 1 })]);
    await metrics.record([report({ stop: NOW - 1 })]);
    assert.equal(await yesAfter(metrics, NOW - 1), 2);
    assert.equal(await yesAfter(metrics, NOW), 0);
  });

  rule('a window may start within a second', async (metrics) => {
    await metrics.record([report({ stop: NOW - SECOND })]);
    await metrics.record([report({ stop: NOW })]);
    assert.equal(await yesAfter(metrics, NOW - SECOND - 1), 2);
    assert.equal(await yesAfter(metrics, NOW - SECOND), 1);
    assert.equal(await yesAfter(metrics, NOW - SECOND / 2), 1);
  });
}
