import assert from 'node:assert/strict';
import { assertSame } from './assert-same.js';
import type { MetricsRule } from './rule.js';
import { MINUTE, NOW, registration, report } from './samples.js';

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
