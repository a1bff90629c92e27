import assert from 'node:assert/strict';
import type { UsageStorage } from '../../storage/usage-port.js';
import { MINUTE, SECOND } from '../../storage/usage-rules.js';
import { assertSame, type UsageRule } from '../test-runner.js';
import {
  applicationOf,
  countsIn,
  flagsOf,
  NOW,
  once,
  pairsIn,
  record,
  register,
  registration,
  report,
} from './samples.js';

export function countRules(rule: UsageRule): void {
  rule('returns no counts before the first report', async (usage) => {
    for (const resolution of ['second', 'minute', 'hour', 'day', 'ever'] as const) {
      assertSame(await usage.sum({ resolution, by: ['flag'] }), []);
    }
  });

  rule('sums the reports of a flag, by every resolution', async (usage) => {
    await record(usage, report({ counts: [{ flag: 'checkout', yes: 3, no: 1 }] }));
    await record(usage, report({ counts: [{ flag: 'checkout', yes: 2, no: 5 }] }));
    for (const resolution of ['second', 'minute', 'hour', 'day', 'ever'] as const) {
      assertSame(await usage.sum({ resolution, by: ['flag'] }), [{ flag: 'checkout', yes: 5, no: 6 }]);
    }
  });

  rule('sums over seconds, applications and instances', async (usage) => {
    await record(usage, report({ stop: NOW - 5 * SECOND }));
    await record(usage, report({ application: 'billing' }));
    await record(usage, report({ instance: { id: 'shop-2' } }));
    assertSame(await countsIn(usage), [{ flag: 'checkout', yes: 3, no: 0 }]);
  });

  rule('separates flags', async (usage) => {
    const counts = [
      { flag: 'banner', yes: 1, no: 2 },
      { flag: 'checkout', yes: 3, no: 4 },
    ];
    await record(usage, report({ counts }));
    assertSame(await countsIn(usage), counts);
  });

  rule('lists flags by name, in whatever order they were reported', async (usage) => {
    await record(usage, report({ counts: once('c', 'a') }));
    await record(usage, report({ stop: NOW - SECOND, counts: once('b', 'd') }));
    assertSame(await countsIn(usage), once('a', 'b', 'c', 'd'));
  });

  rule('lists a flag with counts of zero', async (usage) => {
    const counts = [{ flag: 'checkout', yes: 0, no: 0 }];
    await record(usage, report({ counts }));
    assertSame(await countsIn(usage), counts);
    assertSame(await pairsIn(usage), [{ application: 'shop', flag: 'checkout', count: 0 }]);
  });

  rule('accepts a report without counts', async (usage) => {
    await record(usage, report({ counts: [] }));
    assertSame(await countsIn(usage), []);
    assert.equal((await applicationOf(usage, 'shop'))?.seenAt, NOW);
  });

  rule('accepts a report of a thousand flags', async (usage) => {
    const counts = Array.from({ length: 1000 }, (_, index) => ({ flag: `flag-${1000 + index}`, yes: index, no: 1 }));
    await record(usage, report({ counts }));
    assertSame(await countsIn(usage), counts);
  });

  // 1,100 times the largest safe integer exceeds 64 bits.
  rule('stops sums at the largest safe integer, and accepts later reports', async (usage) => {
    const counts = [{ flag: 'checkout', yes: Number.MAX_SAFE_INTEGER, no: 0 }];
    await Promise.all(Array.from({ length: 1100 }, () => record(usage, report({ counts }))));
    await record(usage, report({ stop: NOW - MINUTE, counts }));
    assertSame(await countsIn(usage), counts);
    const [ever] = await usage.sum({ resolution: 'ever', by: ['flag'] });
    assert.equal(ever?.yes, Number.MAX_SAFE_INTEGER);
  });
}

async function yesFrom(usage: UsageStorage, resolution: 'second' | 'minute', from: number): Promise<number> {
  const [count] = await usage.sum({ resolution, by: ['flag'], from });
  return count?.yes ?? 0;
}

