import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openFlags } from '@flags/core';
import { usageOf } from '@flags/core/integration/postgres';
import { Pool } from 'pg';
import { until } from '../../../../test/until.js';
import { openDatabase } from '../../src/database.js';
import { grantSql, migrationSql, postgresStorage } from '../../src/index.js';
import { migrate } from '../../src/schema/migrate.js';
import { MIGRATIONS, migrationStatements, takeMigrationLocks } from '../../src/schema/migrations.js';
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
      expect(await subjectsAfter(before)).toEqual(['before']);
      await before.close();
      await expect(open({ schema: 'second' })).rejects.toMatchObject({ ...UNSUPPORTED, message: /schema version 2/ });
    });

    it.each([
      ['a step', addition],
      ['an empty step', () => ''],
    ])('stops the changes of an engine that runs, by %s, and not its evaluation', async (name, step) => {
      const schema = `running after ${name}`;
      const session = openDatabase(database.pool(), { connectTimeout: 5000, queryTimeout: 5000, outcomeTimeout: 5000 });
      const flags = await openFlags({ storage: await open({ schema }) });
      const production = { project: 'default', flag: 'checkout', environment: 'production' };
      await flags.createFlag({ project: 'default' }, { name: 'checkout' });
      await flags.addStrategy(production, { name: 'default' });
      await flags.enable(production);
      await migrate(session, { ...location, schema, steps: [...MIGRATIONS, step], migrate: true });
      const refusal = { ...UNSUPPORTED, message: expect.stringContaining('have schema version 2') };
      await expect(flags.disable(production)).rejects.toMatchObject(refusal);
      await expect(flags.tokens.create({ name: 'ci', kind: 'admin' })).rejects.toMatchObject(refusal);
      expect(flags.isEnabled('checkout')).toBe(true);
      expect((await flags.getFlag({ project: 'default', flag: 'checkout' })).name).toBe('checkout');
      await database.ask(`UPDATE "${schema}".flags_meta SET value = 1 WHERE name = 'schema_version'`);
      await flags.disable(production);
      expect(flags.isEnabled('checkout')).toBe(false);
      await flags.close();
    });

    it('refuses commits without events, and a commit that waited for the migration', async () => {
      const storage = await open({ schema: 'waited' });
      await storage.commit(change('checkout'));
      const migration = await database.pool().connect();
      await migration.query(`BEGIN; ${takeMigrationLocks({ schema: 'waited', tablePrefix: 'flags_' })}`);
      const changing = expect(storage.commit(change('checkout', 1))).rejects.toMatchObject(UNSUPPORTED);
      const waits = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'advisory'";
      await until(async () => (await database.ask(waits)).length === 1);
      await migration.query("UPDATE waited.flags_meta SET value = 2 WHERE name = 'schema_version'");
      await migration.query('COMMIT');
      migration.release();
      await changing;
      const writes = [{ key: flag('checkout'), expected: 1, deleted: true }] as const;
      await expect(storage.commit({ writes, events: [] })).rejects.toMatchObject(UNSUPPORTED);
      expect((await storage.get(flag('checkout')))?.revision).toBe(1);
      await storage.close();
    });

    it('is reached by hand, by the steps that are missing', () => {
      const sql = migrationStatements({ ...location, steps, from: 1 });
      expect(sql).toContain('ADD COLUMN note');
      expect(sql).not.toContain('CREATE TABLE');
    });
  });

  describe('tables that no release has made', () => {
    const BUILDS = join(__dirname, 'unreleased-tables');
    const rowsOf = (schema: string) =>
      database.ask(`SELECT name, value FROM ${schema}.flags_meta UNION ALL SELECT id, revision FROM ${schema}.flags_documents
        UNION ALL SELECT subject_id, revision FROM ${schema}.flags_events ORDER BY 1`);

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
      await usageOf(storage)?.record({ id: 'batch', at: 7_200_000, reports });
      expect(await usageOf(storage)?.sum({ resolution: 'hour', by: ['start'] })).toHaveLength(3);
      await usageOf(storage)?.prune({ now: 7_200_000, unseen: { since: 7_200_001, isFlag: () => false } });
      await usageOf(storage)?.forget({ flags: ['checkout'] });
      expect(await storage.dataVersion?.()).not.toBe(version);
      await expect(postgresStorage({ pool, schema: 'forbidden to it' })).rejects.toMatchObject(UNSUPPORTED);
      await storage.close();
      await pool.end();
      await database.ask('DROP OWNED BY "flags web"; DROP ROLE "flags web"');
    });
  });
});
