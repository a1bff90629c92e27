import assert from 'node:assert/strict';
import { memoryUsage } from '../../../src/storage/memory/usage.js';
import type {
  ApplicationRegistration,
  SumQuery,
  UsageKey,
  UsageReport,
  UsageStorage,
  UsageSum,
} from '../../../src/storage/usage/port.js';
import { DAY, MINUTE, NOTHING_DROPPED } from '../../../src/storage/usage/rules.js';
import { assertEqual } from '../../../src/testing/test-runner.js';
import {
  applicationOf,
  applicationsIn,
  countsIn,
  instancesOf,
  NOW,
  once,
  pairsIn,
  record,
  register,
  registration,
  report,
  SECOND,
  seenTimes,
  type UsageRule,
} from './samples.js';

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
  const by = ['flag', 'application', 'environment', 'start', 'variant'] as const;
  return {
    counts: await countsIn(usage),
    late: await usage.sum({ resolution: 'minute', by: ['flag'], from: NOW }),
    hours: await usage.sum({ resolution: 'hour', by }),
    days: await usage.sum({ resolution: 'day', by }),
    usage: await pairsIn(usage),
    lastSeen: await seenTimes(usage, ...FLAGS),
    applications: await usage.applications({}),
    details: await usage.applications({ instances: true }),
  };
}

export function batchRules(rule: UsageRule): void {
  rule('has the same outcome as its registrations and reports one by one', async (usage) => {
    const oneByOne = memoryUsage();
    for (const storage of [usage, oneByOne]) await register(storage, KNOWN, { at: NOW - MINUTE });
    for (const registrations of [[], REGISTRATIONS]) {
      await record(usage, REPORTS, { registrations });
      for (const one of registrations) await register(oneByOne, one);
      for (const one of REPORTS) await record(oneByOne, one);
      assertEqual(await contentOf(usage), await contentOf(oneByOne));
    }
  });

  rule('does nothing if it is empty', async (usage) => {
    const before = await contentOf(usage);
    await usage.record({ id: 'empty', at: NOW });
    await record(usage, [], { registrations: [] });
    assertEqual(await contentOf(usage), before);
  });

  rule('counts once if it is repeated, in any instance', async (usage, again) => {
    const instances = [usage, await again()];
    await record(usage, report(), { id: 'repeated' });
    const before = await contentOf(usage);
    for (const instance of instances) {
      assertEqual(await record(instance, report(), { id: 'repeated', at: NOW + MINUTE }), NOTHING_DROPPED);
    }
    assertEqual(await contentOf(usage), before);
    const repeat = (caller: number) => record(instances[caller % 2] ?? usage, report(), { id: 'raced' });
    await Promise.all(Array.from({ length: 10 }, (_, caller) => repeat(caller)));
    assertEqual(await countsIn(usage), [{ flag: 'checkout', yes: 2, no: 0 }]);
  });

  rule('may be repeated after a day', async (usage) => {
    await record(usage, report(), { id: 'repeated' });
    for (const [later, count] of [
      [DAY, 1],
      [DAY + 1, 2],
    ] as const) {
      await usage.prune({ now: NOW + later });
      await record(usage, report(), { id: 'repeated' });
      assert.equal((await pairsIn(usage))[0]?.count, count);
    }
  });

  rule('accepts a thousand reports', async (usage) => {
    const reports = Array.from({ length: 1000 }, (_, index) => report({ instance: { id: `shop-${index % 300}` } }));
    await record(usage, reports);
    assertEqual(await countsIn(usage), [{ flag: 'checkout', yes: 1000, no: 0 }]);
    assert.equal((await instancesOf(usage, 'shop')).length, 300);
  });

  rule('records nothing if the storage fails in the middle', async (usage, _, refuse) => {
    if (!refuse) return;
    await record(usage, report({ counts: once('banner') }));
    const before = await contentOf(usage);
    await refuse('poison');
    const poisoned = report({ application: 'new', counts: once('poison') });
    for (const registrations of [[], REGISTRATIONS]) {
      await assert.rejects(() => record(usage, [...REPORTS, poisoned, ...REPORTS], { registrations, id: 'again' }));
      assertEqual(await contentOf(usage), before);
    }
  });

  rule('does not make concurrent batches fail when it fails', async (usage, _, refuse) => {
    if (!refuse) return;
    await refuse('poison');
    const batches = [once('a'), once('b', 'poison'), once('c')].map((counts) => [report({ counts }), report()]);
    const outcomes = await Promise.allSettled(batches.map((batch) => record(usage, batch)));
    assertEqual(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    );
    assertEqual(await countsIn(usage), [...once('a', 'c'), { flag: 'checkout', yes: 2, no: 0 }]);
  });
}

const CALLERS = Array.from({ length: 200 }, (_, index) => index);

