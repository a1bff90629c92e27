import { type Flags, openFlags } from '@flags/core';
import { until } from '../../../../test/until.js';
import { postgresStorage } from '../../src/index.js';
import { throttle } from '../../src/notifications.js';
import { ownDatabase } from '../own-database.js';
import { recordedPool } from '../recorded-pool.js';

describe('a flag in the memory of a listening node', () => {
  const database = ownDatabase();
  const FLAG = { project: 'default', flag: 'checkout' };
  const PRODUCTION = { ...FLAG, environment: 'production' };

  const asked: string[] = [];
  let flags: Flags;
  let other: Flags;

  beforeAll(async () => {
    const pool = recordedPool(database.pool(), ({ text }) => void asked.push(text.trim()));
    const options = { usage: { interval: 0 }, pollInterval: 0 } as const;
    flags = await openFlags({ storage: postgresStorage({ pool, listen: database.url() }), ...options });
    other = await openFlags({ storage: postgresStorage(database.url()), ...options });
    await flags.createFlag(FLAG, { name: 'checkout' });
    await flags.addStrategy(PRODUCTION, { name: 'default' });
  });
  afterAll(() => Promise.all([flags.close(), other.close()]));

  const statements = () => asked.filter((text) => !text.includes('pg_notify')).map((text) => text.split(/\s/)[0]);

  it('is changed in two round trips', async () => {
    asked.length = 0;
    await flags.enable(PRODUCTION);
    expect(statements()).toEqual(['BEGIN', 'COMMIT']);
  });

  it('is changed on its stored state after another node has changed it', async () => {
    await until(() => other.isEnabled('checkout'));
    for (let round = 0; round < 20; round++) {
      // The other node may or may not have been notified.
      await flags.disable(PRODUCTION);
      await other.disable(PRODUCTION);
      await other.enable(PRODUCTION);
      await flags.enable(PRODUCTION);
    }
    const { items: events } = await flags.events.list({ flag: 'checkout', limit: 100 });
    const switches = events.map(({ type }) => type).filter((type) => type.startsWith('environment-'));
    const pairs = Array.from({ length: 20 }, () => ['environment-enabled', 'environment-disabled']);
    expect(switches).toEqual([...pairs.flat(), 'environment-enabled']);
  });
});

describe('a throttle', () => {
  const HOUR = 3_600_000;

  it('runs at once on request, and again only after the pause', async () => {
    let times = 0;
    const { request, finish } = throttle(HOUR, () => {
      times += 1;
    });
    for (let count = 0; count < 3; count++) request();
    await Promise.resolve();
    expect(times).toBe(1);
    await finish();
    expect(times).toBe(2);
  });

  it('runs again after the pause', async () => {
    let times = 0;
    const { request, finish } = throttle(1, () => {
      times += 1;
    });
    request();
    request();
    await until(() => times === 2);
    await finish();
    expect(times).toBe(2);
  });
});
