import assert from 'node:assert/strict';
import { assertSame } from './assert-same.js';
import type { MetricsRule } from './rule.js';
import { NOW, once, registration, report } from './samples.js';

/** Overwrites everything in a value, as a careless caller might. */
function spoil(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  if (value instanceof Map) value.clear();
  for (const [key, member] of Object.entries(value)) {
    spoil(member);
    Reflect.set(value, key, 'spoilt');
  }
}

export function copyRules(rule: MetricsRule): void {
  rule('are copies that a caller may change', async (metrics) => {
    await metrics.register(registration());
    await metrics.record([report()]);
    const read = async () => [
      await metrics.counts({ after: 0 }),
      await metrics.applications({ seenSince: 0 }),
      await metrics.application('shop'),
      await metrics.usage(),
      [...(await metrics.lastSeen(['checkout']))],
    ];
    const before = structuredClone(await read());
    spoil(await read());
    spoil(await metrics.lastSeen(['checkout']));
    assertSame(await read(), before);
  });

  rule('do not change with what was passed in, once that is acknowledged', async (metrics) => {
    const strategies = ['default'];
    const instance = { id: 'shop-1', clientIp: '192.0.2.7' };
    const counts = [{ flag: 'checkout', yes: 1, no: 0 }];
    await metrics.register(registration({ strategies, instance }));
    await metrics.record([report({ counts, instance })]);
    for (const input of [strategies, instance, counts]) spoil(input);
    const application = await metrics.application('shop');
    assertSame(application?.strategies, ['default']);
    assert.equal(application?.instances[0]?.clientIp, '192.0.2.7');
    assertSame(await metrics.counts({ after: 0 }), once('checkout'));
  });

  rule('do not change with later reports', async (metrics) => {
    await metrics.record([report()]);
    const counts = await metrics.counts({ after: 0 });
    const seen = await metrics.lastSeen(['checkout']);
    await metrics.record([report({ at: NOW + 1, stop: NOW + 1 })]);
    assertSame(counts, once('checkout'));
    assert.equal(seen.get('checkout'), NOW);
  });
}
