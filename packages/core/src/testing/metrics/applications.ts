import assert from 'node:assert/strict';
import type { InstanceSighting, MetricsStorage, StoredInstance } from '../../storage/metrics-port.js';
import { assertSame, type MetricsRule } from '../test-runner.js';
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

const DESCRIBED = { description: 'The web shop', url: 'https://shop.example', color: '#ff0000', icon: 'shopping_cart' };

export function registrationRules(rule: MetricsRule): void {
  rule('creates the application and its instance', async (metrics) => {
    const instance = { id: 'shop-1', clientIp: '192.0.2.7', sdkVersion: 'node:6.1.0' };
    await metrics.register(registration({ ...DESCRIBED, instance, strategies: ['userWithId', 'default'] }));
    assertSame(await metrics.application('shop'), {
      name: 'shop',
      strategies: ['userWithId', 'default'],
      ...DESCRIBED,
      createdAt: NOW,
      seenAt: NOW,
      instances: [{ ...instance, createdAt: NOW, seenAt: NOW }],
      flags: [],
    });
  });

  rule('what was never told is empty', async (metrics) => {
    await metrics.register(registration({ strategies: [] }));
    assertSame(await metrics.applications({ seenSince: 0 }), [
      { name: 'shop', strategies: [], description: '', url: '', color: null, icon: '', createdAt: NOW, seenAt: NOW },
    ]);
  });

  rule('again replaces the strategies', async (metrics) => {
    await metrics.register(registration({ strategies: ['default', 'userWithId'] }));
    await metrics.register(registration({ strategies: ['flexibleRollout'] }));
    assertSame((await metrics.application('shop'))?.strategies, ['flexibleRollout']);
  });

  rule('again replaces what is given', async (metrics) => {
    await metrics.register(registration(DESCRIBED));
    await metrics.register(registration({ description: 'Till', url: '', color: null, icon: 'till' }));
    const { description, url, color, icon } = { ...(await metrics.application('shop')) };
    assertSame({ description, url, color, icon }, { description: 'Till', url: '', color: null, icon: 'till' });
  });

  rule('again keeps what is absent', async (metrics) => {
    await metrics.register(registration(DESCRIBED));
    await metrics.register(registration());
    const { description, url, color, icon } = { ...(await metrics.application('shop')) };
    assertSame({ description, url, color, icon }, DESCRIBED);
  });

  rule('again keeps the time of creation and renews that of the last sign of life', async (metrics) => {
    await metrics.register(registration({ at: NOW }));
    await metrics.register(registration({ at: NOW + MINUTE }));
    const application = await metrics.application('shop');
    assertSame([application?.createdAt, application?.seenAt], [NOW, NOW + MINUTE]);
  });

  rule('that arrives late does not turn back the last sign of life', async (metrics) => {
    await metrics.register(registration({ at: NOW }));
    await metrics.register(registration({ at: NOW - MINUTE }));
    const application = await metrics.application('shop');
    assertSame([application?.seenAt, application?.instances[0]?.seenAt], [NOW, NOW]);
  });

  rule('completes an application that was known from its reports', async (metrics) => {
    await metrics.record([report({ at: NOW - MINUTE, stop: NOW - MINUTE })]);
    await metrics.register(registration(DESCRIBED));
    const application = await metrics.application('shop');
    assert.equal(application?.description, DESCRIBED.description);
    assertSame([application?.createdAt, application?.seenAt], [NOW - MINUTE, NOW]);
    assertSame(application?.flags, ['checkout']);
  });
}

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
