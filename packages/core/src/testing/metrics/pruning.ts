import assert from 'node:assert/strict';
import type { Retention } from '../../metrics/port.js';
import { assertSame } from './assert-same.js';
import type { MetricsRule } from './rule.js';
import { MINUTE, NOW, once, registration, report, SECOND } from './samples.js';

type Given = Partial<Omit<Retention, 'isFlag'>> & { readonly flags?: readonly string[] };

/** Drops nothing but what is given. */
function retention({ flags = [], ...given }: Given): Retention {
  const existing = new Set(flags);
  return { countersUntil: 0, unseenSince: 0, isFlag: (name) => existing.has(name), ...given };
}

export function pruningRules(rule: MetricsRule): void {
  rule('drops the counters of seconds up to the given time', async (metrics) => {
    for (const stop of [NOW - SECOND, NOW, NOW + 1]) await metrics.record([report({ at: NOW + SECOND, stop })]);
    await metrics.prune(retention({ countersUntil: NOW, flags: ['checkout'] }));
    assertSame(await metrics.counts({ after: 0 }), once('checkout'));
    assertSame(await metrics.counts({ after: NOW }), once('checkout'));
  });

  rule('within a second keeps the counters of that second', async (metrics) => {
    await metrics.record([report({ stop: NOW })]);
    await metrics.prune(retention({ countersUntil: NOW - 1 }));
    assertSame(await metrics.counts({ after: 0 }), once('checkout'));
  });

  rule('of counters leaves usage and last-seen times alone', async (metrics) => {
    await metrics.record([report()]);
    await metrics.prune(retention({ countersUntil: NOW }));
    assertSame(await metrics.usage(), [{ application: 'shop', flag: 'checkout', count: 1 }]);
    assert.equal((await metrics.lastSeen(['checkout'])).get('checkout'), NOW);
  });

  rule('drops applications unseen since the given time, with instances and usage', async (metrics) => {
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

  rule('makes an application that returns a new one', async (metrics) => {
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

  rule('drops single instances of applications that live on', async (metrics) => {
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

  rule('keeps last-seen times of flags that exist, and drops old ones of other names', async (metrics) => {
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

  rule('drops the usage of old names that are no flags from applications that live on', async (metrics) => {
    await metrics.record([report({ at: NOW, stop: NOW - 1, counts: once('flag', 'stranger') })]);
    await metrics.prune(retention({ unseenSince: NOW, flags: ['flag'] }));
    assertSame(await metrics.usage(), [{ application: 'shop', flag: 'flag', count: 1 }]);
  });

  rule('knows two thousand flags', async (metrics) => {
    const flags = Array.from({ length: 2000 }, (_, index) => `flag-${index}`);
    await metrics.record([report({ counts: once('stranger', ...flags) })]);
    await metrics.prune(retention({ unseenSince: NOW + 1, flags }));
    const seen = await metrics.lastSeen(['stranger', ...flags]);
    assertSame([seen.size, seen.has('stranger')], [2000, false]);
  });
}
