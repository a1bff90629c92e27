import assert from 'node:assert/strict';
import type { Resolution, UsageStorage } from '../../storage/usage-port.js';
import { DAY, HOUR, MINUTE, SECOND } from '../../storage/usage-rules.js';
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

/** Deletes what was last seen before a time; only the given flags exist. */
async function pruneUnseen(usage: UsageStorage, since: number, ...flags: readonly string[]): Promise<void> {
  const existing = new Set(flags);
  await usage.prune({ now: NOW, unseen: { since, isFlag: (name) => existing.has(name) } });
}

export function pruningRules(rule: UsageRule): void {
  rule('deletes seconds, minutes, hours and days that are too old', async (usage) => {
    const sumsOf = async (resolution: Resolution) => {
      const [sum] = await usage.sum({ resolution, by: ['flag'] });
      return sum?.yes;
    };
    await record(usage, report());
    for (const [later, expected] of [
      [119 * SECOND, [1, 1, 1, 1]],
      [120 * SECOND, [undefined, 1, 1, 1]],
      [60 * MINUTE, [undefined, 1, 1, 1]],
      [61 * MINUTE, [undefined, undefined, 1, 1]],
      [167 * HOUR, [undefined, undefined, 1, 1]],
      [168 * HOUR, [undefined, undefined, undefined, 1]],
      [29 * DAY, [undefined, undefined, undefined, 1]],
      [30 * DAY, [undefined, undefined, undefined, undefined]],
    ] as const) {
      assertSame(await usage.prune({ now: NOW + later }), { names: 0, reports: 0, usage: 0 });
      const found = [];
      for (const resolution of ['second', 'minute', 'hour', 'day'] as const) found.push(await sumsOf(resolution));
      assertSame(found, expected);
    }
  });

  rule('keeps flags of applications and last-seen times when it deletes counts', async (usage) => {
    await record(usage, report());
    await usage.prune({ now: NOW + 60 * DAY });
    assertSame(await pairsIn(usage), [{ application: 'shop', flag: 'checkout', count: 1 }]);
    assert.equal((await usage.lastSeen(['checkout'])).get('checkout'), NOW);
  });

  rule('deletes applications that were not seen since the given time, with instances and usage', async (usage) => {
    await record(usage, report({ application: 'gone', stop: NOW - 1 }), { at: NOW - 1 });
    await register(usage, registration({ application: 'gone too' }), { at: NOW - 1 });
    await record(usage, report({ application: 'kept' }), { at: NOW });
    await pruneUnseen(usage, NOW, 'checkout');
    assert.equal(await applicationOf(usage, 'gone'), undefined);
    assertSame(
      (await usage.applications({})).map(({ name }) => name),
      ['kept'],
    );
    assertSame(await pairsIn(usage), [{ application: 'kept', flag: 'checkout', count: 1 }]);
  });

  rule('creates an application anew that reports after it was pruned', async (usage) => {
    await register(usage, registration({ description: 'The web shop' }), { at: NOW - MINUTE });
    await record(usage, report({ instance: { id: 'old' }, stop: NOW - MINUTE }), { at: NOW - MINUTE });
    await pruneUnseen(usage, NOW);
    await record(usage, report({ instance: { id: 'new' }, counts: once('search') }));
    const application = await applicationOf(usage, 'shop');
    assertSame([application?.description, application?.createdAt], ['', NOW]);
    assertSame(await flagsOf(usage, 'shop'), ['search']);
    assertSame(
      application?.instances?.map(({ id }) => id),
      ['new'],
    );
  });

  rule('deletes single instances of applications that still report', async (usage) => {
    await record(usage, report({ instance: { id: 'stale' }, stop: NOW - 1 }), { at: NOW - 1 });
    await record(usage, report({ instance: { id: 'alive' } }), { at: NOW });
    await pruneUnseen(usage, NOW, 'checkout');
    const application = await applicationOf(usage, 'shop');
    assertSame(
      application?.instances?.map(({ id }) => id),
      ['alive'],
    );
    assertSame(await pairsIn(usage), [{ application: 'shop', flag: 'checkout', count: 2 }]);
  });

  rule('keeps the last-seen times of existing flags, and deletes old ones of other names', async (usage) => {
    await record(usage, report({ stop: NOW - 1, counts: once('flag', 'stranger') }));
    await record(usage, report({ stop: NOW, counts: once('young stranger') }));
    await pruneUnseen(usage, NOW, 'flag', 'never reported');
    const seen = await usage.lastSeen(['flag', 'stranger', 'young stranger', 'never reported']);
    assert.deepEqual(
      new Map(seen),
      new Map([
        ['flag', NOW - 1],
        ['young stranger', NOW],
      ]),
    );
  });

  rule('deletes the usage of old names that are not flags', async (usage) => {
    await record(usage, report({ stop: NOW - 1, counts: once('flag', 'stranger') }), { at: NOW });
    await pruneUnseen(usage, NOW, 'flag');
    assertSame(await pairsIn(usage), [{ application: 'shop', flag: 'flag', count: 1 }]);
  });

  rule('handles two thousand flags', async (usage) => {
    const flags = Array.from({ length: 2000 }, (_, index) => `flag-${index}`);
    await record(usage, report({ counts: once('stranger', ...flags) }));
    await pruneUnseen(usage, NOW + 1, ...flags);
    const seen = await usage.lastSeen(['stranger', ...flags]);
    assertSame([seen.size, seen.has('stranger')], [2000, false]);
  });
}

