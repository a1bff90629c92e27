import assert from 'node:assert/strict';
import type { InstanceSighting, StoredInstance, UsageStorage } from '../../storage/usage-port.js';
import { MINUTE } from '../../storage/usage-rules.js';
import { assertSame, type UsageRule } from '../test-runner.js';
import { applicationOf, flagsOf, NOW, once, record, register, registration, report } from './samples.js';

export function applicationRules(rule: UsageRule): void {
  rule('returns undefined for an unknown application', async (usage) => {
    await record(usage, report());
    assert.equal(await applicationOf(usage, 'billing'), undefined);
  });

  rule('returns no applications before the first report or registration', async (usage) => {
    assertSame(await usage.applications({}), []);
  });

  rule('creates the application and the instance of a report', async (usage) => {
    await record(usage, report({ stop: NOW - MINUTE }), { at: NOW });
    assertSame(await applicationOf(usage, 'shop'), {
      name: 'shop',
      strategies: [],
      description: '',
      url: '',
      color: null,
      icon: '',
      createdAt: NOW,
      seenAt: NOW,
      droppedNames: 0,
      instances: [{ id: 'shop-1', clientIp: '', sdkVersion: '', createdAt: NOW, seenAt: NOW }],
    });
    assertSame(await flagsOf(usage, 'shop'), ['checkout']);
  });

  rule('updates only the last-seen time of a known application with a report', async (usage) => {
    await register(usage, registration({ description: 'The web shop', strategies: ['userWithId'] }));
    await record(usage, report(), { at: NOW + MINUTE });
    const [application] = await usage.applications({});
    assertSame(application, {
      name: 'shop',
      strategies: ['userWithId'],
      description: 'The web shop',
      url: '',
      color: null,
      icon: '',
      createdAt: NOW,
      seenAt: NOW + MINUTE,
      droppedNames: 0,
    });
  });

  rule('never sets the last-seen time back for a late report', async (usage) => {
    await record(usage, report(), { at: NOW });
    await record(usage, report({ stop: NOW - MINUTE }), { at: NOW - MINUTE });
    assert.equal((await applicationOf(usage, 'shop'))?.seenAt, NOW);
  });

  rule('lists the applications seen at or after a time, by name', async (usage) => {
    await register(usage, registration({ application: 'shop' }), { at: NOW });
    await record(usage, report({ application: 'billing' }), { at: NOW + 1 });
    await register(usage, registration({ application: 'search' }), { at: NOW - 1 });
    const seen = await usage.applications({ seenSince: NOW });
    assertSame(
      seen.map(({ name }) => name),
      ['billing', 'shop'],
    );
  });

  rule('separates the details of applications', async (usage) => {
    await record(usage, report({ application: 'billing', instance: { id: 'b' }, counts: once('invoice') }));
    await record(usage, report({ application: 'shop', instance: { id: 's' }, counts: once('checkout') }));
    const detail = await applicationOf(usage, 'billing');
    assertSame(await flagsOf(usage, 'billing'), ['invoice']);
    assertSame(
      detail?.instances?.map(({ id }) => id),
      ['b'],
    );
  });
}

const EMPTY = { description: '', url: '', color: null, icon: '' };
const DESCRIBED = { description: 'The web shop', url: 'https://shop.example', color: '#ff0000', icon: 'shopping_cart' };

export function registrationRules(rule: UsageRule): void {
  rule('creates the application and its instance', async (usage) => {
    const instance = { id: 'shop-1', clientIp: '192.0.2.7', sdkVersion: 'node:6.1.0' };
    await register(usage, registration({ ...DESCRIBED, instance, strategies: ['userWithId', 'default'] }));
    assertSame(await applicationOf(usage, 'shop'), {
      name: 'shop',
      strategies: ['userWithId', 'default'],
      ...DESCRIBED,
      createdAt: NOW,
      seenAt: NOW,
      droppedNames: 0,
      instances: [{ ...instance, createdAt: NOW, seenAt: NOW }],
    });
  });

  rule('leaves absent members empty', async (usage) => {
    await register(usage, registration({ strategies: [] }));
    assertSame(await usage.applications({}), [
      { name: 'shop', strategies: [], ...EMPTY, createdAt: NOW, seenAt: NOW, droppedNames: 0 },
    ]);
  });

  rule('replaces the strategies of an earlier registration', async (usage) => {
    await register(usage, registration({ strategies: ['default', 'userWithId'] }));
    await register(usage, registration({ strategies: ['flexibleRollout'] }));
    assertSame((await applicationOf(usage, 'shop'))?.strategies, ['flexibleRollout']);
  });

  rule('replaces the members that it has', async (usage) => {
    await register(usage, registration(DESCRIBED));
    await register(usage, registration({ description: 'Till', url: '', color: null, icon: 'till' }));
    const { description, url, color, icon } = { ...(await applicationOf(usage, 'shop')) };
    assertSame({ description, url, color, icon }, { description: 'Till', url: '', color: null, icon: 'till' });
  });

  rule('keeps the stored values of absent members', async (usage) => {
    await register(usage, registration(DESCRIBED));
    await register(usage, registration());
    const { description, url, color, icon } = { ...(await applicationOf(usage, 'shop')) };
    assertSame({ description, url, color, icon }, DESCRIBED);
  });

  rule('keeps the creation time and updates the last-seen time', async (usage) => {
    await register(usage, registration(), { at: NOW });
    await register(usage, registration(), { at: NOW + MINUTE });
    const application = await applicationOf(usage, 'shop');
    assertSame([application?.createdAt, application?.seenAt], [NOW, NOW + MINUTE]);
  });

  rule('never sets the last-seen time back for a late registration', async (usage) => {
    await register(usage, registration(), { at: NOW });
    await register(usage, registration(), { at: NOW - MINUTE });
    const application = await applicationOf(usage, 'shop');
    assertSame([application?.seenAt, application?.instances?.[0]?.seenAt], [NOW, NOW]);
  });

  rule('completes an application that is known from reports', async (usage) => {
    await record(usage, report({ stop: NOW - MINUTE }), { at: NOW - MINUTE });
    await register(usage, registration(DESCRIBED));
    const application = await applicationOf(usage, 'shop');
    assert.equal(application?.description, DESCRIBED.description);
    assertSame([application?.createdAt, application?.seenAt], [NOW - MINUTE, NOW]);
    assertSame(await flagsOf(usage, 'shop'), ['checkout']);
  });
}

