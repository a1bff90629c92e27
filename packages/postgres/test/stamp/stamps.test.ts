import type { Storage } from '@flags/core';
import { postgresStorage } from '../../src/index.js';
import { endTransaction, openTransaction } from '../open-transaction.js';
import { ownServer } from '../own-database.js';
import { change, flag } from '../samples.js';

// Of its own: any writing transaction of the server is seen in its snapshots.
const database = ownServer();

describe.each(['snapshot', 'counter'] as const)('the stamp of a feed by %s', (feed) => {
  let storage: Storage & { readonly dataVersion: () => Promise<string> };

  beforeAll(async () => {
    const opened = await postgresStorage({ pool: database.pool(), schema: feed, feed, listen: false });
    storage = opened as typeof storage;
    await storage.commit(change('first'));
  });
  afterAll(() => storage.close());

  it('stays the same while transactions of strangers come and go', async () => {
    const stamp = await storage.dataVersion();
    const [one, other] = [await openTransaction(database.pool()), await openTransaction(database.pool())];
    expect(await storage.dataVersion()).toBe(stamp);
    await endTransaction(other);
    expect(await storage.dataVersion()).toBe(stamp);
    await endTransaction(one);
    expect(await storage.dataVersion()).toBe(stamp);
  });

  it('does not grow with what is committed while a transaction of a stranger stays open', async () => {
    const foreign = await openTransaction(database.pool());
    const before = await storage.dataVersion();
    for (let number = 0; number < 50; number++) await storage.commit(change(`during-${number}`));
    const stamp = await storage.dataVersion();
    expect(stamp).not.toBe(before);
    expect(stamp.length).toBeLessThan(before.length + 30);
    expect(await storage.dataVersion()).toBe(stamp);
    await endTransaction(foreign);
    const ended = await storage.dataVersion();
    expect(await storage.dataVersion()).toBe(ended);
  });

  it('is another one after a commit without events', async () => {
    const stamp = await storage.dataVersion();
    const { writes } = change('first', 1);
    expect((await storage.commit({ writes, events: [] })).ok).toBe(true);
    expect(await storage.dataVersion()).not.toBe(stamp);
  });

  it('has moved once for every change of metrics, however many wait for the same mark', async () => {
    const marks = async () => {
      const [sum] = await database.ask(`SELECT sum(value) FROM "${feed}".flags_meta WHERE name LIKE 'mark%'`);
      return Number(sum?.sum);
    };
    const before = await marks();
    const sighting = { instance: { id: 'one' }, at: 1000 };
    const changes = Array.from({ length: 200 }, (_, number) =>
      storage.metrics?.register({ application: `shop-${number}`, ...sighting, strategies: [] }),
    );
    await Promise.all(changes);
    expect(await marks()).toBe(before + changes.length);
  });

  it('is asked for together by those who ask at once, and is refused when the storage is closed', async () => {
    const [one, other] = await Promise.all([storage.dataVersion(), storage.dataVersion()]);
    expect(one).toBe(other);
    const closed = await postgresStorage({ pool: database.pool(), schema: feed, listen: false });
    await closed.close();
    await expect(closed.dataVersion?.()).rejects.toMatchObject({ code: 'closed' });
  });

  it('is another one when the table of events has been replaced by one with the same places', async () => {
    const stamp = await storage.dataVersion();
    await database.ask(`
      CREATE TEMP TABLE kept AS SELECT * FROM "${feed}".flags_events;
      TRUNCATE "${feed}".flags_events;
      INSERT INTO "${feed}".flags_events SELECT * FROM kept;
      DROP TABLE kept`);
    expect(await storage.dataVersion()).not.toBe(stamp);
    expect((await storage.commit(change('after'))).ok).toBe(true);
    expect(await storage.get(flag('after'))).toBeDefined();
  });

  it('is another one after a commit that finds places that are yet to come', async () => {
    await database.ask(`UPDATE "${feed}".flags_events SET commit_order = commit_order + 1000000000000`);
    const stamp = await storage.dataVersion();
    await storage.commit(change('placed'));
    expect(await storage.dataVersion()).not.toBe(stamp);
  });

  it('is another one after the server was started again', async () => {
    const stamp = await storage.dataVersion();
    await database.server().stop('fast');
    await database.server().start();
    expect(await storage.dataVersion()).not.toBe(stamp);
  });
});