export function forgettingRules(rule: UsageRule): void {
  rule('deletes the counts, the usage and the last-seen time of a flag', async (usage) => {
    await record(usage, report({ counts: once('checkout', 'search') }));
    await record(usage, report({ application: 'billing', stop: NOW - MINUTE, counts: once('checkout') }));
    await usage.forget({ flags: ['checkout'] });
    assertSame(await countsIn(usage), once('search'));
    assertSame(await pairsIn(usage), [{ application: 'shop', flag: 'search', count: 1 }]);
    assertSame([...(await usage.lastSeen(['checkout', 'search'])).keys()], ['search']);
    assertSame(await flagsOf(usage, 'billing'), []);
    for (const resolution of ['second', 'hour', 'day'] as const) {
      assertSame(await usage.sum({ resolution, by: ['flag'] }), once('search'));
    }
  });

  rule('counts a forgotten flag from zero when it is reported again', async (usage) => {
    await record(usage, report({ counts: [{ flag: 'checkout', yes: 7, no: 7 }] }));
    await usage.forget({ flags: ['checkout'] });
    await record(usage, report({ stop: NOW - MINUTE }));
    assertSame(await countsIn(usage), once('checkout'));
    assertSame(await pairsIn(usage), [{ application: 'shop', flag: 'checkout', count: 1 }]);
    assert.equal((await usage.lastSeen(['checkout'])).get('checkout'), NOW - MINUTE);
  });

  rule('changes nothing for a flag that was never reported', async (usage) => {
    await record(usage, report());
    await usage.forget({ flags: ['search'] });
    assertSame(await countsIn(usage), once('checkout'));
  });
}

export function lastSeenRules(rule: UsageRule): void {
  rule('leaves out a flag that was never reported', async (usage) => {
    await record(usage, report());
    assert.deepEqual(new Map(await usage.lastSeen(['checkout', 'banner'])), new Map([['checkout', NOW]]));
  });

  rule('returns only the requested flags', async (usage) => {
    await record(usage, report({ counts: once('checkout', 'banner') }));
    assert.deepEqual(new Map(await usage.lastSeen(['banner'])), new Map([['banner', NOW]]));
    assert.equal((await usage.lastSeen([])).size, 0);
  });

  rule('returns the end of the reported period, to the millisecond', async (usage) => {
    await record(usage, report({ stop: NOW - 123 }), { at: NOW });
    assert.equal((await usage.lastSeen(['checkout'])).get('checkout'), NOW - 123);
  });

  rule('returns the latest end, in whatever order reports arrive', async (usage) => {
    for (const stop of [NOW - 2 * MINUTE, NOW, NOW - MINUTE]) await record(usage, report({ stop }));
    assert.equal((await usage.lastSeen(['checkout'])).get('checkout'), NOW);
  });

  rule('returns a time for a flag with counts of zero', async (usage) => {
    await record(usage, report({ counts: [{ flag: 'checkout', yes: 0, no: 0 }] }));
    assert.equal((await usage.lastSeen(['checkout'])).get('checkout'), NOW);
  });

  rule('returns two thousand flags in one call', async (usage) => {
    const flags = Array.from({ length: 2000 }, (_, index) => `flag-${index}`);
    await record(usage, report({ counts: once(...flags) }));
    assert.deepEqual(new Map(await usage.lastSeen(flags)), new Map(flags.map((flag) => [flag, NOW])));
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
    await register(usage, registration());
    await record(usage, report());
    const read = async () => [
      await countsIn(usage),
      await usage.applications({}),
      await applicationOf(usage, 'shop'),
      await pairsIn(usage),
      [...(await usage.lastSeen(['checkout']))],
    ];
    const before = structuredClone(await read());
    spoil(await read());
    spoil(await usage.lastSeen(['checkout']));
    assertSame(await read(), before);
  });

  rule('do not change when the caller changes its input after the call', async (usage) => {
    const strategies = ['default'];
    const instance = { id: 'shop-1', clientIp: '192.0.2.7' };
    const counts = [{ flag: 'checkout', yes: 1, no: 0 }];
    await register(usage, registration({ strategies, instance }));
    await record(usage, report({ counts, instance }));
    for (const input of [strategies, instance, counts]) spoil(input);
    const application = await applicationOf(usage, 'shop');
    assertSame(application?.strategies, ['default']);
    assert.equal(application?.instances?.[0]?.clientIp, '192.0.2.7');
    assertSame(await countsIn(usage), once('checkout'));
  });

  rule('do not change with later reports', async (usage) => {
    await record(usage, report());
    const counts = await countsIn(usage);
    const seen = await usage.lastSeen(['checkout']);
    await record(usage, report({ stop: NOW + 1 }), { at: NOW + 1 });
    assertSame(counts, once('checkout'));
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
    assertSame(await countsIn(other), once('checkout'));
  });
}
