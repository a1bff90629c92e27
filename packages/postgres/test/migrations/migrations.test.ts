import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createFlags, type UsageStorage } from '@flags/core';
import { Pool } from 'pg';
import { extent } from '../../../../test/extent.js';
import { expectContentOf01 } from '../../../core/test/fixtures/expect-content.js';
import { grantSql, migrationSql, postgresStorage } from '../../src/index.js';
import { toStoredText } from '../../src/tables.js';
import { interferedPool } from '../interfered-pool.js';
import { ownDatabase } from '../own-database.js';
import { change, flag, subjectsAfter } from '../samples.js';

describe('migrations', () => {
  const database = ownDatabase();
  const UNSUPPORTED = { name: 'FlagsError', code: 'storage_unsupported' };
  const open = (settings: { schema: string; migrate?: boolean }) =>
    postgresStorage({ pool: database.pool(), listen: false, ...settings });

  describe('migrations', () => {
    it('run once when ten nodes start at the same moment', async () => {
      const storages = await Promise.all(Array.from({ length: 10 }, () => open({ schema: 'ten' })));
      const results = await Promise.all(storages.map((storage, index) => storage.commit(change(`f${index}`))));
      expect(results.every(({ ok }) => ok)).toBe(true);
      expect(
        await database.ask("SELECT name, value FROM ten.flags_meta WHERE name NOT LIKE 'mark%' ORDER BY name"),
      ).toEqual([
        { name: 'feed_offset', value: '0' },
        { name: 'schema_version', value: '6' },
      ]);
      await Promise.all(storages.map((storage) => storage.close()));
    });

    it('do not change a database that a newer library has migrated', async () => {
      await (await open({ schema: 'newer' })).close();
      await database.ask("UPDATE newer.flags_meta SET value = 99 WHERE name = 'schema_version'");
      await expect(open({ schema: 'newer' })).rejects.toMatchObject({ ...UNSUPPORTED, message: /version 99/ });
      await expect(open({ schema: 'newer', migrate: false })).rejects.toMatchObject(UNSUPPORTED);
      expect(await database.ask("SELECT value FROM newer.flags_meta WHERE name = 'schema_version'")).toEqual([
        { value: '99' },
      ]);
    });

    it('do not run where the host forbids it, and are reported as pending', async () => {
      await expect(open({ schema: 'forbidden', migrate: false })).rejects.toMatchObject({
        ...UNSUPPORTED,
        message: expect.stringContaining('npx flags-postgres-sql --schema forbidden --prefix flags_'),
      });
      expect(await database.ask("SELECT to_regnamespace('forbidden') AS schema")).toEqual([{ schema: null }]);
    });

    it('can be run by hand', async () => {
      const schema = 'By "hand"';
      await database.ask(migrationSql({ schema }));
      const storage = await open({ schema, migrate: false });
      await storage.commit(change('checkout'));
      expect(await subjectsAfter(storage)).toEqual(['checkout']);
      await storage.close();
    });

    it('let no node of a release before 0.3 commit, and name the reason', async () => {
      await (await open({ schema: 'fenced' })).close();
      const commit = database.ask(`
      INSERT INTO fenced.flags_events (commit_order, type, at, actor, subject_kind, subject_id, revision, data, before)
      VALUES (1, 'changed', '2026-01-01T00:00:00.000Z', 'ada', 'flag', 'checkout', 1, 'null', 'null')`);
      await expect(commit).rejects.toThrow('flags_events_need_release_0_3');
    });

    it('keep names of schemas and prefixes unchanged', async () => {
      const schema = `x"; DROP SCHEMA public CASCADE; --`;
      const storage = await open({ schema });
      await storage.commit(change('checkout'));
      expect((await storage.get(flag('checkout')))?.revision).toBe(1);
      expect(await database.ask("SELECT to_regnamespace('public') AS schema")).toEqual([{ schema: 'public' }]);
      await storage.close();
    });

    it.each([
      [{ schema: '' }],
      [{ schema: 'pg_mine' }],
      [{ schema: 'x'.repeat(64) }],
      [{ tablePrefix: 'a-b' }],
      [{ tablePrefix: 'x'.repeat(31) }],
      [{ from: 6 }],
      [{ from: 7 }],
    ])('refuse %j', (options) => {
      expect(() => migrationSql(options)).toThrow(expect.objectContaining({ code: 'invalid_input' }));
    });

    it('keep every name within PostgreSQL’s 63 bytes, at the longest prefix', async () => {
      const tablePrefix = 'p'.repeat(30);
      await database.ask(migrationSql({ schema: 'long', tablePrefix }));
      const names = await database.ask("SELECT relname FROM pg_class WHERE relnamespace = 'long'::regnamespace");
      for (const { relname } of names) expect(String(relname).length).toBeLessThan(63);
    });
  });

  const USAGE = ['counts', 'last_seen', 'applications', 'instances', 'batches'].map((name) => `flags_usage_${name}`);

  /** Makes the tables of usage those of an earlier version. */
  async function usageOf(schema: string, version: 1 | 2 | 4 | 5): Promise<void> {
    const sql = readFileSync(join(__dirname, 'usage-tables-before-6.sql'), 'utf8');
    const [early = '', later = ''] = sql.split('-- version 3');
    await database.ask(`
    DROP TABLE ${USAGE.map((name) => `${schema}.${name}`).join(', ')};
    SET search_path = ${schema}; ${early} ${version >= 4 ? later : ''}; RESET search_path;
    UPDATE ${schema}.flags_meta SET value = ${version} WHERE name = 'schema_version'`);
  }

  /** Makes the tables those of version 1, without marks. Added columns stay: older writers ignore them. */
  async function backToVersion1(schema: string): Promise<void> {
    await usageOf(schema, 1);
    await database.ask(`DELETE FROM ${schema}.flags_meta WHERE name LIKE 'mark%'`);
  }

  async function marksOf(schema: string): Promise<number> {
    return (await database.ask(`SELECT FROM ${schema}.flags_meta WHERE name LIKE 'mark%'`)).length;
  }

  describe('tables of version 1', () => {
    it('are migrated once by nodes that start at once, while a node of an earlier release continues', async () => {
      const before = await open({ schema: 'rolling' });
      await backToVersion1('rolling');
      await before.commit(change('before'));
      await expect(open({ schema: 'rolling', migrate: false })).rejects.toMatchObject({
        ...UNSUPPORTED,
        message: expect.stringContaining('--from 1'),
      });
      // With the migration, this one ends in any order.
      const [, ...nodes] = await Promise.all([
        before.commit(change('meanwhile')),
        ...Array.from({ length: 5 }, () => open({ schema: 'rolling' })),
      ]);
      expect(await marksOf('rolling')).toBe(16);
      const [node] = nodes;
      const version = await node?.dataVersion?.();
      await before.commit(change('after'));
      expect(await node?.dataVersion?.()).not.toBe(version);
      expect(node && (await subjectsAfter(node))).toEqual(['before', 'meanwhile', 'after']);
      await Promise.all([before, ...nodes].map((storage) => storage.close()));
    });

    it('are migrated by hand, with rights on the new tables only', async () => {
      await (await open({ schema: 'stepped' })).close();
      const rights = grantSql({ schema: 'stepped', role: 'web' });
      await backToVersion1('stepped');
      const step = migrationSql({ schema: 'stepped', from: 1 });
      expect(Array.from(step.matchAll(/CREATE TABLE "stepped"\."(\w+)"/g), ([, table]) => table)).toEqual(USAGE);
      expect(migrationSql({ schema: 'stepped' })).toContain("('mark_0', 0)");
      await database.ask(step);
      expect(await marksOf('stepped')).toBe(16);
      expect(rights).not.toContain('mark');
      expect(rights).toContain('"flags_usage_counts"');
      const storage = await open({ schema: 'stepped', migrate: false });
      const version = await storage.dataVersion?.();
      await storage.usage?.forget({ flags: ['checkout'] });
      expect(await storage.dataVersion?.()).not.toBe(version);
      await storage.close();
    });
  });

  describe('tables of version 2', () => {
    it('get columns that nodes of earlier releases, which do not name them, leave empty', async () => {
      await (await open({ schema: 'events' })).close();
      await database.ask(`
      ALTER TABLE events.flags_events DROP COLUMN actor_token_id, DROP COLUMN actor_token_kind,
        DROP COLUMN change_id, DROP COLUMN reason`);
      await usageOf('events', 2);
      const storage = await open({ schema: 'events' });
      await storage.commit(change('by-a-new-node'));
      await database.ask(`
      INSERT INTO events.flags_events (commit_order, type, at, actor, subject_kind, subject_id, revision, data, before, release)
      SELECT commit_order, type, at, actor, subject_kind, 'by-a-node-of-before', revision, data, before, 2
      FROM events.flags_events`);
      const { events } = await storage.events({ order: 'oldest-first', limit: 10 });
      expect(events.map(({ subject }) => subject.id)).toEqual(['by-a-new-node', 'by-a-node-of-before']);
      expect(events.every((event) => !('actorTokenId' in event))).toBe(true);
      expect(events.map(({ changeSet, reason }) => [changeSet, reason])).toEqual([
        [null, null],
        [null, null],
      ]);
      await storage.close();
    });
  });

  describe('tables of earlier versions', () => {
    it.each([4, 5] as const)('keep their usage: version %i', async (version) => {
      await database.ask('DROP SCHEMA IF EXISTS released CASCADE');
      await (await open({ schema: 'released' })).close();
      await usageOf('released', version);
      const now = Date.UTC(2030, 0, 15, 12, 0, 0);
      const hour = (age: number) => now - age * 3_600_000;
      await database.ask(`
      SET search_path = released;
      INSERT INTO flags_applications VALUES ('shop', '["default"]', 'Shop', '', 'red', '', 1, 'token-1', false),
        ('page', '[]', '', '', NULL, '', 2, 'token-2', true);
      INSERT INTO flags_instances VALUES ('shop', 'one', NULL, 'node:1', 1, 5), ('page', 'two', '192.0.2.1', NULL, 2, 4);
      INSERT INTO flags_counters VALUES (${now / 1000}, 'checkout', 1, 2, 1), (${now / 1000}, 'checkout', 2, 3, 0);
      INSERT INTO flags_last_seen VALUES ('checkout', 1, ${now - 5}), ('checkout', 2, ${now});
      INSERT INTO flags_usage VALUES ('shop', 'checkout', 1, 100), ('shop', 'checkout', 2, 10);
      INSERT INTO flags_usage_current VALUES
        ('shop', 'checkout', 'production', ${now}, 1, 3, 1, '[["blue",3]],[["blue",1],["red",2]]'),
        ('page', 'checkout', 'production', ${now}, 1, 1, 0, NULL);
      INSERT INTO flags_usage_hours VALUES ('checkout', 'shop', 'production', ${hour(1)}, 1, 7, 0, '[["blue",7]]');
      INSERT INTO flags_usage_days VALUES ('checkout', 'shop', 'production', ${hour(12)}, 1, 7, 0, '[["blue",7]]');
      INSERT INTO flags_unknown_names VALUES ('page', 'typo', ${now * 1000 + 3}, 6);
      INSERT INTO flags_unknown_counters VALUES ('page', 'typo', ${now / 1000}, 6, 0);
      INSERT INTO flags_dropped_names VALUES ('page', 9);
      ${version === 4 ? 'ALTER TABLE flags_applications DROP COLUMN token, DROP COLUMN is_public;' : ''}
      RESET search_path`);
      const storage = await open({ schema: 'released' });
      const usage = storage.usage as UsageStorage;
      expect(await usage.sum({ resolution: 'second', by: ['flag', 'start'] })).toEqual([
        { flag: 'checkout', start: now - 1000, yes: 5, no: 1 },
        { flag: 'typo', start: now - 1000, yes: 6, no: 0 },
      ]);
      expect(await usage.sum({ resolution: 'ever', by: ['application', 'flag'] })).toEqual([
        { application: 'page', flag: 'checkout', yes: 1, no: 0 },
        { application: 'page', flag: 'typo', yes: 6, no: 0 },
        { application: 'shop', flag: 'checkout', yes: 113, no: 1 },
      ]);
      const by = ['start', 'variant'] as const;
      expect(await usage.sum({ resolution: 'hour', by, application: 'shop', environment: 'production' })).toEqual([
        { start: hour(1), variant: '', yes: 7, no: 0 },
        { start: hour(1), variant: 'blue', yes: 7, no: 0 },
        { start: now, variant: '', yes: 3, no: 1 },
        { start: now, variant: 'blue', yes: 4, no: 0 },
        { start: now, variant: 'red', yes: 2, no: 0 },
      ]);
      expect(await usage.sum({ resolution: 'day', by, flag: 'checkout' })).toEqual([
        { start: hour(12), variant: '', yes: 11, no: 1 },
        { start: hour(12), variant: 'blue', yes: 11, no: 0 },
        { start: hour(12), variant: 'red', yes: 2, no: 0 },
      ]);
      expect(await usage.lastSeen(['checkout', 'typo'])).toEqual(new Map([['checkout', now]]));
      expect(await usage.applications({ instances: true })).toMatchObject([
        {
          name: 'page',
          color: null,
          seenAt: 4,
          droppedNames: 9,
          instances: [{ clientIp: '192.0.2.1', sdkVersion: '' }],
        },
        { name: 'shop', strategies: ['default'], color: 'red', createdAt: 1, seenAt: 5, droppedNames: 0 },
      ]);
      // The application of a public token is taken over by others, and its names go first.
      const rows = await database.ask(
        'SELECT DISTINCT application, is_public FROM released.flags_usage_counts ORDER BY 1',
      );
      expect(rows.map((row) => Object.values(row))).toEqual([
        ['', false],
        ['page', version === 5],
        ['shop', false],
      ]);
      expect(await database.ask("SELECT tablename FROM pg_tables WHERE schemaname = 'released'")).toHaveLength(
        3 + USAGE.length,
      );
      await storage.close();
    });
  });

  describe('tables of version 4', () => {
    const PRESENT = { labels: ['a'], owner: 'team' };
    const NESTED = { strategies: [{ parameters: { labels: '"labels":', owner: '' } }] };
    const BODIES: readonly (readonly [string, object])[] = [
      ['plain', { name: 'plain' }],
      ['parameters', NESTED],
      ['after-parameters', { ...NESTED, ...PRESENT }],
      ['texts', { variants: [{ payload: { labels: [], value: '{"labels":[]}' } }] }],
      ['payload', { variants: [{ payload: { labels: [] } }], ...PRESENT }],
      ['escapes', { description: '\u0000 \ud800 \udc00 \ud7ff \\" {"labels":1}', ...NESTED }],
      ['escapes-beside', { description: '\u0000 \ud800 \udc00 \ud7ff \\" {"labels":1}', ...PRESENT }],
      ['null', { labels: null, owner: null }],
    ];

    it('get labels and an owner in flags that have none, whatever their other members hold', async () => {
      await (await open({ schema: 'labels' })).close();
      for (const [id, body] of BODIES) {
        await database.ask(
          `INSERT INTO labels.flags_documents (kind, id, revision, summary, body)
        VALUES ('flag', $1, 1, 'null', $2), ('checkpoint', 'flag ' || $1 || ' 7', 1, 'null', $2), ('segment', $1, 1, 'null', $2)`,
          [id, toStoredText(JSON.stringify(body))],
        );
      }
      await database.ask("INSERT INTO labels.flags_documents (kind, id, revision) VALUES ('flag', 'deleted', 2)");
      await usageOf('labels', 4);
      const storage = await open({ schema: 'labels' });
      for (const [id, body] of BODIES) {
        const expected = Object.hasOwn(body, 'labels') ? body : { labels: [], owner: null, ...body };
        const texts = await database.ask(
          'SELECT kind, body FROM labels.flags_documents WHERE id = $1 OR parent = $2 ORDER BY kind',
          [id, `flag ${id}`],
        );
        expect(texts).toEqual([
          { kind: 'checkpoint', body: toStoredText(JSON.stringify(expected)) },
          { kind: 'flag', body: toStoredText(JSON.stringify(expected)) },
          { kind: 'segment', body: toStoredText(JSON.stringify(body)) },
        ]);
      }
      expect(await storage.get(flag('deleted'))).toBeUndefined();
      await storage.close();
    });
  });

  describe('a log of many events of version 2', () => {
    const EVENTS = extent({ short: 20_000, full: 1_000_000 });

    it('is migrated in seconds', async () => {
      await (await open({ schema: 'long_log' })).close();
      await database.ask(`
      INSERT INTO long_log.flags_events
        (release, commit_order, type, at, actor, subject_kind, subject_id, revision, project, data, before)
      SELECT 2, number, 'flag-updated', '2026-01-01T00:00:00.000Z', 'ada', 'flag', 'f' || number % 5000, 1, 'default',
        '{"description":"new"}', '{"description":"old"}'
      FROM generate_series(1, ${EVENTS}) AS number`);
      await database.ask(`
      ALTER TABLE long_log.flags_events DROP COLUMN actor_token_id, DROP COLUMN actor_token_kind,
        DROP COLUMN change_id, DROP COLUMN reason`);
      await usageOf('long_log', 2);
      const start = performance.now();
      // The work of the database: rewriting the events one by one would take minutes.
      const storage = await open({ schema: 'long_log' });
      expect((await storage.events({ order: 'newest-first', limit: 1 })).events).toHaveLength(1);
      expect(performance.now() - start).toBeLessThan(20_000);
      await storage.close();
    });
  });

  describe('a server without transaction ids', () => {
    it('is refused before anything is created', async () => {
      const pool = interferedPool(database.pool(), ({ text }, _, { rows }) => {
        if (text.includes('pg_current_xact_id')) Object.assign(rows[0], { function: null });
      });
      await expect(postgresStorage({ pool, schema: 'refused', listen: false })).rejects.toMatchObject({
        ...UNSUPPORTED,
        message: expect.stringContaining('PostgreSQL 13 or newer'),
      });
      expect(await database.ask("SELECT to_regnamespace('refused') AS schema")).toEqual([{ schema: null }]);
    });
  });

  describe('tables of an earlier release that order events by a counter', () => {
    it('are refused, and continue after the statement that the error names', async () => {
      const before = await open({ schema: 'counted' });
      await before.commit(change('before'));
      await before.close();
      await database.ask(`
      UPDATE counted.flags_events SET commit_order = 1000000000000;
      UPDATE counted.flags_meta SET name = 'feed_counter', value = 1000000000000 WHERE name = 'feed_offset'`);
      const refusal = await open({ schema: 'counted' }).catch((error: unknown) => error as Error);
      expect(refusal).toMatchObject({ ...UNSUPPORTED, message: expect.stringContaining("feed: 'counter'") });
      await expect(open({ schema: 'counted', migrate: false })).rejects.toMatchObject(UNSUPPORTED);
      const [statement] = /UPDATE .*$/.exec((refusal as Error).message) ?? [];
      await database.ask(String(statement));
      const storage = await open({ schema: 'counted' });
      await storage.commit(change('after'));
      expect(await subjectsAfter(storage)).toEqual(['before', 'after']);
      await storage.close();
    });
  });

  describe('a role with only the granted rights', () => {
    it('runs the library with migrate: false', async () => {
      await database.ask(migrationSql({ schema: 'least' }));
      await database.ask('CREATE ROLE "flags web" LOGIN');
      await database.ask(grantSql({ schema: 'least', role: 'flags web' }));
      const url = new URL(database.url());
      url.username = encodeURIComponent('flags web');
      const pool = new Pool({ connectionString: url.href });
      const storage = await postgresStorage({ pool, schema: 'least', migrate: false });
      await storage.commit(change('checkout'));
      const deletion = { key: flag('checkout'), expected: 1, deleted: true } as const;
      const vacant = [{ kind: 'flag', parent: 'shop' }];
      expect((await storage.commit({ writes: [deletion], vacant, events: [] })).ok).toBe(true);
      expect(await subjectsAfter(storage)).toEqual(['checkout']);
      const version = await storage.dataVersion?.();
      const report = { application: 'shop', instance: { id: '1' }, counts: [{ flag: 'checkout', yes: 1, no: 0 }] };
      const reports = [3_600_000, 0, 7_200_000].map((stop) => ({ ...report, stop }));
      await storage.usage?.record({ id: 'batch', at: 7_200_000, reports });
      expect(await storage.usage?.sum({ resolution: 'hour', by: ['start'] })).toHaveLength(3);
      await storage.usage?.prune({ now: 7_200_000, unseen: { since: 7_200_001, isFlag: () => false } });
      await storage.usage?.forget({ flags: ['checkout'] });
      expect(await storage.dataVersion?.()).not.toBe(version);
      await expect(postgresStorage({ pool, schema: 'forbidden to it' })).rejects.toMatchObject(UNSUPPORTED);
      await storage.close();
      await pool.end();
      await database.ask('DROP OWNED BY "flags web"; DROP ROLE "flags web"');
    });
  });
});

describe('release 0.1', () => {
  const database = ownDatabase();

  it('has tables with content that later rules would refuse, which are read, evaluated and changed', async () => {
    await database.ask(readFileSync(join(__dirname, '../fixtures/release-0.1.sql'), 'utf8'));
    const storage = postgresStorage({ pool: database.pool(), listen: false });
    const flags = await createFlags({ storage, onProblem: () => undefined });
    await expectContentOf01(flags);
    await flags.close();
  });
});
