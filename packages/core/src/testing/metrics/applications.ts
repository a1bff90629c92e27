import assert from 'node:assert/strict';
import { assertSame } from './assert-same.js';
import type { MetricsRule } from './rule.js';
import { MINUTE, NOW, once, registration, report } from './samples.js';

export function applicationRules(rule: MetricsRule): void {
  rule('an unknown application is undefined', async (metrics) => {
    await metrics.record([report()]);
    assert.equal(await metrics.application('billing'), undefined);
  });

  rule('there are none before the first sign of life', async (metrics) => {
    assertSame(await metrics.applications({ seenSince: 0 }), []);
  });

  rule('a report creates the application and the instance it comes from', async (metrics) => {
    await metrics.record([report({ at: NOW, stop: NOW - MINUTE })]);
    assertSame(await metrics.application('shop'), {
      name: 'shop',
      strategies: [],
      description: '',
      url: '',
      color: null,
      icon: '',
      createdAt: NOW,
      seenAt: NOW,
      instances: [{ id: 'shop-1', clientIp: '', sdkVersion: '', createdAt: NOW, seenAt: NOW }],
      flags: ['checkout'],
    });
  });

  rule('a report is a sign of life and changes nothing else of an application', async (metrics) => {
    await metrics.register(registration({ description: 'The web shop', strategies: ['userWithId'] }));
    await metrics.record([report({ at: NOW + MINUTE })]);
    const [application] = await metrics.applications({ seenSince: 0 });
    assertSame(application, {
      name: 'shop',
      strategies: ['userWithId'],
      description: 'The web shop',
      url: '',
      color: null,
      icon: '',
      createdAt: NOW,
      seenAt: NOW + MINUTE,
    });
  });

  rule('a report that arrives late does not turn back the last sign of life', async (metrics) => {
    await metrics.record([report({ at: NOW })]);
    await metrics.record([report({ at: NOW - MINUTE, stop: NOW - MINUTE })]);
    assert.equal((await metrics.application('shop'))?.seenAt, NOW);
  });

  rule('those seen at or after a time are listed, by name', async (metrics) => {
    await metrics.register(registration({ application: 'shop', at: NOW }));
    await metrics.record([report({ application: 'billing', at: NOW + 1 })]);
    await metrics.register(registration({ application: 'search', at: NOW - 1 }));
    const seen = await metrics.applications({ seenSince: NOW });
    assertSame(
      seen.map(({ name }) => name),
      ['billing', 'shop'],
    );
  });

  rule('a detail holds nothing of other applications', async (metrics) => {
    await metrics.record([report({ application: 'billing', instance: { id: 'b' }, counts: once('invoice') })]);
    await metrics.record([report({ application: 'shop', instance: { id: 's' }, counts: once('checkout') })]);
    const detail = await metrics.application('billing');
    assertSame(detail?.flags, ['invoice']);
    assertSame(
      detail?.instances.map(({ id }) => id),
      ['b'],
    );
  });
}
