import { assertSame } from './assert-same.js';
import type { MetricsRule } from './rule.js';
import { once, report } from './samples.js';

export function closingRules(rule: MetricsRule): void {
  rule('again does nothing', async (metrics) => {
    await metrics.record([report()]);
    await metrics.close();
    await metrics.close();
  });

  rule('one instance leaves another open', async (metrics, again) => {
    const other = await again();
    if (other !== metrics) await metrics.close();
    await other.record([report()]);
    assertSame(await other.counts({ after: 0 }), once('checkout'));
  });
}
