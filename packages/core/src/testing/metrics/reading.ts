import assert from 'node:assert/strict';
import type { FlagUsage, MetricsStorage } from '../../storage/metrics-port.js';
import { assertSame, type MetricsRule } from '../test-runner.js';
import { NOW, once, registration, report } from './samples.js';

const PAIRS = ['billing', 'search', 'shop'].flatMap((application) =>
  ['a', 'b', 'c'].map((flag) => ({ application, flag, count: 1 })),
);
const BY_FLAG = [...PAIRS].sort((one, other) => one.flag.localeCompare(other.flag));

/** Half of the names of every application are unknown names. */
async function fill(metrics: MetricsStorage): Promise<void> {
  for (const application of ['shop', 'billing', 'search']) {
    await metrics.record([report({ application, counts: once('a', 'c'), unknown: once('b') })]);
  }
}

async function pagesOf(metrics: MetricsStorage, order: 'application' | 'flag', limit: number): Promise<FlagUsage[]> {
  const found: FlagUsage[] = [];
  for (;;) {
    const after = found.at(-1);
    const page = await metrics.usage({ order, limit, ...(after && { after }) });
    found.push(...page);
    if (page.length < limit) return found;
  }
}

export function readingRules(rule: MetricsRule): void {
  rule('returns pages of usage, by application or by flag', async (metrics) => {
    await fill(metrics);
    for (const limit of [1, 2, 4, 9, 100]) {
      assertSame(await pagesOf(metrics, 'application', limit), PAIRS);
      assertSame(await pagesOf(metrics, 'flag', limit), BY_FLAG);
    }
    assertSame(await metrics.usage(), PAIRS);
    assertSame(await metrics.usage({ order: 'flag' }), BY_FLAG);
  });

  rule('returns pages of applications, and named applications', async (metrics) => {
    for (const application of ['d', 'b', 'a', 'c']) await metrics.register(registration({ application }));
    await metrics.register(registration({ application: 'old', at: NOW - 1 }));
    const found = async (query: Partial<Parameters<MetricsStorage['applications']>[0]>) =>
      (await metrics.applications({ seenSince: NOW, ...query })).map(({ name }) => name);
    assertSame(await found({ limit: 2 }), ['a', 'b']);
    assertSame(await found({ limit: 2, after: 'b' }), ['c', 'd']);
    assertSame(await found({ limit: 2, after: 'd' }), []);
    assertSame(await found({ names: ['c', 'old', 'unknown', 'a'] }), ['a', 'c']);
    assertSame(await found({ names: [] }), []);
  });

  rule('returns nothing of a forgotten application, but keeps the counts of its flags', async (metrics) => {
    await fill(metrics);
    assert.equal(await metrics.forgetApplication('unknown'), false);
    assert.equal(await metrics.forgetApplication('shop'), true);
    assert.equal(await metrics.application('shop'), undefined);
    assertSame(
      await metrics.usage(),
      PAIRS.filter(({ application }) => application !== 'shop'),
    );
    const [count] = await metrics.counts({ after: 0 });
    assertSame(count, { flag: 'a', yes: 3, no: 0 });
    assert.equal(await metrics.forgetApplication('shop'), false);
  });
}
