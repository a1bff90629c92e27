import assert from 'node:assert/strict';
import type { MetricsStorage } from '../../storage/metrics-port.js';
import { assertSame, type MetricsRule } from '../test-runner.js';
import { MINUTE, NOW, once, registration, report, SECOND } from './samples.js';

const EVER = { after: 0 };

export function countRules(rule: MetricsRule): void {
  rule('returns no counts before the first report', async (metrics) => {
    assertSame(await metrics.counts(EVER), []);
  });

  rule('sums the reports of a flag', async (metrics) => {
    await metrics.record([report({ counts: [{ flag: 'checkout', yes: 3, no: 1 }] })]);
    await metrics.record([report({ counts: [{ flag: 'checkout', yes: 2, no: 5 }] })]);
    assertSame(await metrics.counts(EVER), [{ flag: 'checkout', yes: 5, no: 6 }]);
  });

  rule('sums over seconds, applications and instances', async (metrics) => {
    await metrics.record([report({ stop: NOW - 5 * SECOND })]);
    await metrics.record([report({ application: 'billing' })]);
    await metrics.record([report({ instance: { id: 'shop-2' } })]);
    assertSame(await metrics.counts(EVER), [{ flag: 'checkout', yes: 3, no: 0 }]);
  });

  rule('separates flags', async (metrics) => {
    const counts = [
      { flag: 'banner', yes: 1, no: 2 },
      { flag: 'checkout', yes: 3, no: 4 },
    ];
    await metrics.record([report({ counts })]);
    assertSame(await metrics.counts(EVER), counts);
  });

  rule('lists flags by name, in whatever order they were reported', async (metrics) => {
    await metrics.record([report({ counts: once('c', 'a') })]);
    await metrics.record([report({ stop: NOW - SECOND, counts: once('b', 'd') })]);
    assertSame(await metrics.counts(EVER), once('a', 'b', 'c', 'd'));
  });

  rule('lists a flag with counts of zero', async (metrics) => {
    const counts = [{ flag: 'checkout', yes: 0, no: 0 }];
    await metrics.record([report({ counts })]);
    assertSame(await metrics.counts(EVER), counts);
  });

  rule('accepts a report without counts', async (metrics) => {
    await metrics.record([report({ counts: [] })]);
    assertSame(await metrics.counts(EVER), []);
    assert.equal((await metrics.application('shop'))?.seenAt, NOW);
  });

  rule('accepts a report of a thousand flags', async (metrics) => {
    const counts = Array.from({ length: 1000 }, (_, index) => ({ flag: `flag-${1000 + index}`, yes: index, no: 1 }));
    await metrics.record([report({ counts })]);
    assertSame(await metrics.counts(EVER), counts);
  });

  // 1,100 times the largest safe integer exceeds 64 bits.
  rule('stops sums at the largest safe integer, and accepts later reports', async (metrics) => {
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

async function yesAfter(metrics: MetricsStorage, after: number): Promise<number> {
  const [count] = await metrics.counts({ after });
  return count?.yes ?? 0;
}

export function windowRules(rule: MetricsRule): void {
  rule('counts the periods that ended after the start of the window, and none earlier', async (metrics) => {
    for (const age of [0, 30 * SECOND, 2 * MINUTE, 59 * MINUTE, 61 * MINUTE]) {
      await metrics.record([report({ stop: NOW - age })]);
    }
    assert.equal(await yesAfter(metrics, NOW - MINUTE), 2);
    assert.equal(await yesAfter(metrics, NOW - 60 * MINUTE), 4);
    assert.equal(await yesAfter(metrics, 0), 5);
  });

  rule('leaves out flags without reports in the window', async (metrics) => {
    await metrics.record([report({ stop: NOW - 2 * MINUTE })]);
    assertSame(await metrics.counts({ after: NOW - MINUTE }), []);
  });

  rule('counts a report by the end of its period, not by its arrival', async (metrics) => {
    await metrics.record([report({ at: NOW, stop: NOW - 2 * MINUTE })]);
    assert.equal(await yesAfter(metrics, NOW - MINUTE), 0);
    assert.equal(await yesAfter(metrics, NOW - 3 * MINUTE), 1);
  });

  rule('counts a period that ends on a full second in that second', async (metrics) => {
    await metrics.record([report({ stop: NOW })]);
    assert.equal(await yesAfter(metrics, NOW - 1), 1);
    assert.equal(await yesAfter(metrics, NOW), 0);
  });

  rule('counts a period that ends within a second in the next full second', async (metrics) => {
    await metrics.record([report({ stop: NOW - SECOND + 1 })]);
    await metrics.record([report({ stop: NOW - 1 })]);
    assert.equal(await yesAfter(metrics, NOW - 1), 2);
    assert.equal(await yesAfter(metrics, NOW), 0);
  });

  rule('accepts a window that starts within a second', async (metrics) => {
    await metrics.record([report({ stop: NOW - SECOND })]);
    await metrics.record([report({ stop: NOW })]);
    assert.equal(await yesAfter(metrics, NOW - SECOND - 1), 2);
    assert.equal(await yesAfter(metrics, NOW - SECOND), 1);
    assert.equal(await yesAfter(metrics, NOW - SECOND / 2), 1);
  });
}

/** In code-point order. UTF-16 order would swap the last two. */
const NAMES: readonly string[] = [
  ' ',
  '%_',
  "'; --",
  'A',
  '__proto__',
  'a',
  'constructor',
  'e\u0301',
  'hasOwnProperty',
  'toString',
  '\u00e9',
  '\u65e5\u672c',
  '\uff5e',
  '\u{1f600}',
];

const REVERSED = [...NAMES].reverse();

export function nameRules(rule: MetricsRule): void {
  rule('accepts any text for flags, and orders it by code points', async (metrics) => {
    await metrics.record([report({ counts: once(...REVERSED) })]);
    assertSame(await metrics.counts({ after: 0 }), once(...NAMES));
    assertSame((await metrics.application('shop'))?.flags, NAMES);
    assertSame(
      (await metrics.usage()).map(({ flag }) => flag),
      NAMES,
    );
  });

  rule('returns last-seen times of flags with any text as a name', async (metrics) => {
    assert.equal((await metrics.lastSeen(NAMES)).size, 0);
    await metrics.record([report({ counts: once(...REVERSED) })]);
    assert.deepEqual(new Map(await metrics.lastSeen(NAMES)), new Map(NAMES.map((name) => [name, NOW])));
  });

  rule('forgets flags with any text as a name', async (metrics) => {
    await metrics.record([report({ counts: once(...NAMES) })]);
    for (const name of NAMES.slice(1)) await metrics.forget(name);
    assertSame(await metrics.counts({ after: 0 }), once(...NAMES.slice(0, 1)));
    assertSame([...(await metrics.lastSeen(NAMES)).keys()], NAMES.slice(0, 1));
  });

  rule('keeps flags with any text as a name when it prunes', async (metrics) => {
    await metrics.record([report({ counts: once(...NAMES) })]);
    const [dropped = '', ...flags] = NAMES;
    await metrics.prune({ countersUntil: 0, unseenSince: NOW + 1, isFlag: (name) => flags.includes(name) });
    const seen = await metrics.lastSeen(NAMES);
    assertSame([seen.size, seen.has(dropped)], [flags.length, false]);
  });

  rule('accepts any text for applications, and orders it by code points', async (metrics) => {
    for (const application of NAMES) assert.equal(await metrics.application(application), undefined);
    for (const application of REVERSED) await metrics.register(registration({ application }));
    for (const application of REVERSED) await metrics.record([report({ application })]);
    assertSame(
      (await metrics.applications({ seenSince: 0 })).map(({ name }) => name),
      NAMES,
    );
    assertSame(
      await metrics.usage(),
      NAMES.map((application) => ({ application, flag: 'checkout', count: 1 })),
    );
  });

  rule('accepts any text for instances, and orders it by code points', async (metrics) => {
    for (const id of REVERSED) await metrics.record([report({ instance: { id } })]);
    const ids = (await metrics.application('shop'))?.instances.map(({ id }) => id);
    assertSame(ids, NAMES);
  });

  rule('returns strategies and descriptions as they were sent', async (metrics) => {
    const text = NAMES.join('\n');
    const described = { strategies: REVERSED, description: text, url: text, color: text, icon: text };
    await metrics.register(registration(described));
    const [application] = await metrics.applications({ seenSince: 0 });
    assertSame(application, { name: 'shop', ...described, createdAt: NOW, seenAt: NOW });
  });
}

export function usageRules(rule: MetricsRule): void {
  rule('returns no usage before the first report', async (metrics) => {
    await metrics.register(registration());
    assertSame(await metrics.usage(), []);
  });

  rule('sums yes and no of all reports of an application', async (metrics) => {
    await metrics.record([report({ counts: [{ flag: 'checkout', yes: 3, no: 1 }] })]);
    await metrics.record([report({ instance: { id: 'shop-2' }, counts: [{ flag: 'checkout', yes: 0, no: 2 }] })]);
    assertSame(await metrics.usage(), [{ application: 'shop', flag: 'checkout', count: 6 }]);
  });

  rule('separates applications, and lists by application, then flag', async (metrics) => {
    await metrics.record([report({ application: 'shop', counts: once('search', 'checkout') })]);
    await metrics.record([report({ application: 'billing', counts: once('checkout') })]);
    assertSame(await metrics.usage(), [
      { application: 'billing', flag: 'checkout', count: 1 },
      { application: 'shop', flag: 'checkout', count: 1 },
      { application: 'shop', flag: 'search', count: 1 },
    ]);
  });

  rule('lists a flag with counts of zero', async (metrics) => {
    await metrics.record([report({ counts: [{ flag: 'checkout', yes: 0, no: 0 }] })]);
    assertSame(await metrics.usage(), [{ application: 'shop', flag: 'checkout', count: 0 }]);
  });

  rule('lists the flags of an application once, by name', async (metrics) => {
    await metrics.record([report({ counts: once('search', 'checkout') })]);
    await metrics.record([report({ counts: once('checkout', 'banner') })]);
    await metrics.record([report({ application: 'billing', counts: once('invoice') })]);
    assertSame((await metrics.application('shop'))?.flags, ['banner', 'checkout', 'search']);
  });
}
