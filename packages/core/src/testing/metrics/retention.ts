import assert from 'node:assert/strict';
import type { Retention } from '../../storage/metrics-port.js';
import { assertSame, type MetricsRule } from '../test-runner.js';
import { MINUTE, NOW, once, registration, report, SECOND } from './samples.js';

type Given = Partial<Omit<Retention, 'isFlag'>> & { readonly flags?: readonly string[] };

/** Returns a retention that keeps everything except what `given` names. */
function retention({ flags = [], ...given }: Given): Retention {
  const existing = new Set(flags);
  return { countersUntil: 0, unseenSince: 0, isFlag: (name) => existing.has(name), ...given };
}

export function pruningRules(rule: MetricsRule): void {
  rule('deletes the counters of seconds up to the given time', async (metrics) => {
    for (const stop of [NOW - SECOND, NOW, NOW + 1]) await metrics.record([report({ at: NOW + SECOND, stop })]);
    await metrics.prune(retention({ countersUntil: NOW, flags: ['checkout'] }));
    assertSame(await metrics.counts({ after: 0 }), once('checkout'));
    assertSame(await metrics.counts({ after: NOW }), once('checkout'));
  });

  rule('keeps the counters of a second that the given time is within', async (metrics) => {
    await metrics.record([report({ stop: NOW })]);
    await metrics.prune(retention({ countersUntil: NOW - 1 }));
    assertSame(await metrics.counts({ after: 0 }), once('checkout'));
  });

  rule('keeps usage and last-seen times when it deletes counters', async (metrics) => {
    await metrics.record([report()]);
    await metrics.prune(retention({ countersUntil: NOW }));
    assertSame(await metrics.usage(), [{ application: 'shop', flag: 'checkout', count: 1 }]);
    assert.equal((await metrics.lastSeen(['checkout'])).get('checkout'), NOW);
  });

  rule('deletes applications that were not seen since the given time, with instances and usage', async (metrics) => {
    await metrics.record([report({ application: 'gone', at: NOW - 1, stop: NOW - 1 })]);
    await metrics.register(registration({ application: 'gone too', at: NOW - 1 }));
    await metrics.record([report({ application: 'kept', at: NOW })]);
    await metrics.prune(retention({ unseenSince: NOW, flags: ['checkout'] }));
    assert.equal(await metrics.application('gone'), undefined);
    assertSame(
      (await metrics.applications({ seenSince: 0 })).map(({ name }) => name),
      ['kept'],
    );
    assertSame(await metrics.usage(), [{ application: 'kept', flag: 'checkout', count: 1 }]);
  });

  rule('creates an application anew that reports after it was pruned', async (metrics) => {
    await metrics.register(registration({ description: 'The web shop', at: NOW - MINUTE }));
    await metrics.record([report({ instance: { id: 'old' }, at: NOW - MINUTE, stop: NOW - MINUTE })]);
    await metrics.prune(retention({ unseenSince: NOW }));
    await metrics.record([report({ instance: { id: 'new' }, counts: once('search') })]);
    const application = await metrics.application('shop');
    assertSame([application?.description, application?.createdAt], ['', NOW]);
    assertSame(application?.flags, ['search']);
    assertSame(
      application?.instances.map(({ id }) => id),
      ['new'],
    );
  });

  rule('deletes single instances of applications that still report', async (metrics) => {
    await metrics.record([report({ instance: { id: 'stale' }, at: NOW - 1, stop: NOW - 1 })]);
    await metrics.record([report({ instance: { id: 'alive' }, at: NOW })]);
    await metrics.prune(retention({ unseenSince: NOW, flags: ['checkout'] }));
    const application = await metrics.application('shop');
    assertSame(
      application?.instances.map(({ id }) => id),
      ['alive'],
    );
    assertSame(await metrics.usage(), [{ application: 'shop', flag: 'checkout', count: 2 }]);
  });

  rule('keeps the last-seen times of existing flags, and deletes old ones of other names', async (metrics) => {
    await metrics.record([report({ stop: NOW - 1, counts: once('flag', 'stranger') })]);
    await metrics.record([report({ stop: NOW, counts: once('young stranger') })]);
    await metrics.prune(retention({ unseenSince: NOW, flags: ['flag', 'never reported'] }));
    const seen = await metrics.lastSeen(['flag', 'stranger', 'young stranger', 'never reported']);
    assert.deepEqual(
      new Map(seen),
      new Map([
        ['flag', NOW - 1],
        ['young stranger', NOW],
      ]),
    );
  });

  rule('deletes the usage of old names that are not flags', async (metrics) => {
    await metrics.record([report({ at: NOW, stop: NOW - 1, counts: once('flag', 'stranger') })]);
    await metrics.prune(retention({ unseenSince: NOW, flags: ['flag'] }));
    assertSame(await metrics.usage(), [{ application: 'shop', flag: 'flag', count: 1 }]);
  });

  rule('handles two thousand flags', async (metrics) => {
    const flags = Array.from({ length: 2000 }, (_, index) => `flag-${index}`);
    await metrics.record([report({ counts: once('stranger', ...flags) })]);
    await metrics.prune(retention({ unseenSince: NOW + 1, flags }));
    const seen = await metrics.lastSeen(['stranger', ...flags]);
    assertSame([seen.size, seen.has('stranger')], [2000, false]);
  });
}

