import { Pool } from 'pg';
import { grantSql, migrationSql, postgresStorage } from '../../src/index.js';
import { ownDatabase } from '../own-database.js';
import { change, flag, subjectsAfter } from '../samples.js';

const database = ownDatabase();
const UNSUPPORTED = { name: 'FlagsError', code: 'storage_unsupported' };
const open = (settings: { schema: string; migrate?: boolean; feed?: 'snapshot' | 'counter' }) =>
  postgresStorage({ pool: database.pool(), listen: false, ...settings });

describe('migrations', () => {
  it('are run once when ten nodes start at the same moment', async () => {
    const storages = await Promise.all(Array.from({ length: 10 }, () => open({ schema: 'ten' })));
    const results = await Promise.all(storages.map((storage, index) => storage.commit(change(`f${index}`))));
    expect(results.every(({ ok }) => ok)).toBe(true);
    expect(await database.ask('SELECT name, value FROM ten.flags_meta ORDER BY name')).toEqual([
      { name: 'feed_offset', value: '0' },
      { name: 'schema_version', value: '1' },
    ]);
    await Promise.all(storages.map((storage) => storage.close()));
  });

  it('leave a database alone that a newer library has migrated', async () => {
    await (await open({ schema: 'newer' })).close();
    await database.ask("UPDATE newer.flags_meta SET value = 99 WHERE name = 'schema_version'");
    await expect(open({ schema: 'newer' })).rejects.toMatchObject({ ...UNSUPPORTED, message: /version 99/ });
    await expect(open({ schema: 'newer', migrate: false })).rejects.toMatchObject(UNSUPPORTED);
    expect(await database.ask("SELECT value FROM newer.flags_meta WHERE name = 'schema_version'")).toEqual([
      { value: '99' },
    ]);
  });

  it('are not run where the host forbids it, and then said to be due', async () => {
    await expect(open({ schema: 'forbidden', migrate: false })).rejects.toMatchObject({
      ...UNSUPPORTED,
      message: expect.stringContaining('npx flags-postgres-sql --schema forbidden --prefix flags_'),
    });
    expect(await database.ask("SELECT to_regnamespace('forbidden') AS schema")).toEqual([{ schema: null }]);
  });

  it.each(['snapshot', 'counter'] as const)('can be run by hand, for a feed by %s', async (feed) => {
    const schema = `By hand "${feed}"`;
    await database.ask(migrationSql({ schema, feed }));
    const storage = await open({ schema, migrate: false });
    await storage.commit(change('checkout'));
    expect(await subjectsAfter(storage)).toEqual(['checkout']);
    await storage.close();
    await expect(open({ schema, feed: feed === 'counter' ? 'snapshot' : 'counter' })).rejects.toMatchObject(
      UNSUPPORTED,
    );
  });

  it('take names of schemas and prefixes as they are', async () => {
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

describe('a role with the granted rights alone', () => {
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
    await expect(postgresStorage({ pool, schema: 'forbidden to it' })).rejects.toMatchObject(UNSUPPORTED);
    await storage.close();
    await pool.end();
    await database.ask('DROP OWNED BY "flags web"; DROP ROLE "flags web"');
  });
});
