import type { Storage } from '@flags/core';
import { postgresStorage } from '../../src/index.js';
import { endTransaction, openTransaction } from '../open-transaction.js';
import { ownServer } from '../own-database.js';
import { change, flag } from '../samples.js';

// A separate server, because any writing transaction of a server affects its snapshots.
const database = ownServer();

describe('the data version', () => {
  let storage: Storage & { readonly dataVersion: () => Promise<string> };

  beforeAll(async () => {
    const opened = await postgresStorage({ pool: database.pool(), schema: 'versions', listen: false });
    storage = opened as typeof storage;
    await storage.commit(change('first'));
  });
  afterAll(() => storage.close());

  it('stays the same while foreign transactions start and end', async () => {
    const version = await storage.dataVersion();
    const [one, other] = [await openTransaction(database.pool()), await openTransaction(database.pool())];
    expect(await storage.dataVersion()).toBe(version);
    await endTransaction(other);
    expect(await storage.dataVersion()).toBe(version);
    await endTransaction(one);
    expect(await storage.dataVersion()).toBe(version);
  });

  it('does not grow with commits while a foreign transaction stays open', async () => {
    const foreign = await openTransaction(database.pool());
    const before = await storage.dataVersion();
    for (let number = 0; number < 50; number++) await storage.commit(change(`during-${number}`));
    const version = await storage.dataVersion();
    expect(version).not.toBe(before);
    expect(version.length).toBeLessThan(before.length + 30);
    expect(await storage.dataVersion()).toBe(version);
    await endTransaction(foreign);
    const ended = await storage.dataVersion();
    expect(await storage.dataVersion()).toBe(ended);
  });

  it('changes after a commit without events', async () => {
    const version = await storage.dataVersion();
    const { writes } = change('first', 1);
    expect((await storage.commit({ writes, events: [] })).ok).toBe(true);
    expect(await storage.dataVersion()).not.toBe(version);
  });

  it('changes once for every commit without events, however many wait for the same version shard', async () => {
    const shards = async () => {
      const [sum] = await database.ask("SELECT sum(value) FROM versions.flags_meta WHERE name LIKE 'mark%'");
      return Number(sum?.sum);
    };
    const before = await shards();
    const commits = Array.from({ length: 200 }, (_, number) => {
      const { writes } = change(`eventless-${number}`);
      return storage.commit({ writes, events: [] });
    });
    expect((await Promise.all(commits)).every(({ ok }) => ok)).toBe(true);
    expect(await shards()).toBe(before + commits.length);
  });

  it('is read once for concurrent calls, and refused when the storage is closed', async () => {
    const [one, other] = await Promise.all([storage.dataVersion(), storage.dataVersion()]);
    expect(one).toBe(other);
    const closed = await postgresStorage({ pool: database.pool(), schema: 'versions', listen: false });
    await closed.close();
    await expect(closed.dataVersion?.()).rejects.toMatchObject({ code: 'closed' });
  });

  it('changes when the table of events has been replaced by one with the same positions', async () => {
    const version = await storage.dataVersion();
    await database.ask(`
      CREATE TEMP TABLE kept AS SELECT * FROM versions.flags_events;
      TRUNCATE versions.flags_events;
      INSERT INTO versions.flags_events SELECT * FROM kept;
      DROP TABLE kept`);
    expect(await storage.dataVersion()).not.toBe(version);
    expect((await storage.commit(change('after'))).ok).toBe(true);
    expect(await storage.get(flag('after'))).toBeDefined();
  });

  it('changes after a node that was opened has moved the offset of the feed', async () => {
    await database.ask('UPDATE versions.flags_events SET commit_order = commit_order + 1000000000000');
    const version = await storage.dataVersion();
    await (await postgresStorage({ pool: database.pool(), schema: 'versions', listen: false })).close();
    expect(await storage.dataVersion()).not.toBe(version);
  });

  it('changes after the server was restarted', async () => {
    const version = await storage.dataVersion();
    await database.server().stop('fast');
    await database.server().start();
    expect(await storage.dataVersion()).not.toBe(version);
  });
});
