import assert from 'node:assert/strict';
import { memoryMetrics } from '../../storage/memory/metrics.js';
import type { ApplicationRegistration, FlagUsage, MetricsStorage, UsageReport } from '../../storage/metrics-port.js';
import { assertSame, type MetricsRule } from '../test-runner.js';
import { MINUTE, NOW, once, registration, report, SECOND } from './samples.js';

const NAMES = ['shop', 'billing', 'new', '__proto__'];
const FLAGS = ['checkout', 'banner', '__proto__'];

/** Several reports change every row, and they are not in the order of time. */
const REPORTS: readonly UsageReport[] = [
  report({ counts: once(...FLAGS) }),
  report({ at: NOW - MINUTE, stop: NOW - MINUTE, instance: { id: 'shop-1', clientIp: '192.0.2.1' } }),
  report({ application: 'billing', at: NOW + SECOND, stop: NOW - 1, instance: { id: 'b', sdkVersion: 'x:1' } }),
  report({ counts: [{ flag: 'checkout', yes: 4, no: 2 }], instance: { id: 'shop-1', clientIp: '192.0.2.2' } }),
  report({ application: 'billing', stop: NOW + 1, instance: { id: 'b', clientIp: '192.0.2.3' }, counts: [] }),
  report({ application: '__proto__', instance: { id: '__proto__' }, stop: NOW - 5 * SECOND }),
];

const REGISTRATIONS: readonly ApplicationRegistration[] = [
  registration({ strategies: ['default', 'own'], description: '', color: null }),
  registration({ application: 'new', instance: { id: 'n', sdkVersion: 'x:2' }, description: 'Given', icon: 'i' }),
  registration({ application: 'new', instance: { id: 'm' }, at: NOW + 1, strategies: [], url: 'https://new.example' }),
];

/** Applications that registrations update, or that only reports mention. */
const KNOWN = [
  registration({ description: 'The web shop', url: 'https://shop.example', color: 'red', icon: 'cart' }),
  registration({ application: 'billing', description: 'Invoices', color: 'blue', at: NOW - MINUTE }),
];

async function contentOf(metrics: MetricsStorage): Promise<unknown> {
  return {
    counts: await metrics.counts({ after: 0 }),
    late: await metrics.counts({ after: NOW }),
    usage: await metrics.usage(),
    lastSeen: [...(await metrics.lastSeen(FLAGS))].sort(),
    applications: await metrics.applications({ seenSince: 0 }),
    details: await Promise.all(NAMES.map(async (name) => (await metrics.application(name)) ?? null)),
  };
}

export function batchRules(rule: MetricsRule): void {
  rule('has the same outcome as its registrations and reports one by one', async (metrics) => {
    const oneByOne = memoryMetrics();
    for (const storage of [metrics, oneByOne]) for (const known of KNOWN) await storage.register(known);
    await metrics.record(REPORTS, REGISTRATIONS);
    for (const one of REGISTRATIONS) await oneByOne.register(one);
    for (const one of REPORTS) await oneByOne.record([one]);
    assertSame(await contentOf(metrics), await contentOf(oneByOne));
  });

  rule('has the same outcome as its reports one by one, without registrations', async (metrics) => {
    const oneByOne = memoryMetrics();
    await metrics.record(REPORTS);
    for (const one of REPORTS) await oneByOne.record([one]);
    assertSame(await contentOf(metrics), await contentOf(oneByOne));
  });

  rule('accepts registrations without reports', async (metrics) => {
    await metrics.record([], REGISTRATIONS);
    assertSame((await metrics.application('shop'))?.strategies, ['default', 'own']);
    assertSame(await metrics.counts({ after: 0 }), []);
  });

  rule('does nothing if it is empty', async (metrics) => {
    const before = await contentOf(metrics);
    await metrics.record([]);
    await metrics.record([], []);
    assertSame(await contentOf(metrics), before);
  });

  rule('accepts a thousand reports', async (metrics) => {
    const reports = Array.from({ length: 1000 }, (_, index) => report({ instance: { id: `shop-${index % 300}` } }));
    await metrics.record(reports);
    assertSame(await metrics.counts({ after: 0 }), [{ flag: 'checkout', yes: 1000, no: 0 }]);
    assert.equal((await metrics.application('shop'))?.instances.length, 300);
  });

  rule('counts once beside concurrent batches', async (metrics, again) => {
    const instances = [metrics, await again()];
    const record = async (caller: number) =>
      instances[caller % 2]?.record(
        [report({ counts: once('a', 'b') }), report({ application: 'billing', counts: once('b', 'a') })],
        caller % 3 === 0 ? [registration(), registration({ application: `new-${caller}` })] : [],
      );
    await Promise.all(Array.from({ length: 60 }, (_, caller) => record(caller)));
    const sums = (await metrics.counts({ after: 0 })).map(({ flag, yes }) => [flag, yes]);
    assertSame(sums, [
      ['a', 120],
      ['b', 120],
    ]);
    assert.equal((await metrics.applications({ seenSince: 0 })).length, 22);
  });

  rule('records nothing if the storage fails in the middle', async (metrics, _, refuse) => {
    if (!refuse) return;
    await metrics.record([report({ counts: once('banner') })]);
    const before = await contentOf(metrics);
    await refuse('poison');
    const poisoned = report({ application: 'new', counts: once('poison') });
    for (const registrations of [[], REGISTRATIONS]) {
      await assert.rejects(async () => metrics.record([...REPORTS, poisoned, ...REPORTS], registrations));
      assertSame(await contentOf(metrics), before);
    }
  });

  rule('does not make concurrent batches fail when it fails', async (metrics, _, refuse) => {
    if (!refuse) return;
    await refuse('poison');
    const batches = [once('a'), once('b', 'poison'), once('c')].map((counts) => [report({ counts }), report()]);
    const outcomes = await Promise.allSettled(batches.map(async (batch) => metrics.record(batch)));
    assertSame(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    );
    const sums = (await metrics.counts({ after: 0 })).map(({ flag, yes }) => [flag, yes]);
    assertSame(sums, [
      ['a', 1],
      ['c', 1],
      ['checkout', 2],
    ]);
  });
}

