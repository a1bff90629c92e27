import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { openFlags } from '../../../src/index.js';
import { assertMigrated, MIGRATIONS, migrate } from '../../../src/storage/sqlite/migrations.js';
import { findNodeSqlite } from '../../../src/storage/sqlite/node-database.js';
import type { SqliteStorageOptions } from '../../../src/storage/sqlite/options.js';
import { sqliteStorage } from '../../../src/storage/sqlite/storage.js';
import { creation, flag, unsupported } from '../samples.js';
import { temporaryDirectory } from '../temporary-directory.js';

describe('migrations of SQLite', () => {
  let directory: ReturnType<typeof temporaryDirectory>;
  let path: string;

  beforeEach(() => {
    directory = temporaryDirectory();
    path = join(directory.path, 'flags.db');
  });

  afterEach(() => directory.remove());

  function inFile<T>(work: (database: Database.Database) => T): T {
    const database = new Database(path);
    try {
      return work(database);
    } finally {
      database.close();
    }
  }

  const metaOf = (database: Database.Database) =>
    Object.fromEntries(database.prepare('SELECT name, value FROM flags_meta').raw().all() as [string, number][]);

  describe('to a second version', () => {
    const addition: (typeof MIGRATIONS)[number] = (prefix) => `ALTER TABLE ${prefix}documents ADD COLUMN note TEXT`;
    const steps = [...MIGRATIONS, addition];

    it('run the missing steps alone, and keep the content', async () => {
      const storage = await sqliteStorage(path);
      await storage.commit(creation('a'));
      await storage.close();
      inFile((database) => {
        expect(metaOf(database)).toEqual({ schema_version: 1, released: 1 });
        expect(() => assertMigrated(database, 'flags_', steps)).toThrow('have schema version 1');
        migrate(database, 'flags_', steps);
        expect(metaOf(database)).toEqual({ schema_version: 2, released: 1 });
        expect(database.prepare('SELECT id, note FROM flags_documents').all()).toEqual([{ id: 'a', note: null }]);
        // Nothing is left to do.
        migrate(database, 'flags_', steps);
        assertMigrated(database, 'flags_', steps);
      });
      await expect(sqliteStorage(path)).rejects.toMatchObject({ ...unsupported, message: /have schema version 2/ });
    });

    it.each([
      ['a step', addition],
      ['an empty step', () => ''],
    ])('stop the changes of an engine that runs, by %s, and not its evaluation', async (_, step) => {
      const flags = await openFlags({ storage: await sqliteStorage(path) });
      const production = { project: 'default', flag: 'checkout', environment: 'production' };
      await flags.createFlag({ project: 'default' }, { name: 'checkout' });
      await flags.addStrategy(production, { name: 'default' });
      await flags.enable(production);
      inFile((database) => migrate(database, 'flags_', [...MIGRATIONS, step]));
      const refusal = { ...unsupported, message: expect.stringContaining('have schema version 2') };
      await expect(flags.disable(production)).rejects.toMatchObject(refusal);
      await expect(flags.tokens.create({ name: 'ci', kind: 'admin' })).rejects.toMatchObject(refusal);
      expect(flags.isEnabled('checkout')).toBe(true);
      expect((await flags.getFlag({ project: 'default', flag: 'checkout' })).name).toBe('checkout');
      // The tables of the version that this library knows again: nothing was written meanwhile.
      inFile((database) => database.exec("UPDATE flags_meta SET value = 1 WHERE name = 'schema_version'"));
      await flags.disable(production);
      expect(flags.isEnabled('checkout')).toBe(false);
      await flags.close();
    });

    it('create the tables of both versions in a new file', () => {
      inFile((database) => {
        migrate(database, 'flags_', steps);
        expect(metaOf(database)).toEqual({ schema_version: 2, released: 1 });
        expect(database.prepare('SELECT note FROM flags_documents').all()).toEqual([]);
      });
    });
  });

  describe('of tables that no release has made', () => {
    const BUILDS = join(__dirname, 'unreleased-tables');
    const sqlite = findNodeSqlite();
    const drivers: readonly (readonly [string, () => { source: SqliteStorageOptions & object; close(): void }])[] = [
      ['a path', () => ({ source: { path }, close: () => undefined })],
      ['a handle of better-sqlite3', () => withClose(new Database(path))],
      ...(sqlite
        ? ([['a handle of node:sqlite', () => withClose(new sqlite.DatabaseSync(path, { timeout: 0 }))]] as const)
        : []),
    ];
    const withClose = (database: Database.Database | InstanceType<NonNullable<typeof sqlite>['DatabaseSync']>) => ({
      source: { database },
      close: () => void database.close(),
    });

    const contentOf = (database: Database.Database) =>
      ['sqlite_schema', 'flags_meta', 'flags_documents', 'flags_events'].map((table) =>
        database.prepare(`SELECT * FROM ${table}`).all(),
      );

    it.each(readdirSync(BUILDS).flatMap((file) => drivers.map(([driver, open]) => [file, driver, open] as const)))(
      'refuse and change nothing: %s, by %s',
      async (file, _, open) => {
        const before = inFile((database) => {
          database.exec(readFileSync(join(BUILDS, file), 'utf8'));
          return contentOf(database);
        });
        for (const migrating of [true, false]) {
          const { source, close } = open();
          await expect(sqliteStorage({ ...source, migrate: migrating })).rejects.toMatchObject({
            ...unsupported,
            message: expect.stringContaining('A build before the first release made the tables flags_*'),
          });
          close();
        }
        expect(inFile(contentOf)).toEqual(before);
        const beside = await sqliteStorage({ path, tablePrefix: 'new_' });
        await beside.commit(creation('a'));
        expect(await beside.get(flag('a'))).toBeDefined();
        await beside.close();
      },
    );
  });
});
