import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
<<<<<<< HEAD
=======
import { createFlags } from '@flags/core';
import { type UsageStorage, usageOf as usageIn } from '@flags/core/integration';
>>>>>>> b83b56e8 (refactor(storage): make the usage port internal and keep its rules in one folder)
import { Pool } from 'pg';
import { openDatabase } from '../../src/database.js';
import { grantSql, migrationSql, postgresStorage } from '../../src/index.js';
import { migrate } from '../../src/schema/migrate.js';
import { MIGRATIONS, migrationStatements } from '../../src/schema/migrations.js';
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
        { name: 'released', value: '1' },
        { name: 'schema_version', value: '1' },
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
      [{ from: -1 }],
      [{ from: 1 }],
      [{ from: 2 }],
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

  describe('a second version', () => {
    const location = { schema: 'second', tablePrefix: 'flags_' };
    const addition: (typeof MIGRATIONS)[number] = ({ table }) =>
      `ALTER TABLE ${table('documents')} ADD COLUMN note text;`;
    const steps = [...MIGRATIONS, addition];
    const versionOf = async () => {
      const rows = await database.ask("SELECT value FROM second.flags_meta WHERE name = 'schema_version'");
      return rows.map(({ value }) => value);
    };

    it('is reached once by nodes that start at once, from the first, and keeps its content', async () => {
      const before = await open({ schema: 'second' });
      await before.commit(change('before'));
      const session = openDatabase(database.pool(), { connectTimeout: 5000, queryTimeout: 5000, outcomeTimeout: 5000 });
      await expect(migrate(session, { ...location, steps, migrate: false })).rejects.toMatchObject({
        ...UNSUPPORTED,
        message: expect.stringContaining('have schema version 1, and this version of the library needs 2'),
      });
      expect(await versionOf()).toEqual(['1']);
      await Promise.all(Array.from({ length: 5 }, () => migrate(session, { ...location, steps, migrate: true })));
      expect(await versionOf()).toEqual(['2']);
      await before.commit(change('after'));
      expect(await subjectsAfter(before)).toEqual(['before', 'after']);
      await before.close();
      await expect(open({ schema: 'second' })).rejects.toMatchObject({ ...UNSUPPORTED, message: /schema version 2/ });
    });

<<<<<<< HEAD
    it('is reached by hand, by the steps that are missing', () => {
      const sql = migrationStatements({ ...location, steps, from: 1 });
      expect(sql).toContain('ADD COLUMN note');
      expect(sql).not.toContain('CREATE TABLE');
=======
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
      await usageIn(storage)?.forget({ flags: ['checkout'] });
      expect(await storage.dataVersion?.()).not.toBe(version);
      await storage.close();
>>>>>>> b83b56e8 (refactor(storage): make the usage port internal and keep its rules in one folder)
    });
  });

  describe('tables of builds before the first release', () => {
    const BUILDS = join(__dirname, 'earlier-builds');
    const rowsOf = (schema: string) =>
      database.ask(`SELECT name, value FROM ${schema}.flags_meta UNION ALL SELECT id, revision FROM ${schema}.flags_documents
        UNION ALL SELECT subject_id, revision FROM ${schema}.flags_events ORDER BY 1`);

<<<<<<< HEAD
    it.each(readdirSync(BUILDS).flatMap((file) => ['flags', 'public'].map((schema) => [file, schema] as const)))(
      'are refused, and stay as they are: %s in the schema %s',
      async (file, schema) => {
        const sql = readFileSync(join(BUILDS, file), 'utf8');
        await database.ask(`DROP SCHEMA IF EXISTS ${schema} CASCADE; CREATE SCHEMA ${schema}; SET search_path = ${schema};
          ${sql}; RESET search_path`);
        const before = await rowsOf(schema);
        for (const isMigrated of [true, false]) {
          await expect(open({ schema, migrate: isMigrated })).rejects.toMatchObject({
            ...UNSUPPORTED,
            message: expect.stringContaining(`A build before the first release made the tables ${schema}.flags_*`),
          });
        }
        expect(await rowsOf(schema)).toEqual(before);
        const beside = await postgresStorage({ pool: database.pool(), listen: false, schema, tablePrefix: 'new_' });
        await beside.commit(change('checkout'));
        expect(await subjectsAfter(beside)).toEqual(['checkout']);
        await beside.close();
      },
    );
=======
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
      const usage = usageIn(storage) as UsageStorage;
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
>>>>>>> b83b56e8 (refactor(storage): make the usage port internal and keep its rules in one folder)
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
      await usageIn(storage)?.record({ id: 'batch', at: 7_200_000, reports });
      expect(await usageIn(storage)?.sum({ resolution: 'hour', by: ['start'] })).toHaveLength(3);
      await usageIn(storage)?.prune({ now: 7_200_000, unseen: { since: 7_200_001, isFlag: () => false } });
      await usageIn(storage)?.forget({ flags: ['checkout'] });
      expect(await storage.dataVersion?.()).not.toBe(version);
      await expect(postgresStorage({ pool, schema: 'forbidden to it' })).rejects.toMatchObject(UNSUPPORTED);
      await storage.close();
      await pool.end();
      await database.ask('DROP OWNED BY "flags web"; DROP ROLE "flags web"');
    });
  });
});
