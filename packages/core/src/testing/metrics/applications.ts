import assert from 'node:assert/strict';
import type { InstanceSighting, MetricsStorage, StoredInstance } from '../../storage/metrics-port.js';
import { assertSame, type MetricsRule } from '../test-runner.js';
import { MINUTE, NOW, once, registration, report } from './samples.js';

export function applicationRules(rule: MetricsRule): void {
  rule('returns undefined for an unknown application', async (metrics) => {
    await metrics.record([report()]);
    assert.equal(await metrics.application('billing'), undefined);
  });

  rule('returns no applications before the first report or registration', async (metrics) => {
    assertSame(await metrics.applications({ seenSince: 0 }), []);
  });

  rule('creates the application and the instance of a report', async (metrics) => {
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

  rule('updates only the last-seen time of a known application with a report', async (metrics) => {
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

  rule('never sets the last-seen time back for a late report', async (metrics) => {
    await metrics.record([report({ at: NOW })]);
    await metrics.record([report({ at: NOW - MINUTE, stop: NOW - MINUTE })]);
    assert.equal((await metrics.application('shop'))?.seenAt, NOW);
  });

  rule('lists the applications seen at or after a time, by name', async (metrics) => {
    await metrics.register(registration({ application: 'shop', at: NOW }));
    await metrics.record([report({ application: 'billing', at: NOW + 1 })]);
    await metrics.register(registration({ application: 'search', at: NOW - 1 }));
    const seen = await metrics.applications({ seenSince: NOW });
    assertSame(
      seen.map(({ name }) => name),
      ['billing', 'shop'],
    );
  });

  rule('separates the details of applications', async (metrics) => {
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

  rule('leaves absent members empty', async (metrics) => {
    await metrics.register(registration({ strategies: [] }));
    assertSame(await metrics.applications({ seenSince: 0 }), [
      { name: 'shop', strategies: [], description: '', url: '', color: null, icon: '', createdAt: NOW, seenAt: NOW },
    ]);
  });

  rule('replaces the strategies of an earlier registration', async (metrics) => {
    await metrics.register(registration({ strategies: ['default', 'userWithId'] }));
    await metrics.register(registration({ strategies: ['flexibleRollout'] }));
    assertSame((await metrics.application('shop'))?.strategies, ['flexibleRollout']);
  });

  rule('replaces the members that it has', async (metrics) => {
    await metrics.register(registration(DESCRIBED));
    await metrics.register(registration({ description: 'Till', url: '', color: null, icon: 'till' }));
    const { description, url, color, icon } = { ...(await metrics.application('shop')) };
    assertSame({ description, url, color, icon }, { description: 'Till', url: '', color: null, icon: 'till' });
  });

  rule('keeps the stored values of absent members', async (metrics) => {
    await metrics.register(registration(DESCRIBED));
    await metrics.register(registration());
    const { description, url, color, icon } = { ...(await metrics.application('shop')) };
    assertSame({ description, url, color, icon }, DESCRIBED);
  });

  rule('keeps the creation time and updates the last-seen time', async (metrics) => {
    await metrics.register(registration({ at: NOW }));
    await metrics.register(registration({ at: NOW + MINUTE }));
    const application = await metrics.application('shop');
    assertSame([application?.createdAt, application?.seenAt], [NOW, NOW + MINUTE]);
  });

  rule('never sets the last-seen time back for a late registration', async (metrics) => {
    await metrics.register(registration({ at: NOW }));
    await metrics.register(registration({ at: NOW - MINUTE }));
    const application = await metrics.application('shop');
    assertSame([application?.seenAt, application?.instances[0]?.seenAt], [NOW, NOW]);
  });

  rule('completes an application that is known from reports', async (metrics) => {
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
  rule('stores the address and SDK version of a report', async (metrics) => {
    await metrics.record([report({ instance: TOLD })]);
    assertSame(await instancesOf(metrics, 'shop'), [{ ...TOLD, createdAt: NOW, seenAt: NOW }]);
  });

  rule('keeps address and SDK version if a report has none', async (metrics) => {
    await metrics.register(registration({ instance: TOLD }));
    await metrics.record([report({ instance: { id: TOLD.id } })]);
    assertSame(await instancesOf(metrics, 'shop'), [{ ...TOLD, createdAt: NOW, seenAt: NOW }]);
  });

  rule('keeps address and SDK version if a registration has none', async (metrics) => {
    await metrics.record([report({ instance: TOLD })]);
    await metrics.register(registration({ instance: { id: TOLD.id } }));
    assertSame(await instancesOf(metrics, 'shop'), [{ ...TOLD, createdAt: NOW, seenAt: NOW }]);
  });

  rule('replaces address and SDK version by newer ones', async (metrics) => {
    await metrics.record([report({ instance: TOLD })]);
    await metrics.record([report({ instance: { id: TOLD.id, clientIp: '2001:db8::1' } })]);
    await metrics.register(registration({ instance: { id: TOLD.id, sdkVersion: 'node:6.2.0' } }));
    const [instance] = await instancesOf(metrics, 'shop');
    assertSame([instance?.clientIp, instance?.sdkVersion], ['2001:db8::1', 'node:6.2.0']);
  });

  rule('stores the times of each instance, and never sets its last-seen time back', async (metrics) => {
    await metrics.register(registration({ instance: { id: 'shop-1' }, at: NOW }));
    await metrics.record([report({ instance: { id: 'shop-2' }, at: NOW + 2 * MINUTE })]);
    await metrics.record([report({ instance: { id: 'shop-2' }, at: NOW + MINUTE })]);
    const times = (await instancesOf(metrics, 'shop')).map(({ createdAt, seenAt }) => [createdAt, seenAt]);
    assertSame(times, [
      [NOW, NOW],
      [NOW + 2 * MINUTE, NOW + 2 * MINUTE],
    ]);
  });

  rule('lists instances by id', async (metrics) => {
    for (const id of ['shop-3', 'shop-1', 'shop-2']) await metrics.record([report({ instance: { id } })]);
    const ids = (await instancesOf(metrics, 'shop')).map(({ id }) => id);
    assertSame(ids, ['shop-1', 'shop-2', 'shop-3']);
  });

  rule('separates instances of two applications with the same id', async (metrics) => {
    await metrics.record([report({ application: 'shop', instance: { id: 'host-1', clientIp: '192.0.2.1' } })]);
    await metrics.record([report({ application: 'billing', instance: { id: 'host-1', clientIp: '192.0.2.2' } })]);
    assert.equal((await instancesOf(metrics, 'shop'))[0]?.clientIp, '192.0.2.1');
    assert.equal((await instancesOf(metrics, 'billing'))[0]?.clientIp, '192.0.2.2');
  });
}
