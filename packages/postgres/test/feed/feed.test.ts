import type { FlagsStorage } from '@flags/core';
import type { PoolClient } from 'pg';
import { until } from '../../../../test/until.js';
import { expectWholeSets } from '../../../core/test/replica/whole-sets.js';
import { markOf, toPosition } from '../../src/feed/position.js';
import { type PgQuery, type PostgresStorageOptions, postgresStorage } from '../../src/index.js';
import { lockKey } from '../../src/tables.js';
import { endTransaction, openTransaction } from '../open-transaction.js';
import { ownDatabase, ownServer } from '../own-database.js';
import { recordedPool } from '../recorded-pool.js';
import { change, flag, subjectsAfter } from '../samples.js';

describe('long transactions', () => {
  // A separate server, because any writing transaction of a server holds events back.
  const database = ownServer();
  const place = (schema: string) => ({ schema, tablePrefix: 'flags_' });

  async function newest(storage: FlagsStorage): Promise<string[]> {
    const { events } = await storage.events({ order: 'newest-first', limit: 100 });
    return events.map(({ subject }) => subject.id);
  }

  describe('the feed', () => {
    let storage: FlagsStorage;

    beforeAll(async () => {
      storage = await postgresStorage({ pool: database.pool(), ...place('foreign'), listen: false });
    });
    afterAll(() => storage.close());

    it('sends commits although a foreign transaction stays open, and sends them once', async () => {
      const foreign = await openTransaction(database.pool());
      await storage.commit(change('during'));
      expect(await subjectsAfter(storage)).toEqual(['during']);
      const [event] = (await storage.events({ order: 'newest-first', settled: true, limit: 1 })).events;
      await storage.commit(change('later'));
      expect(await subjectsAfter(storage, event?.position)).toEqual(['later']);
      await endTransaction(foreign);
      await storage.commit(change('after'));
      expect(await subjectsAfter(storage, event?.position)).toEqual(['later', 'after']);
    });
  });

  describe('the feed beside commits of other nodes', () => {
    const { table, lock } = { table: '"flags_events"', lock: lockKey('commit', place('commits')) };
    let storage: FlagsStorage;

    beforeAll(async () => {
      storage = await postgresStorage({ pool: database.pool(), ...place('commits'), listen: false });
    });
    afterAll(() => storage.close());

    /** A commit by hand, as another node makes it, stopped before its end. */
    async function stoppedCommit(id: string): Promise<PoolClient> {
      const client = await database.pool().connect();
      await client.query(`BEGIN; SELECT pg_advisory_xact_lock_shared(${lock}); SET search_path TO commits`);
      await client.query(
        `INSERT INTO ${table} (commit_order, type, at, actor, subject_kind, subject_id, revision, data, before, change_id)
      VALUES (pg_current_xact_id()::text::bigint, 'changed', '2026-01-01T00:00:00.000Z', 'ada', 'flag', $1, 1, 'null', 'null', $1)`,
        [id],
      );
      return client;
    }

    it('holds events back until earlier running commits end, and then sends both in order', async () => {
      await storage.commit(change('first'));
      const slow = await stoppedCommit('slow');
      await storage.commit(change('quick'));
      expect(await newest(storage)).toEqual(['quick', 'first']);
      expect(await subjectsAfter(storage)).toEqual(['first']);
      const [settled] = (await storage.events({ order: 'newest-first', settled: true, limit: 1 })).events;
      expect(settled?.subject.id).toBe('first');
      await slow.query('COMMIT');
      slow.release();
      expect(await subjectsAfter(storage, settled?.position)).toEqual(['slow', 'quick']);
    });

    it('is complete once all commits have ended that were running when it was read, whatever has started since', async () => {
      const earlier = await stoppedCommit('earlier');
      await storage.commit(change('asked for'));
      const position = (await storage.events({ order: 'newest-first', settled: true, limit: 1 })).events[0]?.position;
      const looks = { count: Number.NaN };
      let later: PoolClient | undefined;
      const pool = recordedPool(database.pool(), async () => {
        looks.count += 1;
        if (looks.count !== 2) return;
        later = await stoppedCommit('later');
        await storage.commit(change('not asked for'));
        await earlier.query('COMMIT');
        earlier.release();
      });
      const reader = await postgresStorage({ pool, ...place('commits'), listen: false });
      looks.count = 0;
      expect(await subjectsAfter(reader, position)).toEqual(['earlier', 'asked for']);
      expect(looks.count).toBe(2);
      await later?.query('ROLLBACK');
      later?.release();
      expect(await subjectsAfter(reader, position)).toEqual(['earlier', 'asked for', 'not asked for']);
      await reader.close();
    });

    it('does not block commits while one of them keeps the feed incomplete', async () => {
      const slow = await stoppedCommit('stuck');
      await storage.commit(change('one'));
      const feeds = [1, 2, 3].map(() => subjectsAfter(storage));
      expect((await storage.commit(change('two'))).ok).toBe(true);
      await Promise.all(feeds);
      await slow.query('ROLLBACK');
      slow.release();
      await until(async () => (await subjectsAfter(storage)).includes('two'));
      expect(await subjectsAfter(storage)).not.toContain('stuck');
    });
  });

  describe('a feed that cannot get the lock of all commits', () => {
    it('does not request it with every read: commits would wait behind each request', async () => {
      let locks = 0;
      const pool = recordedPool(database.pool(), ({ text }) => {
        if (text.includes('lock_timeout')) locks += 1;
      });
      const storage = await postgresStorage({ pool, ...place('hung'), listen: false });
      await storage.commit(change('before'));
      const hung = await database.pool().connect();
      const lock = lockKey('commit', place('hung'));
      await hung.query(`BEGIN; SELECT pg_advisory_xact_lock_shared(${lock}), pg_current_xact_id()`);
      await storage.commit(change('held back'));
      for (let look = 0; look < 5; look++) expect(await subjectsAfter(storage)).toEqual(['before']);
      expect(locks).toBe(1);
      await hung.query('ROLLBACK');
      hung.release();
      expect(await subjectsAfter(storage)).toEqual(['before', 'held back']);
      await storage.close();
    });
  });

  describe('tables from another server, where transaction ids were higher', () => {
    it('continue their feed when nodes are opened, also several at once', async () => {
      const options = { pool: database.pool(), ...place('restored'), listen: false };
      const before = await postgresStorage(options);
      await before.commit(change('before'));
      await before.close();
      await database.ask('UPDATE restored.flags_events SET commit_order = commit_order + 1000000000000');
      const nodes = await Promise.all(['one', 'two', 'three'].map((id) => openAndCommit(options, id)));
      const [storage] = nodes as [FlagsStorage];
      const log = await newest(storage);
      const position = (await storage.events({ order: 'newest-first', limit: 4 })).events.at(-1)?.position;
      expect(log.at(-1)).toBe('before');
      expect((await subjectsAfter(storage, position)).toSorted()).toEqual(['one', 'three', 'two']);
      await Promise.all(nodes.map((node) => node.close()));
    });

    it('keep their offset when they are opened again', async () => {
      const options = { pool: database.pool(), ...place('restored'), listen: false };
      const offset = () => database.ask("SELECT value FROM restored.flags_meta WHERE name = 'feed_offset'");
      const before = await offset();
      await (await openAndCommit(options, 'later')).close();
      expect(await offset()).toEqual(before);
    });

    async function openAndCommit(options: PostgresStorageOptions, id: string): Promise<FlagsStorage> {
      const storage = await postgresStorage(options);
      await storage.commit(change(id));
      return storage;
    }
  });
});

