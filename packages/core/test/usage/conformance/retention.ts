import assert from 'node:assert/strict';
import type { UsageStorage } from '../../../src/storage/usage/port.js';
import { DAY, HOUR, MINUTE } from '../../../src/storage/usage/rules.js';
import { assertEqual } from '../../../src/testing/test-runner.js';
import { ALL } from './counting.js';
import {
  applicationOf,
  applicationsIn,
  countsIn,
  flagsOf,
  instancesOf,
  NOW,
  once,
  pairsIn,
  record,
  register,
  registration,
  report,
  seenTimes,
  type UsageRule,
} from './samples.js';

/** Deletes usage that was last seen before a time; only the given flags exist. */
async function pruneUnseen(usage: UsageStorage, since: number, ...flags: readonly string[]): Promise<void> {
  const existing = new Set(flags);
  await usage.prune({ now: NOW, unseen: { since, isFlag: (name) => existing.has(name) } });
}

export function pruningRules(rule: UsageRule): void {
  rule('deletes minutes, hours and days that are too old, and nothing else', async (usage) => {
    await record(usage, report());
    for (const [later, expected] of [
      [60 * MINUTE, ['minute', 'hour', 'day', 'ever']],
      [61 * MINUTE, ['hour', 'day', 'ever']],
      [167 * HOUR, ['hour', 'day', 'ever']],
      [168 * HOUR, ['day', 'ever']],
      [29 * DAY, ['day', 'ever']],
      [30 * DAY, ['ever']],
      [60 * DAY, ['ever']],
    ] as const) {
      assertEqual(await usage.prune({ now: NOW + later }), { names: 0, reports: 0, usage: 0 });
      const kept = [];
      for (const resolution of ALL) if ((await countsIn(usage, resolution)).length > 0) kept.push(resolution);
      assertEqual(kept, expected);
    }
    assertEqual(await pairsIn(usage), [{ application: 'shop', flag: 'checkout', count: 1 }]);
    assertEqual(await seenTimes(usage, 'checkout'), [['checkout', NOW]]);
  });

  rule('deletes applications that were not seen since the given time, with instances and usage', async (usage) => {
    await record(usage, report({ application: 'gone', stop: NOW - 1 }), { at: NOW - 1 });
    await register(usage, registration({ application: 'gone too' }), { at: NOW - 1 });
    await record(usage, report({ application: 'kept', instance: { id: 'stale' }, stop: NOW - 1 }), { at: NOW - 1 });
    await record(usage, report({ application: 'kept', instance: { id: 'alive' } }), { at: NOW });
    await pruneUnseen(usage, NOW, 'checkout');
    assertEqual(await applicationsIn(usage), ['kept']);
    assertEqual(await pairsIn(usage), [{ application: 'kept', flag: 'checkout', count: 2 }]);
    assertEqual(
      (await instancesOf(usage, 'kept')).map(({ id }) => id),
      ['alive'],
    );
  });

  rule('creates an application again that reports after it was pruned', async (usage) => {
    await register(usage, registration({ description: 'The web shop' }), { at: NOW - MINUTE });
    await record(usage, report({ instance: { id: 'old' }, stop: NOW - MINUTE }), { at: NOW - MINUTE });
    await pruneUnseen(usage, NOW);
    await record(usage, report({ instance: { id: 'new' }, counts: once('search') }));
    const { description, createdAt, instances } = { ...(await applicationOf(usage, 'shop')) };
    assertEqual([description, createdAt, instances?.map(({ id }) => id)], ['', NOW, ['new']]);
    assertEqual(await flagsOf(usage, 'shop'), ['search']);
  });

  rule('keeps times and usage of existing flags, and deletes old ones of other names', async (usage) => {
    await record(usage, report({ stop: NOW - 1, counts: once('flag', 'stranger') }), { at: NOW });
    await record(usage, report({ stop: NOW, counts: once('young stranger') }));
    await pruneUnseen(usage, NOW, 'flag', 'never reported');
    assertEqual(await seenTimes(usage, 'flag', 'stranger', 'young stranger', 'never reported'), [
      ['flag', NOW - 1],
      ['young stranger', NOW],
    ]);
    assertEqual(await flagsOf(usage, 'shop'), ['flag', 'young stranger']);
  });
}

export function forgettingRules(rule: UsageRule): void {
  rule('deletes the counts, the usage and the last-seen time of a flag', async (usage) => {
    await record(usage, report({ counts: once('checkout', 'search') }));
    await record(usage, report({ application: 'billing', stop: NOW - MINUTE, counts: once('checkout') }));
    await usage.forget({ flags: ['checkout', 'never reported'] });
    for (const resolution of ALL) assertEqual(await countsIn(usage, resolution), once('search'));
    assertEqual(await pairsIn(usage), [{ application: 'shop', flag: 'search', count: 1 }]);
    assertEqual(await seenTimes(usage, 'checkout', 'search'), [['search', NOW]]);
  });

  rule('counts a forgotten flag from zero when it is reported again', async (usage) => {
    await record(usage, report({ counts: [{ flag: 'checkout', yes: 7, no: 7 }] }));
    await usage.forget({ flags: ['checkout'] });
    await record(usage, report({ stop: NOW - MINUTE }));
    for (const resolution of ALL) assertEqual(await countsIn(usage, resolution), once('checkout'));
    assertEqual(await seenTimes(usage, 'checkout'), [['checkout', NOW - MINUTE]]);
  });
}

/** Overwrites every member of a value. */
function spoil(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  if (value instanceof Map) value.clear();
  for (const [key, member] of Object.entries(value)) {
    spoil(member);
    Reflect.set(value, key, 'spoilt');
  }
}

export function copyRules(rule: UsageRule): void {
  rule('are copies that the caller may change', async (usage) => {
    await record(usage, report(), { registrations: [registration()] });
    const read = async () => [
      await countsIn(usage),
      await usage.applications({}),
      await applicationOf(usage, 'shop'),
      await pairsIn(usage),
      await seenTimes(usage, 'checkout'),
    ];
    const before = structuredClone(await read());
    spoil(await read());
    spoil(await usage.lastSeen(['checkout']));
    assertEqual(await read(), before);
  });

  rule('do not change when the caller changes its input after the call', async (usage) => {
    const strategies = ['default'];
    const instance = { id: 'shop-1', clientIp: '192.0.2.7' };
    const counts = [{ flag: 'checkout', yes: 1, no: 0 }];
    await record(usage, report({ counts, instance }), { registrations: [registration({ strategies, instance })] });
    for (const input of [strategies, instance, counts]) spoil(input);
    const application = await applicationOf(usage, 'shop');
    assertEqual([application?.strategies, application?.instances?.[0]?.clientIp], [['default'], '192.0.2.7']);
    assertEqual(await countsIn(usage), once('checkout'));
  });

  rule('do not change with later reports', async (usage) => {
    await record(usage, report());
    const [counts, seen] = [await countsIn(usage), await usage.lastSeen(['checkout'])];
    await record(usage, report({ stop: NOW + 1 }), { at: NOW + 1 });
    assertEqual(counts, once('checkout'));
    assert.equal(seen.get('checkout'), NOW);
  });
}

export function closingRules(rule: UsageRule): void {
  rule('allows repeated calls', async (usage) => {
    await record(usage, report());
    await usage.close();
    await usage.close();
  });

  rule('does not close another instance', async (usage, again) => {
    const other = await again();
    if (other !== usage) await usage.close();
    await record(other, report());
    assertEqual(await countsIn(other), once('checkout'));
  });
}
