import assert from 'node:assert/strict';
import type { InstanceSighting, MetricsStorage, StoredInstance } from '../../metrics/port.js';
import { assertSame } from './assert-same.js';
import type { MetricsRule } from './rule.js';
import { MINUTE, NOW, registration, report } from './samples.js';

const TOLD: InstanceSighting = { id: 'shop-1', clientIp: '192.0.2.7', sdkVersion: 'node:6.1.0' };

async function instancesOf(metrics: MetricsStorage, application: string): Promise<readonly StoredInstance[]> {
  return (await metrics.application(application))?.instances ?? [];
}

export function instanceRules(rule: MetricsRule): void {
  rule('a report tells address and SDK version', async (metrics) => {
    await metrics.record([report({ instance: TOLD })]);
    assertSame(await instancesOf(metrics, 'shop'), [{ ...TOLD, createdAt: NOW, seenAt: NOW }]);
  });

  rule('a report that does not tell them keeps what is stored', async (metrics) => {
    await metrics.register(registration({ instance: TOLD }));
    await metrics.record([report({ instance: { id: TOLD.id } })]);
    assertSame(await instancesOf(metrics, 'shop'), [{ ...TOLD, createdAt: NOW, seenAt: NOW }]);
  });

  rule('a registration that does not tell them keeps what is stored', async (metrics) => {
    await metrics.record([report({ instance: TOLD })]);
    await metrics.register(registration({ instance: { id: TOLD.id } }));
    assertSame(await instancesOf(metrics, 'shop'), [{ ...TOLD, createdAt: NOW, seenAt: NOW }]);
  });

  rule('what is told replaces what is stored', async (metrics) => {
    await metrics.record([report({ instance: TOLD })]);
    await metrics.record([report({ instance: { id: TOLD.id, clientIp: '2001:db8::1' } })]);
    await metrics.register(registration({ instance: { id: TOLD.id, sdkVersion: 'node:6.2.0' } }));
    const [instance] = await instancesOf(metrics, 'shop');
    assertSame([instance?.clientIp, instance?.sdkVersion], ['2001:db8::1', 'node:6.2.0']);
  });

  rule('each has times of its own, and its last sign of life never goes back', async (metrics) => {
    await metrics.register(registration({ instance: { id: 'shop-1' }, at: NOW }));
    await metrics.record([report({ instance: { id: 'shop-2' }, at: NOW + 2 * MINUTE })]);
    await metrics.record([report({ instance: { id: 'shop-2' }, at: NOW + MINUTE })]);
    const times = (await instancesOf(metrics, 'shop')).map(({ createdAt, seenAt }) => [createdAt, seenAt]);
    assertSame(times, [
      [NOW, NOW],
      [NOW + 2 * MINUTE, NOW + 2 * MINUTE],
    ]);
  });

  rule('are listed by id', async (metrics) => {
    for (const id of ['shop-3', 'shop-1', 'shop-2']) await metrics.record([report({ instance: { id } })]);
    const ids = (await instancesOf(metrics, 'shop')).map(({ id }) => id);
    assertSame(ids, ['shop-1', 'shop-2', 'shop-3']);
  });

  rule('of two applications may have the same id', async (metrics) => {
    await metrics.record([report({ application: 'shop', instance: { id: 'host-1', clientIp: '192.0.2.1' } })]);
    await metrics.record([report({ application: 'billing', instance: { id: 'host-1', clientIp: '192.0.2.2' } })]);
    assert.equal((await instancesOf(metrics, 'shop'))[0]?.clientIp, '192.0.2.1');
    assert.equal((await instancesOf(metrics, 'billing'))[0]?.clientIp, '192.0.2.2');
  });
}