describe('a storage with twenty thousand flags and events', () => {
  const positionOf = (event: number) =>
    toPosition({ commitOrder: `${event}`, id: `${event}`, mark: markOf(`c${event}`) });
  const database = ownDatabase();

  const asked: PgQuery[] = [];
  let storage: FlagsStorage;

  beforeAll(async () => {
    storage = await postgresStorage({
      pool: recordedPool(database.pool(), (query) => void asked.push(query)),
      listen: false,
    });
    await database.ask(`
      INSERT INTO flags_events
        (commit_order, type, at, actor, subject_kind, subject_id, revision, project, data, before, change_id)
      SELECT number, 'type-' || number % 500, '2026-01-01T00:00:00.' || lpad((number % 1000)::text, 3, '0') || 'Z', 'ada',
        'flag', 'f' || number % 5000, 1, 'p' || number % 500, 'null', 'null', 'c' || number
      FROM generate_series(1, 20000) AS number`);
    // Transaction ids begin below a thousand: the offset puts new events behind these.
    await database.ask('UPDATE flags_meta SET value = 1000000 WHERE name = $1', ['feed_offset']);
    await database.ask(`
      INSERT INTO flags_documents (kind, id, parent, revision, summary, body)
      SELECT 'flag', 'f' || number, 'p' || number % 500, 1, '{}', '{}' FROM generate_series(1, 20000) AS number`);
    await database.ask('ANALYZE flags_events');
    await database.ask('ANALYZE flags_documents');
  });
  afterAll(() => storage.close());

  /** The query plans of the statements of a call. */
  async function plansOf(call: () => Promise<unknown>): Promise<string> {
    asked.length = 0;
    await call();
    const plans = await Promise.all(
      asked.map(async ({ text, values }) =>
        (await database.ask(`EXPLAIN ${text}`, values)).map((row) => row['QUERY PLAN']),
      ),
    );
    return plans.flat().join('\n');
  }

  it.each([
    ['a feed', { order: 'oldest-first', after: positionOf(19000), limit: 500 }],
    ['the end of a feed', { order: 'oldest-first', after: positionOf(20000), limit: 500 }],
    ['a log', { order: 'newest-first', limit: 50 }],
    ['the log of a project', { order: 'newest-first', limit: 50, filter: { project: 'p7' } }],
    ['the log of a flag', { order: 'newest-first', limit: 50, filter: { subject: flag('f7') } }],
    ['the log up to a position', { order: 'newest-first', until: positionOf(19000), limit: 50 }],
    ['a change set', { order: 'oldest-first', limit: 50, filter: { changeSet: 'a' } }],
    ['the log of a type', { order: 'newest-first', limit: 50, filter: { type: 'type-7' } }],
  ] as const)('reads %s by an index', async (_name, query) => {
    const plans = await plansOf(async () => storage.events(query));
    expect(plans).toMatch(/Index/);
    expect(plans).not.toMatch(/Seq Scan on flags_events/);
  });

  it.each([
    ['a document', () => storage.get(flag('f7'))],
    ['a project’s list', () => storage.list({ kind: 'flag', parent: 'p7', part: 'summary' })],
    ['a page', () => storage.list({ kind: 'flag', part: 'summary', after: 'f7', limit: 50 })],
  ])('reads %s in one statement, by an index', async (_name, call) => {
    const plans = await plansOf(async () => call());
    expect(asked).toHaveLength(1);
    expect(plans).toMatch(/Index/);
    expect(plans).not.toMatch(/Seq Scan on flags_documents/);
  });

  it('reads the data version in one statement, by an index', async () => {
    const plans = await plansOf(async () => storage.dataVersion?.());
    expect(asked).toHaveLength(1);
    expect(plans).toMatch(/Index Only Scan Backward using flags_events_pkey/);
    expect(plans).not.toMatch(/Seq Scan on flags_events/);
  });

  it('reads documents of simultaneous calls in one statement, each unchanged', async () => {
    asked.length = 0;
    const keys = [flag('f7'), flag('f8'), { kind: 'project', id: 'f7' }, flag('f7'), flag('nobody’s')];
    const found = await Promise.all(keys.map((key) => storage.get(key)));
    expect(asked).toHaveLength(1);
    expect(found.map((document) => document?.key)).toEqual([flag('f7'), flag('f8'), undefined, flag('f7'), undefined]);
    expect(found[3]).toEqual(found[0]);
    expect(found[3]?.body).not.toBe(found[0]?.body);
  });

  it('commits in two round trips, vacancy and events included', async () => {
    asked.length = 0;
    const key = flag('f7');
    const commit = {
      writes: [{ key, expected: 1, parent: 'p7', body: {}, summary: {} }],
      checks: [{ key: flag('f8'), expected: 1 }],
      vacant: [{ kind: 'flag', parent: 'nobody' }],
      events: change('f7').events,
    };
    expect(await storage.commit(commit)).toEqual({ ok: true, revisions: [2] });
    await storage.close();
    const texts = asked.map(({ text }) => text.trim());
    // Notifications follow commits, one for several.
    const isMessage = (text: string) => text.includes('pg_notify');
    expect(texts.filter((text) => !isMessage(text)).map((text) => text.split(/\s/)[0])).toEqual(['BEGIN', 'COMMIT']);
    expect(texts.some(isMessage)).toBe(true);
  });
});

describe('another node on PostgreSQL', () => {
  const database = ownDatabase();

  it.each([
    ['polls', { listen: false, schema: 'polled' }],
    ['listens', { schema: 'listening' }],
  ])('never evaluates half a change set while it %s', async (_, options) => {
    await expectWholeSets(() => postgresStorage({ pool: database.pool(), ...options }));
  });
});