export function windowRules(rule: UsageRule): void {
  rule('counts a report in the second and the minute that contain the end of its period', async (usage) => {
    for (const age of [0, 1, SECOND, SECOND + 1, MINUTE]) await record(usage, report({ stop: NOW - age }));
    assert.equal(await yesFrom(usage, 'second', NOW), 1);
    assert.equal(await yesFrom(usage, 'second', NOW - SECOND), 3);
    assert.equal(await yesFrom(usage, 'second', NOW - 2 * SECOND), 4);
    assert.equal(await yesFrom(usage, 'minute', NOW), 1);
    assert.equal(await yesFrom(usage, 'minute', NOW - MINUTE), 5);
  });

  rule('counts only the periods that start within the window', async (usage) => {
    for (const age of [0, 30 * SECOND, 90 * SECOND, 59 * MINUTE]) await record(usage, report({ stop: NOW - age }));
    assert.equal(await yesFrom(usage, 'second', NOW - MINUTE), 2);
    assert.equal(await yesFrom(usage, 'minute', NOW - 60 * MINUTE), 4);
    const [earlier] = await usage.sum({ resolution: 'minute', by: ['flag'], until: NOW - MINUTE });
    assert.equal(earlier?.yes, 2);
  });

  rule('leaves out flags without reports in the window', async (usage) => {
    await record(usage, report({ stop: NOW - 90 * SECOND }));
    assertSame(await usage.sum({ resolution: 'second', by: ['flag'], from: NOW - MINUTE }), []);
  });

  rule('counts a report by the end of its period, not by its arrival', async (usage) => {
    await record(usage, report({ stop: NOW - 2 * MINUTE }), { at: NOW });
    assert.equal(await yesFrom(usage, 'minute', NOW - MINUTE), 0);
    assert.equal(await yesFrom(usage, 'minute', NOW - 2 * MINUTE), 1);
  });

  rule('stores no seconds and minutes that are too old when they arrive', async (usage) => {
    for (const age of [119 * SECOND, 120 * SECOND, 60 * MINUTE, 61 * MINUTE]) {
      await record(usage, report({ stop: NOW - age }));
    }
    assert.equal(await yesFrom(usage, 'second', 0), 1);
    assert.equal(await yesFrom(usage, 'minute', 0), 3);
    assertSame(await pairsIn(usage), [{ application: 'shop', flag: 'checkout', count: 4 }]);
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

export function nameRules(rule: UsageRule): void {
  rule('accepts any text for flags, and orders it by code points', async (usage) => {
    await record(usage, report({ counts: once(...REVERSED) }));
    assertSame(await countsIn(usage), once(...NAMES));
    assertSame(await flagsOf(usage, 'shop'), NAMES);
  });

  rule('returns last-seen times of flags with any text as a name', async (usage) => {
    assert.equal((await usage.lastSeen(NAMES)).size, 0);
    await record(usage, report({ counts: once(...REVERSED) }));
    assert.deepEqual(new Map(await usage.lastSeen(NAMES)), new Map(NAMES.map((name) => [name, NOW])));
  });

  rule('forgets flags with any text as a name', async (usage) => {
    await record(usage, report({ counts: once(...NAMES) }));
    await usage.forget({ flags: NAMES.slice(1) });
    assertSame(await countsIn(usage), once(...NAMES.slice(0, 1)));
    assertSame([...(await usage.lastSeen(NAMES)).keys()], NAMES.slice(0, 1));
  });

  rule('keeps flags with any text as a name when it prunes', async (usage) => {
    await record(usage, report({ counts: once(...NAMES) }));
    const [dropped = '', ...flags] = NAMES;
    await usage.prune({ now: NOW, unseen: { since: NOW + 1, isFlag: (name) => flags.includes(name) } });
    const seen = await usage.lastSeen(NAMES);
    assertSame([seen.size, seen.has(dropped)], [flags.length, false]);
  });

  rule('accepts any text for applications, and orders it by code points', async (usage) => {
    for (const application of NAMES) assert.equal(await applicationOf(usage, application), undefined);
    for (const application of REVERSED) await register(usage, registration({ application }));
    for (const application of REVERSED) await record(usage, report({ application }));
    assertSame(
      (await usage.applications({})).map(({ name }) => name),
      NAMES,
    );
    assertSame(
      await pairsIn(usage),
      NAMES.map((application) => ({ application, flag: 'checkout', count: 1 })),
    );
  });

  rule('accepts any text for instances, and orders it by code points', async (usage) => {
    for (const id of REVERSED) await record(usage, report({ instance: { id } }));
    const ids = (await applicationOf(usage, 'shop'))?.instances?.map(({ id }) => id);
    assertSame(ids, NAMES);
  });

  rule('returns strategies and descriptions as they were sent', async (usage) => {
    const text = NAMES.join('\n');
    const described = { strategies: REVERSED, description: text, url: text, color: text, icon: text };
    await register(usage, registration(described));
    const [application] = await usage.applications({});
    assertSame(application, { name: 'shop', ...described, createdAt: NOW, seenAt: NOW, droppedNames: 0 });
  });
}

export function pairRules(rule: UsageRule): void {
  rule('are none before the first report', async (usage) => {
    await register(usage, registration());
    assertSame(await pairsIn(usage), []);
  });

  rule('sum yes and no of all reports of an application', async (usage) => {
    await record(usage, report({ counts: [{ flag: 'checkout', yes: 3, no: 1 }] }));
    await record(usage, report({ instance: { id: 'shop-2' }, counts: [{ flag: 'checkout', yes: 0, no: 2 }] }));
    assertSame(await pairsIn(usage), [{ application: 'shop', flag: 'checkout', count: 6 }]);
  });

  rule(
    'separate applications, and are listed by application, then flag, or by flag, then application',
    async (usage) => {
      await record(usage, report({ application: 'shop', counts: once('search', 'checkout') }));
      await record(usage, report({ application: 'billing', counts: once('checkout') }));
      const counted = { yes: 1, no: 0 };
      const [one, two, three] = [
        { application: 'billing', flag: 'checkout', ...counted },
        { application: 'shop', flag: 'checkout', ...counted },
        { application: 'shop', flag: 'search', ...counted },
      ];
      assertSame(await usage.sum({ resolution: 'ever', by: ['application', 'flag'] }), [one, two, three]);
      assertSame(await usage.sum({ resolution: 'ever', by: ['flag', 'application'] }), [one, two, three]);
      await record(usage, report({ application: 'billing', counts: once('search') }));
      const byFlag = await usage.sum({ resolution: 'ever', by: ['flag', 'application'], flag: 'search' });
      assertSame(
        byFlag.map(({ application }) => application),
        ['billing', 'shop'],
      );
    },
  );

  rule('are those of one application if the query names it', async (usage) => {
    await record(usage, report({ counts: once('search', 'checkout') }));
    await record(usage, report({ counts: once('checkout', 'banner') }));
    await record(usage, report({ application: 'billing', counts: once('invoice') }));
    assertSame(await flagsOf(usage, 'shop'), ['banner', 'checkout', 'search']);
  });
}
