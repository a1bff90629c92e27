import assert from 'node:assert/strict';
import { memoryUsage } from '../../storage/memory/memory-usage.js';
import type { ApplicationRegistration, UsageReport, UsageStorage, UsageSum } from '../../storage/usage-port.js';
import { DAY, MINUTE, NOTHING_DROPPED, SECOND } from '../../storage/usage-rules.js';
import { assertSame, type UsageRule } from '../test-runner.js';
import { applicationOf, countsIn, NOW, once, pairsIn, record, register, registration, report } from './samples.js';

const NAMES = ['shop', 'billing', 'new', '__proto__'];
const FLAGS = ['checkout', 'banner', '__proto__'];

/** Several reports change every row, and they are not in the order of time. */
const REPORTS: readonly UsageReport[] = [
  report({ counts: once(...FLAGS) }),
  report({ stop: NOW - MINUTE, instance: { id: 'shop-1', clientIp: '192.0.2.1' } }),
  report({ application: 'billing', stop: NOW - 1, instance: { id: 'b', sdkVersion: 'x:1' } }),
  report({ counts: [{ flag: 'checkout', yes: 4, no: 2 }], instance: { id: 'shop-1', clientIp: '192.0.2.2' } }),
  report({ application: 'billing', stop: NOW, instance: { id: 'b', clientIp: '192.0.2.3' }, counts: [] }),
  report({ application: '__proto__', instance: { id: '__proto__' }, stop: NOW - 5 * SECOND }),
];

const REGISTRATIONS: readonly ApplicationRegistration[] = [
  registration({ strategies: ['default', 'own'], description: '', color: null }),
  registration({ application: 'new', instance: { id: 'n', sdkVersion: 'x:2' }, description: 'Given', icon: 'i' }),
  registration({ application: 'new', instance: { id: 'm' }, strategies: [], url: 'https://new.example' }),
];

/** Applications that registrations update, or that only reports mention. */
const KNOWN = [
  registration({ description: 'The web shop', url: 'https://shop.example', color: 'red', icon: 'cart' }),
  registration({ application: 'billing', description: 'Invoices', color: 'blue' }),
];

async function contentOf(usage: UsageStorage): Promise<unknown> {
  return {
    counts: await countsIn(usage),
    late: await usage.sum({ resolution: 'second', by: ['flag'], from: NOW }),
    days: await usage.sum({ resolution: 'day', by: ['flag', 'application', 'environment', 'start', 'variant'] }),
    usage: await pairsIn(usage),
    lastSeen: [...(await usage.lastSeen(FLAGS))].sort(),
    applications: await usage.applications({}),
    details: await Promise.all(NAMES.map(async (name) => (await applicationOf(usage, name)) ?? null)),
  };
}