const TOLD: InstanceSighting = { id: 'shop-1', clientIp: '192.0.2.7', sdkVersion: 'node:6.1.0' };

async function instancesOf(usage: UsageStorage, application: string): Promise<readonly StoredInstance[]> {
  return (await applicationOf(usage, application))?.instances ?? [];
}

export function instanceRules(rule: UsageRule): void {
  rule('stores the address and SDK version of a report', async (usage) => {
    await record(usage, report({ instance: TOLD }));
    assertSame(await instancesOf(usage, 'shop'), [{ ...TOLD, createdAt: NOW, seenAt: NOW }]);
  });

  rule('keeps address and SDK version if a report has none', async (usage) => {
    await register(usage, registration({ instance: TOLD }));
    await record(usage, report({ instance: { id: TOLD.id } }));
    assertSame(await instancesOf(usage, 'shop'), [{ ...TOLD, createdAt: NOW, seenAt: NOW }]);
  });

  rule('keeps address and SDK version if a registration has none', async (usage) => {
    await record(usage, report({ instance: TOLD }));
    await register(usage, registration({ instance: { id: TOLD.id } }));
    assertSame(await instancesOf(usage, 'shop'), [{ ...TOLD, createdAt: NOW, seenAt: NOW }]);
  });

  rule('replaces address and SDK version by newer ones', async (usage) => {
    await record(usage, report({ instance: TOLD }));
    await record(usage, report({ instance: { id: TOLD.id, clientIp: '2001:db8::1' } }));
    await register(usage, registration({ instance: { id: TOLD.id, sdkVersion: 'node:6.2.0' } }));
    const [instance] = await instancesOf(usage, 'shop');
    assertSame([instance?.clientIp, instance?.sdkVersion], ['2001:db8::1', 'node:6.2.0']);
  });

  rule('stores the times of each instance, and never sets its last-seen time back', async (usage) => {
    await register(usage, registration({ instance: { id: 'shop-1' } }), { at: NOW });
    await record(usage, report({ instance: { id: 'shop-2' } }), { at: NOW + 2 * MINUTE });
    await record(usage, report({ instance: { id: 'shop-2' } }), { at: NOW + MINUTE });
    const times = (await instancesOf(usage, 'shop')).map(({ createdAt, seenAt }) => [createdAt, seenAt]);
    assertSame(times, [
      [NOW, NOW],
      [NOW + 2 * MINUTE, NOW + 2 * MINUTE],
    ]);
  });

  rule('lists instances by id', async (usage) => {
    for (const id of ['shop-3', 'shop-1', 'shop-2']) await record(usage, report({ instance: { id } }));
    const ids = (await instancesOf(usage, 'shop')).map(({ id }) => id);
    assertSame(ids, ['shop-1', 'shop-2', 'shop-3']);
  });

  rule('separates instances of two applications with the same id', async (usage) => {
    await record(usage, report({ application: 'shop', instance: { id: 'host-1', clientIp: '192.0.2.1' } }));
    await record(usage, report({ application: 'billing', instance: { id: 'host-1', clientIp: '192.0.2.2' } }));
    assert.equal((await instancesOf(usage, 'shop'))[0]?.clientIp, '192.0.2.1');
    assert.equal((await instancesOf(usage, 'billing'))[0]?.clientIp, '192.0.2.2');
  });
}