export function forgettingRules(rule: MetricsRule): void {
  rule('deletes the counts, the usage and the last-seen time of a flag', async (metrics) => {
    await metrics.record([report({ counts: once('checkout', 'search') })]);
    await metrics.record([report({ application: 'billing', stop: NOW - MINUTE, counts: once('checkout') })]);
    await metrics.forget('checkout');
    assertSame(await metrics.counts({ after: 0 }), once('search'));
    assertSame(await metrics.usage(), [{ application: 'shop', flag: 'search', count: 1 }]);
    assertSame([...(await metrics.lastSeen(['checkout', 'search'])).keys()], ['search']);
    assertSame((await metrics.application('billing'))?.flags, []);
  });

  rule('counts a forgotten flag from zero when it is reported again', async (metrics) => {
    await metrics.record([report({ counts: [{ flag: 'checkout', yes: 7, no: 7 }] })]);
    await metrics.forget('checkout');
    await metrics.record([report({ stop: NOW - MINUTE })]);
    assertSame(await metrics.counts({ after: 0 }), once('checkout'));
    assertSame(await metrics.usage(), [{ application: 'shop', flag: 'checkout', count: 1 }]);
    assert.equal((await metrics.lastSeen(['checkout'])).get('checkout'), NOW - MINUTE);
  });

  rule('changes nothing for a flag that was never reported', async (metrics) => {
    await metrics.record([report()]);
    await metrics.forget('search');
    assertSame(await metrics.counts({ after: 0 }), once('checkout'));
  });
}

export function lastSeenRules(rule: MetricsRule): void {
  rule('leaves out a flag that was never reported', async (metrics) => {
    await metrics.record([report()]);
    assert.deepEqual(new Map(await metrics.lastSeen(['checkout', 'banner'])), new Map([['checkout', NOW]]));
  });

  rule('returns only the requested flags', async (metrics) => {
    await metrics.record([report({ counts: once('checkout', 'banner') })]);
    assert.deepEqual(new Map(await metrics.lastSeen(['banner'])), new Map([['banner', NOW]]));
    assert.equal((await metrics.lastSeen([])).size, 0);
  });

  rule('returns the end of the reported period, to the millisecond', async (metrics) => {
    await metrics.record([report({ at: NOW, stop: NOW - 123 })]);
    assert.equal((await metrics.lastSeen(['checkout'])).get('checkout'), NOW - 123);
  });

  rule('returns the latest end, in whatever order reports arrive', async (metrics) => {
    for (const stop of [NOW - 2 * MINUTE, NOW, NOW - MINUTE]) await metrics.record([report({ stop })]);
    assert.equal((await metrics.lastSeen(['checkout'])).get('checkout'), NOW);
  });

  rule('returns a time for a flag with counts of zero', async (metrics) => {
    await metrics.record([report({ counts: [{ flag: 'checkout', yes: 0, no: 0 }] })]);
    assert.equal((await metrics.lastSeen(['checkout'])).get('checkout'), NOW);
  });

  rule('returns two thousand flags in one call', async (metrics) => {
    const flags = Array.from({ length: 2000 }, (_, index) => `flag-${index}`);
    await metrics.record([report({ counts: once(...flags) })]);
    assert.deepEqual(new Map(await metrics.lastSeen(flags)), new Map(flags.map((flag) => [flag, NOW])));
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

export function copyRules(rule: MetricsRule): void {
  rule('are copies that the caller may change', async (metrics) => {
    await metrics.register(registration());
    await metrics.record([report()]);
    const read = async () => [
      await metrics.counts({ after: 0 }),
      await metrics.applications({ seenSince: 0 }),
      await metrics.application('shop'),
      await metrics.usage(),
      [...(await metrics.lastSeen(['checkout']))],
    ];
    const before = structuredClone(await read());
    spoil(await read());
    spoil(await metrics.lastSeen(['checkout']));
    assertSame(await read(), before);
  });

  rule('do not change when the caller changes its input after the call', async (metrics) => {
    const strategies = ['default'];
    const instance = { id: 'shop-1', clientIp: '192.0.2.7' };
    const counts = [{ flag: 'checkout', yes: 1, no: 0 }];
    await metrics.register(registration({ strategies, instance }));
    await metrics.record([report({ counts, instance })]);
    for (const input of [strategies, instance, counts]) spoil(input);
    const application = await metrics.application('shop');
    assertSame(application?.strategies, ['default']);
    assert.equal(application?.instances[0]?.clientIp, '192.0.2.7');
    assertSame(await metrics.counts({ after: 0 }), once('checkout'));
  });

  rule('do not change with later reports', async (metrics) => {
    await metrics.record([report()]);
    const counts = await metrics.counts({ after: 0 });
    const seen = await metrics.lastSeen(['checkout']);
    await metrics.record([report({ at: NOW + 1, stop: NOW + 1 })]);
    assertSame(counts, once('checkout'));
    assert.equal(seen.get('checkout'), NOW);
  });
}

export function closingRules(rule: MetricsRule): void {
  rule('allows repeated calls', async (metrics) => {
    await metrics.record([report()]);
    await metrics.close();
    await metrics.close();
  });

  rule('does not close another instance', async (metrics, again) => {
    const other = await again();
    if (other !== metrics) await metrics.close();
    await other.record([report()]);
    assertSame(await other.counts({ after: 0 }), once('checkout'));
  });
}
