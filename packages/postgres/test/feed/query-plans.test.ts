import type { Storage } from '@flags/core';
import { type PgQuery, postgresStorage } from '../../src/index.js';
import { ownDatabase } from '../own-database.js';
import { recordedPool } from '../recorded-pool.js';
import { change, flag } from '../samples.js';

const database = ownDatabase();

describe('among twenty thousand flags and events', () => {
  const asked: PgQuery[] = [];
  let storage: Storage;

  beforeAll(async () => {
    storage = await postgresStorage({
      pool: recordedPool(database.pool(), (query) => void asked.push(query)),
      listen: false,
    });
    await database.ask(`
      INSERT INTO flags_events
        (release, commit_order, type, at, actor, subject_kind, subject_id, revision, project, data, before)
      SELECT 2, number, 'type-' || number % 500, '2026-01-01T00:00:00.' || lpad((number % 1000)::text, 3, '0') || 'Z', 'ada',
        'flag', 'f' || number % 5000, 1, 'p' || number % 500, 'null', 'null'
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
    ['a feed', { order: 'oldest-first', after: '19000-19000', limit: 500 }],
    ['the end of a feed', { order: 'oldest-first', after: '20000-20000', limit: 500 }],
    ['a log', { order: 'newest-first', limit: 50 }],
    ['the log of a project', { order: 'newest-first', limit: 50, filter: { project: 'p7' } }],
    ['the log of a flag', { order: 'newest-first', limit: 50, filter: { subject: flag('f7') } }],
    ['the log up to a position', { order: 'newest-first', until: '19000-19000', limit: 50 }],
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

  it('reads documents that are asked for at once in one statement, each as it is', async () => {
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