export function concurrencyRules(rule: UsageRule): void {
  rule('counts two hundred concurrent reports of two instances, in opposite orders', async (usage, again) => {
    const instances = [usage, await again()];
    const orders = [once('a', 'b', 'c'), once('c', 'b', 'a')];
    const recordAs = (caller: number) =>
      record(instances[caller % 2] ?? usage, report({ counts: orders[caller % 2] ?? [] }));
    await Promise.all(CALLERS.map(recordAs));
    const flags = ['a', 'b', 'c'];
    for (const instance of instances) {
      assertEqual(
        await countsIn(instance),
        flags.map((flag) => ({ flag, yes: 200, no: 0 })),
      );
      assertEqual(
        await pairsIn(instance),
        flags.map((flag) => ({ application: 'shop', flag, count: 200 })),
      );
    }
  });

  rule('counts concurrent batches of several reports, and registers their applications', async (usage, again) => {
    const instances = [usage, await again()];
    const reports = [report({ counts: once('a', 'b') }), report({ application: 'billing', counts: once('b', 'a') })];
    const recordAs = (caller: number) =>
      record(instances[caller % 2] ?? usage, reports, {
        registrations: caller % 3 === 0 ? [registration(), registration({ application: `new-${caller}` })] : [],
      });
    await Promise.all(Array.from({ length: 60 }, (_, caller) => recordAs(caller)));
    assertEqual(
      await countsIn(usage),
      ['a', 'b'].map((flag) => ({ flag, yes: 120, no: 0 })),
    );
    assert.equal((await usage.applications({})).length, 22);
  });

  rule('creates one application for many concurrent instances, and stores the latest time', async (usage, again) => {
    const instances = [usage, await again()];
    const recordAs = (caller: number) => {
      const instance = { id: `shop-${caller}` };
      const given = { at: NOW + MINUTE, registrations: [registration({ instance })] };
      const stop = NOW - Math.abs(caller - 100);
      return record(instances[caller % 2] ?? usage, report({ instance, stop }), given);
    };
    await Promise.all(CALLERS.map(recordAs));
    assertEqual(await seenTimes(usage, 'checkout'), [['checkout', NOW]]);
    assertEqual(await applicationsIn(usage), ['shop']);
    assert.equal((await instancesOf(usage, 'shop')).length, CALLERS.length);
  });

  rule('shows acknowledged reports to other instances', async (usage, again) => {
    const other = await again();
    assertEqual(await contentOf(other), await contentOf(usage));
    await record(usage, report());
    assertEqual(await countsIn(other), once('checkout'));
    assertEqual(await contentOf(other), await contentOf(usage));
    await other.forget({ flags: ['checkout'] });
    assertEqual(await countsIn(usage), []);
  });
}

const PAIRS = ['billing', 'search', 'shop'].flatMap((application) =>
  ['a', 'b', 'c'].map((flag) => ({ application, flag, count: 1 })),
);

/** Half of the names of every application are unknown names. */
async function fill(usage: UsageStorage): Promise<void> {
  for (const application of ['shop', 'billing', 'search']) {
    await record(usage, report({ application, counts: once('a', 'c'), unknown: once('b') }));
  }
}

/** Reads page after page, each after the last group of the page before. */
async function pagesOf<Key extends UsageKey>(usage: UsageStorage, query: SumQuery<Key>, limit: number) {
  const found: UsageSum<Key>[] = [];
  for (let page = await usage.sum({ ...query, limit }); page.length > 0; ) {
    assert.ok(page.length <= limit);
    found.push(...page);
    page = await usage.sum({ ...query, limit, after: page.at(-1) as NonNullable<SumQuery['after']> });
  }
  return found;
}

const QUERIES: readonly (readonly [query: SumQuery, groups: number])[] = [
  [{ resolution: 'ever', by: ['application', 'flag'] }, 9],
  [{ resolution: 'ever', by: ['flag', 'application'] }, 9],
  [{ resolution: 'minute', by: ['flag'] }, 3],
  [{ resolution: 'hour', by: ['flag', 'application', 'environment', 'start', 'variant'] }, 6],
  [{ resolution: 'hour', by: ['flag', 'application', 'environment', 'start', 'variant'], flag: 'c' }, 3],
];

export function readingRules(rule: UsageRule): void {
  rule('returns pages of groups in the order of the query', async (usage) => {
    await fill(usage);
    for (const [query, groups] of QUERIES) {
      const all = await usage.sum(query);
      assert.equal(all.length, groups);
      const keyOf = (sum: UsageSum) => query.by.map((name) => sum[name]).join(' ');
      assertEqual(all.map(keyOf), all.map(keyOf).toSorted());
      for (const limit of [1, 2, 4, 9, 100]) assertEqual(await pagesOf(usage, query, limit), all);
    }
    assertEqual(await pairsIn(usage), PAIRS);
    const after = { application: 'search\u0000', flag: '' };
    const rest = await usage.sum({ resolution: 'ever', by: ['application', 'flag'], after });
    assertEqual(
      rest.map(({ application }) => application),
      ['shop', 'shop', 'shop'],
    );
  });

  rule('returns pages of applications, and named applications', async (usage) => {
    for (const application of ['d', 'b', 'a', 'c']) await register(usage, registration({ application }));
    await register(usage, registration({ application: 'old' }), { at: NOW - 1 });
    for (const [query, expected] of [
      [{ limit: 2 }, ['a', 'b']],
      [{ limit: 2, after: 'b' }, ['c', 'd']],
      [{ limit: 2, after: 'd' }, []],
      [{ names: ['c', 'old', 'unknown', 'a'] }, ['a', 'c']],
      [{ names: [] }, []],
    ] as const) {
      assertEqual(await applicationsIn(usage, { seenSince: NOW, ...query }), expected);
    }
  });

  rule('returns nothing of a forgotten application, but keeps the counts of its flags', async (usage) => {
    await fill(usage);
    assert.equal(await usage.forget({ application: 'unknown' }), false);
    assert.equal(await usage.forget({ application: 'shop' }), true);
    assert.equal(await applicationOf(usage, 'shop'), undefined);
    assertEqual(
      await pairsIn(usage),
      PAIRS.filter(({ application }) => application !== 'shop'),
    );
    const [count] = await countsIn(usage);
    assertEqual(count, { flag: 'a', yes: 3, no: 0 });
    assert.equal(await usage.forget({ application: 'shop' }), false);
  });
}
