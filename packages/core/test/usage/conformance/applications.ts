import assert from 'node:assert/strict';
import type { InstanceSighting } from '../../../src/storage/usage/port.js';
import { MINUTE } from '../../../src/storage/usage/rules.js';
import { assertEqual } from '../../../src/testing/test-runner.js';
import {
  applicationOf,
  applicationsIn,
  flagsOf,
  instancesOf,
  NOW,
  once,
  record,
  register,
  registration,
  report,
  type UsageRule,
} from './samples.js';

const EMPTY = { strategies: [], description: '', url: '', color: null, icon: '' };
const DESCRIBED = { description: 'The web shop', url: 'https://shop.example', color: '#ff0000', icon: 'shopping_cart' };
const CREATED = { createdAt: NOW, seenAt: NOW };

export function applicationRules(rule: UsageRule): void {
  rule('returns nothing for an unknown application', async (usage) => {
    assertEqual(await usage.applications({}), []);
    await record(usage, report());
    assert.equal(await applicationOf(usage, 'billing'), undefined);
  });

  rule('creates the application and the instance of a report', async (usage) => {
    await record(usage, report({ stop: NOW - MINUTE }), { at: NOW });
    const instances = [{ id: 'shop-1', clientIp: '', sdkVersion: '', ...CREATED }];
    assertEqual(await applicationOf(usage, 'shop'), { name: 'shop', ...EMPTY, ...CREATED, droppedNames: 0, instances });
    assertEqual(await flagsOf(usage, 'shop'), ['checkout']);
  });

  rule('updates only the last-seen time of a known application with a report', async (usage) => {
    await register(usage, registration({ ...DESCRIBED, strategies: ['userWithId'] }));
    const [before] = await usage.applications({});
    await record(usage, report(), { at: NOW + MINUTE });
    assertEqual(await usage.applications({}), [{ ...before, seenAt: NOW + MINUTE }]);
  });

  rule('lists the applications seen at or after a time, by name', async (usage) => {
    await register(usage, registration({ application: 'shop' }), { at: NOW });
    await record(usage, report({ application: 'billing' }), { at: NOW + 1 });
    await register(usage, registration({ application: 'search' }), { at: NOW - 1 });
    assertEqual(await applicationsIn(usage, { seenSince: NOW }), ['billing', 'shop']);
  });
}

export function registrationRules(rule: UsageRule): void {
  rule('creates the application and its instance', async (usage) => {
    const instance = { id: 'shop-1', clientIp: '192.0.2.7', sdkVersion: 'node:6.1.0' };
    const strategies = ['userWithId', 'default'];
    await register(usage, registration({ ...DESCRIBED, instance, strategies }));
    const about = { name: 'shop', strategies, ...DESCRIBED, ...CREATED, droppedNames: 0 };
    assertEqual(await applicationOf(usage, 'shop'), { ...about, instances: [{ ...instance, ...CREATED }] });
  });

  rule('leaves absent members empty', async (usage) => {
    await register(usage, registration({ strategies: [] }));
    assertEqual(await usage.applications({}), [{ name: 'shop', ...EMPTY, ...CREATED, droppedNames: 0 }]);
  });

  rule('replaces the strategies and the members that it has, and keeps the stored values of others', async (usage) => {
    const about = async () => {
      const { strategies, description, url, color, icon } = { ...(await applicationOf(usage, 'shop')) };
      return { strategies, description, url, color, icon };
    };
    await register(usage, registration({ ...DESCRIBED, strategies: ['default', 'userWithId'] }));
    await register(usage, registration({ strategies: ['flexibleRollout'] }));
    assertEqual(await about(), { ...DESCRIBED, strategies: ['flexibleRollout'] });
    const changed = { strategies: ['default'], description: 'Till', url: '', color: null, icon: 'till' };
    await register(usage, registration(changed));
    assertEqual(await about(), changed);
  });

  rule('keeps the creation time and updates the last-seen times, but never sets them back', async (usage) => {
    for (const application of ['registered', 'reported']) {
      for (const [at, latest] of [
        [NOW, NOW],
        [NOW + MINUTE, NOW + MINUTE],
        [NOW - MINUTE, NOW + MINUTE],
      ] as const) {
        if (application === 'registered') await register(usage, registration({ application }), { at });
        else await record(usage, report({ application, stop: at }), { at });
        const { createdAt, seenAt, instances } = { ...(await applicationOf(usage, application)) };
        const [instance] = instances ?? [];
        assertEqual([createdAt, seenAt, instance?.createdAt, instance?.seenAt], [NOW, latest, NOW, latest]);
      }
    }
  });

  rule('completes an application that is known from reports', async (usage) => {
    await record(usage, report({ stop: NOW - MINUTE }), { at: NOW - MINUTE });
    await register(usage, registration(DESCRIBED));
    const { description, createdAt, seenAt } = { ...(await applicationOf(usage, 'shop')) };
    assertEqual([description, createdAt, seenAt], [DESCRIBED.description, NOW - MINUTE, NOW]);
    assertEqual(await flagsOf(usage, 'shop'), ['checkout']);
  });
}

const TOLD: InstanceSighting = { id: 'shop-1', clientIp: '192.0.2.7', sdkVersion: 'node:6.1.0' };

export function instanceRules(rule: UsageRule): void {
  rule('stores address and SDK version, and keeps them if a report or registration has none', async (usage) => {
    await record(usage, report({ instance: TOLD }));
    await register(usage, registration({ instance: { id: TOLD.id } }));
    await register(usage, registration({ application: 'other', instance: TOLD }));
    await record(usage, report({ application: 'other', instance: { id: TOLD.id } }));
    for (const application of ['shop', 'other'])
      assertEqual(await instancesOf(usage, application), [{ ...TOLD, ...CREATED }]);
  });

  rule('replaces address and SDK version by newer ones', async (usage) => {
    await record(usage, report({ instance: TOLD }));
    await record(usage, report({ instance: { id: TOLD.id, clientIp: '2001:db8::1' } }));
    await register(usage, registration({ instance: { id: TOLD.id, sdkVersion: 'node:6.2.0' } }));
    const [instance] = await instancesOf(usage, 'shop');
    assertEqual([instance?.clientIp, instance?.sdkVersion], ['2001:db8::1', 'node:6.2.0']);
  });

  rule('stores the times of each instance, and lists instances by id', async (usage) => {
    await record(usage, report({ instance: { id: 'shop-3' } }), { at: NOW + MINUTE });
    for (const id of ['shop-1', 'shop-2']) await register(usage, registration({ instance: { id } }));
    assertEqual(
      (await instancesOf(usage, 'shop')).map(({ id, seenAt }) => [id, seenAt]),
      [
        ['shop-1', NOW],
        ['shop-2', NOW],
        ['shop-3', NOW + MINUTE],
      ],
    );
  });

  rule('separates instances and flags of two applications, also with the same id', async (usage) => {
    for (const [application, clientIp] of [
      ['shop', '192.0.2.1'],
      ['billing', '192.0.2.2'],
    ] as const) {
      await record(usage, report({ application, instance: { id: 'host-1', clientIp }, counts: once(application) }));
      assertEqual(
        (await instancesOf(usage, application)).map((one) => one.clientIp),
        [clientIp],
      );
    }
    assertEqual([await flagsOf(usage, 'shop'), await flagsOf(usage, 'billing')], [['shop'], ['billing']]);
  });
}
