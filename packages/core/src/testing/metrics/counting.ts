import assert from 'node:assert/strict';
import type { MetricsStorage } from '../../storage/metrics-port.js';
import { assertSame, type MetricsRule } from '../test-runner.js';
import { MINUTE, NOW, once, registration, report, SECOND } from './samples.js';

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

/** In code-point order: the last two change places in the order of UTF-16 units. */
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
  rule('of flags are any text, told apart and ordered by code points', async (metrics) => {
    await metrics.record([report({ counts: once(...REVERSED) })]);
    assertSame(await metrics.counts({ after: 0 }), once(...NAMES));
    assertSame((await metrics.application('shop'))?.flags, NAMES);
    assertSame(
      (await metrics.usage()).map(({ flag }) => flag),
      NAMES,
    );
  });

  rule('of flags last seen are any text', async (metrics) => {
    assert.equal((await metrics.lastSeen(NAMES)).size, 0);
    await metrics.record([report({ counts: once(...REVERSED) })]);
    assert.deepEqual(new Map(await metrics.lastSeen(NAMES)), new Map(NAMES.map((name) => [name, NOW])));
  });

  rule('of flags forgotten are any text', async (metrics) => {
    await metrics.record([report({ counts: once(...NAMES) })]);
    for (const name of NAMES.slice(1)) await metrics.forget(name);
    assertSame(await metrics.counts({ after: 0 }), once(...NAMES.slice(0, 1)));
    assertSame([...(await metrics.lastSeen(NAMES)).keys()], NAMES.slice(0, 1));
  });

  rule('of flags kept by pruning are any text', async (metrics) => {
    await metrics.record([report({ counts: once(...NAMES) })]);
    const [dropped = '', ...flags] = NAMES;
    await metrics.prune({ countersUntil: 0, unseenSince: NOW + 1, isFlag: (name) => flags.includes(name) });
    const seen = await metrics.lastSeen(NAMES);
    assertSame([seen.size, seen.has(dropped)], [flags.length, false]);
  });

  rule('of applications are any text, told apart and ordered by code points', async (metrics) => {
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

  rule('of instances are any text, told apart and ordered by code points', async (metrics) => {
    for (const id of REVERSED) await metrics.record([report({ instance: { id } })]);
    const ids = (await metrics.application('shop'))?.instances.map(({ id }) => id);
    assertSame(ids, NAMES);
  });

  rule('of strategies, and all descriptions, come back as they were sent', async (metrics) => {
    const text = NAMES.join('\n');
    const described = { strategies: REVERSED, description: text, url: text, color: text, icon: text };
    await metrics.register(registration(described));
    const [application] = await metrics.applications({ seenSince: 0 });
    assertSame(application, { name: 'shop', ...described, createdAt: NOW, seenAt: NOW });
  });
}

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
