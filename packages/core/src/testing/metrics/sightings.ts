import assert from 'node:assert/strict';
import type { MetricsRule } from './rule.js';
import { MINUTE, NOW, once, report } from './samples.js';

export function sightingRules(rule: MetricsRule): void {
  rule('a flag that was never reported is absent', async (metrics) => {
    await metrics.record([report()]);
    assert.deepEqual(new Map(await metrics.lastSeen(['checkout', 'banner'])), new Map([['checkout', NOW]]));
  });

  rule('only the flags asked for are given', async (metrics) => {
    await metrics.record([report({ counts: once('checkout', 'banner') })]);
    assert.deepEqual(new Map(await metrics.lastSeen(['banner'])), new Map([['banner', NOW]]));
    assert.equal((await metrics.lastSeen([])).size, 0);
  });

  rule('a flag was seen when the reported period ended, to the millisecond', async (metrics) => {
    await metrics.record([report({ at: NOW, stop: NOW - 123 })]);
    assert.equal((await metrics.lastSeen(['checkout'])).get('checkout'), NOW - 123);
  });

  rule('the latest end counts, whatever the order of arrival', async (metrics) => {
    for (const stop of [NOW - 2 * MINUTE, NOW, NOW - MINUTE]) await metrics.record([report({ stop })]);
    assert.equal((await metrics.lastSeen(['checkout'])).get('checkout'), NOW);
  });

  rule('a flag reported with zeros was seen', async (metrics) => {
    await metrics.record([report({ counts: [{ flag: 'checkout', yes: 0, no: 0 }] })]);
    assert.equal((await metrics.lastSeen(['checkout'])).get('checkout'), NOW);
  });

  rule('two thousand flags are answered at once', async (metrics) => {
    const flags = Array.from({ length: 2000 }, (_, index) => `flag-${index}`);
    await metrics.record([report({ counts: once(...flags) })]);
    assert.deepEqual(new Map(await metrics.lastSeen(flags)), new Map(flags.map((flag) => [flag, NOW])));
  });
}
