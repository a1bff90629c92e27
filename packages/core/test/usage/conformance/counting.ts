import assert from 'node:assert/strict';
import type { UsageStorage } from '../../../src/storage/usage/port.js';
import { MINUTE, RESOLUTIONS } from '../../../src/storage/usage/rules.js';
import { assertEqual } from '../../../src/testing/test-runner.js';
import {
  applicationOf,
  applicationsIn,
  countsIn,
  flagsOf,
  instancesOf,
  NOW,
  namesOf,
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

export const ALL = ['minute', 'hour', 'day', 'ever'] as const;

export function countRules(rule: UsageRule): void {
  rule('returns no counts before the first report', async (usage) => {
    await register(usage, registration());
    for (const resolution of ALL) assertEqual(await countsIn(usage, resolution), []);
  });

  rule('sums the reports of a flag, over applications and instances, by every resolution', async (usage) => {
    await record(usage, report({ counts: [{ flag: 'checkout', yes: 3, no: 1 }] }));
    await record(usage, report({ instance: { id: 'shop-2' }, counts: [{ flag: 'checkout', yes: 2, no: 5 }] }));
    await record(usage, report({ application: 'billing' }));
    for (const resolution of ALL) assertEqual(await countsIn(usage, resolution), [{ flag: 'checkout', yes: 6, no: 6 }]);
  });

  rule('separates flags, and lists them by name, in whatever order they were reported', async (usage) => {
    await record(usage, report({ counts: [...once('c'), { flag: 'a', yes: 3, no: 4 }] }));
    await record(usage, report({ stop: NOW - SECOND, counts: once('b', 'd') }));
    assertEqual(await countsIn(usage), [{ flag: 'a', yes: 3, no: 4 }, ...once('b', 'c', 'd')]);
  });

  rule('lists a flag with counts of zero', async (usage) => {
    const counts = [{ flag: 'checkout', yes: 0, no: 0 }];
    await record(usage, report({ counts }));
    assertEqual(await countsIn(usage), counts);
    assertEqual(await pairsIn(usage), [{ application: 'shop', flag: 'checkout', count: 0 }]);
    assertEqual(await seenTimes(usage, 'checkout'), [['checkout', NOW]]);
  });

  rule('accepts a report without counts', async (usage) => {
    await record(usage, report({ counts: [] }));
    assertEqual(await countsIn(usage), []);
    assert.equal((await applicationOf(usage, 'shop'))?.seenAt, NOW);
  });

  rule('accepts a report of two thousand flags', async (usage) => {
    const counts = namesOf(2000).map((flag, index) => ({ flag, yes: index, no: 1 }));
    await record(usage, report({ counts }));
    for (const resolution of ALL) assertEqual(await countsIn(usage, resolution), counts);
    assertEqual(
      await seenTimes(usage, ...namesOf(2000)),
      namesOf(2000).map((flag) => [flag, NOW]),
    );
    await usage.prune({ now: NOW, unseen: { since: NOW + 1, isFlag: (name) => name !== 'name-10000' } });
    assert.equal((await usage.lastSeen(namesOf(2000))).size, 1999);
  });

  // 1,100 times the largest safe integer exceeds 64 bits.
  rule('stops sums at the largest safe integer, and accepts later reports', async (usage) => {
    const [max, counted] = [Number.MAX_SAFE_INTEGER, { flag: 'checkout', yes: Number.MAX_SAFE_INTEGER }];
    const counts = [{ ...counted, no: 0, variants: [{ variant: 'red', count: max }] }];
    await Promise.all(Array.from({ length: 1100 }, () => record(usage, report({ counts }))));
    await record(usage, report({ stop: NOW - MINUTE, counts: [{ ...counted, no: 1 }] }));
    for (const resolution of ALL) assertEqual(await countsIn(usage, resolution), [{ ...counted, no: 1 }]);
    const variants = await usage.sum({
      resolution: 'day',
      by: ['flag', 'application', 'environment', 'start', 'variant'],
    });
    assertEqual(
      variants.map(({ variant, yes }) => [variant, yes]),
      [
        ['', max],
        ['red', max],
      ],
    );
  });
}

async function yesFrom(usage: UsageStorage, from: number): Promise<number> {
  const [count] = await usage.sum({ resolution: 'minute', by: ['flag'], from });
  return count?.yes ?? 0;
}

export function windowRules(rule: UsageRule): void {
  rule('counts a report in the minute that contains the end of its period', async (usage) => {
    for (const age of [0, 1, SECOND, SECOND + 1, MINUTE]) await record(usage, report({ stop: NOW - age }));
    for (const [age, expected] of [
      [0, 1],
      [MINUTE, 5],
    ] as const) {
      assert.equal(await yesFrom(usage, NOW - age), expected);
    }
  });

  rule('counts only the periods that start within the window, and leaves out flags without any', async (usage) => {
    for (const age of [0, 30 * SECOND, 90 * SECOND, 59 * MINUTE]) await record(usage, report({ stop: NOW - age }));
    await record(usage, report({ stop: NOW - 90 * SECOND, counts: once('early') }));
    assertEqual(await usage.sum({ resolution: 'minute', by: ['flag'], from: NOW - MINUTE }), [
      { flag: 'checkout', yes: 2, no: 0 },
    ]);
    assertEqual(await usage.sum({ resolution: 'minute', by: ['flag'], from: NOW - 60 * MINUTE, until: NOW - MINUTE }), [
      { flag: 'checkout', yes: 2, no: 0 },
      { flag: 'early', yes: 1, no: 0 },
    ]);
  });

  rule('stores no periods that are too old when they arrive', async (usage) => {
    const timed = ['minute', 'hour', 'day'] as const;
    for (const resolution of timed) {
      const { length, kept } = RESOLUTIONS[resolution];
      for (const age of [kept - 1, kept]) {
        await record(usage, report({ stop: NOW - age * length, counts: once(resolution) }));
      }
      const found = (await countsIn(usage, resolution)).find(({ flag }) => flag === resolution);
      assert.equal(found?.yes, 1);
    }
    assertEqual(
      await pairsIn(usage),
      timed.toSorted().map((flag) => ({ application: 'shop', flag, count: 2 })),
    );
  });
}

export function lastSeenRules(rule: UsageRule): void {
  rule('returns only the requested flags, and leaves out those that were never reported', async (usage) => {
    await record(usage, report({ counts: once('checkout', 'banner') }));
    assertEqual(await seenTimes(usage, 'banner', 'absent'), [['banner', NOW]]);
    assertEqual(await seenTimes(usage), []);
  });

  rule('returns the end of the reported period, to the millisecond', async (usage) => {
    await record(usage, report({ stop: NOW - 123 }), { at: NOW });
    assertEqual(await seenTimes(usage, 'checkout'), [['checkout', NOW - 123]]);
  });

  rule('returns the latest end, in whatever order reports arrive', async (usage) => {
    for (const stop of [NOW - 2 * MINUTE, NOW, NOW - MINUTE]) await record(usage, report({ stop }));
    assertEqual(await seenTimes(usage, 'checkout'), [['checkout', NOW]]);
  });
}

/** In code-point order. UTF-16 order would swap the last two. */
const NAMES: readonly string[] = [
  ...[' ', '%_', "'; --", 'A', '__proto__', 'a', 'constructor', 'e\u0301', 'hasOwnProperty', 'toString'],
  ...['\u00e9', '\u65e5\u672c', '\uff5e', '\u{1f600}'],
];

const REVERSED = [...NAMES].reverse();

export function nameRules(rule: UsageRule): void {
  rule('accepts any text for flags, and orders it by code points', async (usage) => {
    assert.equal((await usage.lastSeen(NAMES)).size, 0);
    await record(usage, report({ counts: once(...REVERSED) }));
    assertEqual(await countsIn(usage), once(...NAMES));
    assertEqual(await flagsOf(usage, 'shop'), NAMES);
    assert.deepEqual(new Map(await usage.lastSeen(NAMES)), new Map(NAMES.map((name) => [name, NOW])));
  });

  rule('forgets and prunes flags with any text as a name', async (usage) => {
    await record(usage, report({ counts: once(...NAMES) }));
    const [dropped = '', ...kept] = NAMES;
    await usage.prune({ now: NOW, unseen: { since: NOW + 1, isFlag: (name) => kept.includes(name) } });
    assertEqual([...(await usage.lastSeen(NAMES)).keys()].toSorted(), kept.toSorted());
    await record(usage, report({ counts: once(dropped) }));
    await usage.forget({ flags: kept });
    assertEqual(await countsIn(usage), once(dropped));
    assertEqual(await seenTimes(usage, ...NAMES), [[dropped, NOW]]);
  });

  rule('accepts any text for applications and instances, and orders it by code points', async (usage) => {
    for (const application of NAMES) assert.equal(await applicationOf(usage, application), undefined);
    for (const application of REVERSED) await register(usage, registration({ application }));
    for (const application of REVERSED) await record(usage, report({ application }));
    assertEqual(await applicationsIn(usage), NAMES);
    assertEqual(
      await pairsIn(usage),
      NAMES.map((application) => ({ application, flag: 'checkout', count: 1 })),
    );
    for (const id of REVERSED) await record(usage, report({ instance: { id } }));
    assertEqual(
      (await instancesOf(usage, 'shop')).map(({ id }) => id),
      NAMES,
    );
  });

  rule('returns strategies and descriptions as they were sent', async (usage) => {
    const text = NAMES.join('\n');
    const described = { strategies: REVERSED, description: text, url: text, color: text, icon: text };
    await register(usage, registration(described));
    const times = { createdAt: NOW, seenAt: NOW };
    assertEqual(await usage.applications({}), [{ name: 'shop', ...described, ...times, droppedNames: 0 }]);
  });
}

export function pairRules(rule: UsageRule): void {
  rule('sum yes and no of all reports of an application', async (usage) => {
    await record(usage, report({ counts: [{ flag: 'checkout', yes: 3, no: 1 }] }));
    await record(usage, report({ instance: { id: 'shop-2' }, counts: [{ flag: 'checkout', yes: 0, no: 2 }] }));
    assertEqual(await pairsIn(usage), [{ application: 'shop', flag: 'checkout', count: 6 }]);
  });

  rule('are those of one application or flag if the query names it', async (usage) => {
    await record(usage, report({ counts: once('search', 'checkout') }));
    await record(usage, report({ counts: once('checkout', 'banner') }));
    await record(usage, report({ application: 'billing', counts: once('invoice', 'search') }));
    assertEqual(await flagsOf(usage, 'shop'), ['banner', 'checkout', 'search']);
    const ofSearch = await usage.sum({ resolution: 'ever', by: ['flag', 'application'], flag: 'search' });
    assertEqual(
      ofSearch.map(({ application }) => application),
      ['billing', 'shop'],
    );
  });
}