export function batchRules(rule: UsageRule): void {
  rule('has the same outcome as its registrations and reports one by one', async (usage) => {
    const oneByOne = memoryUsage();
    for (const storage of [usage, oneByOne]) await register(storage, KNOWN, { at: NOW - MINUTE });
    await record(usage, REPORTS, { registrations: REGISTRATIONS });
    for (const one of REGISTRATIONS) await register(oneByOne, one);
    for (const one of REPORTS) await record(oneByOne, one);
    assertSame(await contentOf(usage), await contentOf(oneByOne));
  });

  rule('has the same outcome as its reports one by one, without registrations', async (usage) => {
    const oneByOne = memoryUsage();
    await record(usage, REPORTS);
    for (const one of REPORTS) await record(oneByOne, one);
    assertSame(await contentOf(usage), await contentOf(oneByOne));
  });

  rule('accepts registrations without reports', async (usage) => {
    await register(usage, REGISTRATIONS);
    assertSame((await applicationOf(usage, 'shop'))?.strategies, ['default', 'own']);
    assertSame(await countsIn(usage), []);
  });

  rule('does nothing if it is empty', async (usage) => {
    const before = await contentOf(usage);
    await usage.record({ id: 'empty', at: NOW });
    await record(usage, [], { registrations: [] });
    assertSame(await contentOf(usage), before);
  });

  rule('counts once if it is repeated, in any instance', async (usage, again) => {
    const instances = [usage, await again()];
    await record(usage, report(), { id: 'repeated' });
    const before = await contentOf(usage);
    for (const instance of instances) {
      assertSame(await record(instance, report(), { id: 'repeated', at: NOW + MINUTE }), NOTHING_DROPPED);
    }
    assertSame(await contentOf(usage), before);
    const repeat = (caller: number) => record(instances[caller % 2] ?? usage, report(), { id: 'raced' });
    await Promise.all(Array.from({ length: 10 }, (_, caller) => repeat(caller)));
    assertSame(await countsIn(usage), [{ flag: 'checkout', yes: 2, no: 0 }]);
  });

  rule('may be repeated after a day', async (usage) => {
    await record(usage, report(), { id: 'repeated' });
    await usage.prune({ now: NOW + DAY });
    await record(usage, report(), { id: 'repeated' });
    assertSame((await pairsIn(usage))[0]?.count, 1);
    await usage.prune({ now: NOW + DAY + 1 });
    await record(usage, report(), { id: 'repeated' });
    assertSame((await pairsIn(usage))[0]?.count, 2);
  });

  rule('accepts a thousand reports', async (usage) => {
    const reports = Array.from({ length: 1000 }, (_, index) => report({ instance: { id: `shop-${index % 300}` } }));
    await record(usage, reports);
    assertSame(await countsIn(usage), [{ flag: 'checkout', yes: 1000, no: 0 }]);
    assert.equal((await applicationOf(usage, 'shop'))?.instances?.length, 300);
  });

  rule('counts once beside concurrent batches', async (usage, again) => {
    const instances = [usage, await again()];
    const reports = [report({ counts: once('a', 'b') }), report({ application: 'billing', counts: once('b', 'a') })];
    const recordAs = (caller: number) =>
      record(instances[caller % 2] ?? usage, reports, {
        registrations: caller % 3 === 0 ? [registration(), registration({ application: `new-${caller}` })] : [],
      });
    await Promise.all(Array.from({ length: 60 }, (_, caller) => recordAs(caller)));
    const sums = (await countsIn(usage)).map(({ flag, yes }) => [flag, yes]);
    assertSame(sums, [
      ['a', 120],
      ['b', 120],
    ]);
    assert.equal((await usage.applications({})).length, 22);
  });

  rule('records nothing if the storage fails in the middle', async (usage, _, refuse) => {
    if (!refuse) return;
    await record(usage, report({ counts: once('banner') }));
    const before = await contentOf(usage);
    await refuse('poison');
    const poisoned = report({ application: 'new', counts: once('poison') });
    for (const registrations of [[], REGISTRATIONS]) {
      await assert.rejects(() => record(usage, [...REPORTS, poisoned, ...REPORTS], { registrations, id: 'again' }));
      assertSame(await contentOf(usage), before);
    }
  });

  rule('does not make concurrent batches fail when it fails', async (usage, _, refuse) => {
    if (!refuse) return;
    await refuse('poison');
    const batches = [once('a'), once('b', 'poison'), once('c')].map((counts) => [report({ counts }), report()]);
    const outcomes = await Promise.allSettled(batches.map((batch) => record(usage, batch)));
    assertSame(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    );
    const sums = (await countsIn(usage)).map(({ flag, yes }) => [flag, yes]);
    assertSame(sums, [
      ['a', 1],
      ['c', 1],
      ['checkout', 2],
    ]);
  });
}

const CALLERS = Array.from({ length: 200 }, (_, index) => index);

export function concurrencyRules(rule: UsageRule): void {
  rule('counts two hundred concurrent reports', async (usage) => {
    const counts = [{ flag: 'checkout', yes: 2, no: 1 }];
    await Promise.all(CALLERS.map(async () => record(usage, report({ counts }))));
    assertSame(await countsIn(usage), [{ flag: 'checkout', yes: 400, no: 200 }]);
    assertSame(await pairsIn(usage), [{ application: 'shop', flag: 'checkout', count: 600 }]);
  });

  rule('counts two hundred concurrent reports of two instances', async (usage, again) => {
    const instances = [usage, await again()];
    const recordAs = (caller: number) => record(instances[caller % 2] ?? usage, report({ counts: once('a', 'b') }));
    await Promise.all(CALLERS.map(recordAs));
    for (const instance of instances) {
      const counts = await countsIn(instance);
      assertSame(
        counts.map(({ flag, yes }) => [flag, yes]),
        [
          ['a', 200],
          ['b', 200],
        ],
      );
    }
  });

  rule('stores the latest of many concurrent last-seen times', async (usage, again) => {
    const instances = [usage, await again()];
    const recordAs = (caller: number) =>
      record(instances[caller % 2] ?? usage, report({ stop: NOW - Math.abs(caller - 100) }), { at: NOW + MINUTE });
    await Promise.all(CALLERS.map(recordAs));
    assert.equal((await usage.lastSeen(['checkout'])).get('checkout'), NOW);
  });

  rule('counts concurrent reports that list flags in opposite orders', async (usage, again) => {
    const instances = [usage, await again()];
    const orders = [once('a', 'b', 'c'), once('c', 'b', 'a')];
    const recordAs = (caller: number) =>
      record(instances[caller % 2] ?? usage, report({ counts: orders[caller % 2] ?? [] }));
    await Promise.all(CALLERS.map(recordAs));
    const sums = (await countsIn(usage)).map(({ yes }) => yes);
    assertSame(sums, [200, 200, 200]);
  });

  rule('creates one application for many instances that register concurrently', async (usage, again) => {
    const instances = [usage, await again()];
    const registerAs = (caller: number) =>
      register(instances[caller % 2] ?? usage, registration({ instance: { id: `shop-${caller}` } }));
    await Promise.all(CALLERS.map(registerAs));
    assert.equal((await usage.applications({})).length, 1);
    assert.equal((await applicationOf(usage, 'shop'))?.instances?.length, CALLERS.length);
  });

  rule('shows acknowledged reports to other instances', async (usage, again) => {
    const other = await again();
    assertSame(await countsIn(other), []);
    await record(usage, report());
    assertSame(await countsIn(other), once('checkout'));
    assertSame(await applicationOf(other, 'shop'), await applicationOf(usage, 'shop'));
    assert.equal((await other.lastSeen(['checkout'])).get('checkout'), NOW);
    await other.forget({ flags: ['checkout'] });
    assertSame(await countsIn(usage), []);
  });
}