const CALLERS = Array.from({ length: 200 }, (_, index) => index);

export function concurrencyRules(rule: MetricsRule): void {
  rule('counts two hundred concurrent reports', async (metrics) => {
    const counts = [{ flag: 'checkout', yes: 2, no: 1 }];
    await Promise.all(CALLERS.map(async () => metrics.record([report({ counts })])));
    assertSame(await metrics.counts({ after: 0 }), [{ flag: 'checkout', yes: 400, no: 200 }]);
    assertSame(await metrics.usage(), [{ application: 'shop', flag: 'checkout', count: 600 }]);
  });

  rule('counts two hundred concurrent reports of two instances', async (metrics, again) => {
    const instances = [metrics, await again()];
    const record = async (caller: number) => instances[caller % 2]?.record([report({ counts: once('a', 'b') })]);
    await Promise.all(CALLERS.map(record));
    for (const instance of instances) {
      const counts = await instance.counts({ after: 0 });
      assertSame(
        counts.map(({ flag, yes }) => [flag, yes]),
        [
          ['a', 200],
          ['b', 200],
        ],
      );
    }
  });

  rule('stores the latest of many concurrent last-seen times', async (metrics, again) => {
    const instances = [metrics, await again()];
    const record = async (caller: number) =>
      instances[caller % 2]?.record([report({ at: NOW + MINUTE, stop: NOW - Math.abs(caller - 100) })]);
    await Promise.all(CALLERS.map(record));
    assert.equal((await metrics.lastSeen(['checkout'])).get('checkout'), NOW);
  });

  rule('counts concurrent reports that list flags in opposite orders', async (metrics, again) => {
    const instances = [metrics, await again()];
    const orders = [once('a', 'b', 'c'), once('c', 'b', 'a')];
    const record = async (caller: number) =>
      instances[caller % 2]?.record([report({ counts: orders[caller % 2] ?? [] })]);
    await Promise.all(CALLERS.map(record));
    const sums = (await metrics.counts({ after: 0 })).map(({ yes }) => yes);
    assertSame(sums, [200, 200, 200]);
  });

  rule('creates one application for many instances that register concurrently', async (metrics, again) => {
    const instances = [metrics, await again()];
    const register = async (caller: number) =>
      instances[caller % 2]?.register(registration({ instance: { id: `shop-${caller}` } }));
    await Promise.all(CALLERS.map(register));
    assert.equal((await metrics.applications({ seenSince: 0 })).length, 1);
    assert.equal((await metrics.application('shop'))?.instances.length, CALLERS.length);
  });

  rule('shows acknowledged reports to other instances', async (metrics, again) => {
    const other = await again();
    assertSame(await other.counts({ after: 0 }), []);
    await metrics.record([report()]);
    assertSame(await other.counts({ after: 0 }), once('checkout'));
    assertSame(await other.application('shop'), await metrics.application('shop'));
    assert.equal((await other.lastSeen(['checkout'])).get('checkout'), NOW);
    await other.forget('checkout');
    assertSame(await metrics.counts({ after: 0 }), []);
  });
}

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