const PAIRS = ['billing', 'search', 'shop'].flatMap((application) =>
  ['a', 'b', 'c'].map((flag) => ({ application, flag, count: 1 })),
);
const BY_FLAG = [...PAIRS].sort((one, other) => one.flag.localeCompare(other.flag));

/** Half of the names of every application are unknown names. */
async function fill(usage: UsageStorage): Promise<void> {
  for (const application of ['shop', 'billing', 'search']) {
    await record(usage, report({ application, counts: once('a', 'c'), unknown: once('b') }));
  }
}

async function pagesOf(usage: UsageStorage, by: readonly ('application' | 'flag')[], limit: number) {
  const found: UsageSum<'application' | 'flag'>[] = [];
  for (;;) {
    const after = found.at(-1);
    const page = await usage.sum({ resolution: 'ever', by, limit, ...(after && { after }) });
    found.push(...page);
    if (page.length < limit)
      return found.map(({ application, flag, yes, no }) => ({ application, flag, count: yes + no }));
  }
}

export function readingRules(rule: UsageRule): void {
  rule('returns pages of pairs, by application or by flag', async (usage) => {
    await fill(usage);
    for (const limit of [1, 2, 4, 9, 100]) {
      assertSame(await pagesOf(usage, ['application', 'flag'], limit), PAIRS);
      assertSame(await pagesOf(usage, ['flag', 'application'], limit), BY_FLAG);
    }
    const after = { application: 'search\u0000', flag: '' };
    const rest = await usage.sum({ resolution: 'ever', by: ['application', 'flag'], after });
    assertSame(new Set(rest.map(({ application }) => application)).size, 1);
  });

  rule('returns pages of flags', async (usage) => {
    await fill(usage);
    const by = ['flag'] as const;
    const first = await usage.sum({ resolution: 'minute', by, limit: 2 });
    const rest = await usage.sum({ resolution: 'minute', by, after: { flag: 'b' } });
    assertSame(
      [...first, ...rest],
      ['a', 'b', 'c'].map((flag) => ({ flag, yes: 3, no: 0 })),
    );
  });

  rule('returns pages of applications, and named applications', async (usage) => {
    for (const application of ['d', 'b', 'a', 'c']) await register(usage, registration({ application }));
    await register(usage, registration({ application: 'old' }), { at: NOW - 1 });
    const found = async (query: Partial<Parameters<UsageStorage['applications']>[0]>) =>
      (await usage.applications({ seenSince: NOW, ...query })).map(({ name }) => name);
    assertSame(await found({ limit: 2 }), ['a', 'b']);
    assertSame(await found({ limit: 2, after: 'b' }), ['c', 'd']);
    assertSame(await found({ limit: 2, after: 'd' }), []);
    assertSame(await found({ names: ['c', 'old', 'unknown', 'a'] }), ['a', 'c']);
    assertSame(await found({ names: [] }), []);
  });

  rule('returns nothing of a forgotten application, but keeps the counts of its flags', async (usage) => {
    await fill(usage);
    assert.equal(await usage.forget({ application: 'unknown' }), false);
    assert.equal(await usage.forget({ application: 'shop' }), true);
    assert.equal(await applicationOf(usage, 'shop'), undefined);
    assertSame(
      await pairsIn(usage),
      PAIRS.filter(({ application }) => application !== 'shop'),
    );
    const [count] = await countsIn(usage);
    assertSame(count, { flag: 'a', yes: 3, no: 0 });
    assert.equal(await usage.forget({ application: 'shop' }), false);
  });
}
