import {
  copyFileSync,
  existsSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { createFlags, type Flags } from '../../src/index.js';
import { sqliteStorage } from '../../src/sqlite.js';
import { CHECKOUT, DEFAULT, PRODUCTION } from '../rules/references.js';
import { unavailable, unsupported } from '../storage/samples.js';
import { temporaryDirectory } from '../storage/temporary-directory.js';

const SILENT = { pollInterval: 0, usageInterval: 0, onError: () => undefined };
const NOW = new Date().toISOString();
const REPORT = {
  appName: 'shop',
  instanceId: '1',
  bucket: { start: NOW, stop: NOW, toggles: { checkout: { yes: 1, no: 0 } } },
};

describe('the file of an open database', () => {
  let directory: ReturnType<typeof temporaryDirectory>;
  let path: string;
  let flags: Flags;

  beforeEach(async () => {
    directory = temporaryDirectory();
    path = join(directory.path, 'flags.db');
    flags = await createFlags({ ...SILENT, storage: sqliteStorage(path) });
    await flags.createFlag(DEFAULT, { name: 'checkout' });
    await flags.addStrategy(PRODUCTION, { name: 'default' });
    await flags.enable(PRODUCTION);
  });

  afterEach(async () => {
    await flags.close();
    directory.remove();
  });

  const change = () => flags.disable(PRODUCTION);

  const CHANGES: readonly (readonly [string, () => void])[] = [
    ['removed', () => rmSync(path)],
    ['removed with its log', () => ['', '-wal', '-shm'].map((end) => rmSync(path + end))],
    ['robbed of its log', () => rmSync(`${path}-wal`)],
    ['moved away', () => renameSync(path, `${path}.old`)],
    [
      'replaced by a copy of itself',
      () => {
        copyFileSync(path, `${path}.copy`);
        renameSync(`${path}.copy`, path);
      },
    ],
  ];

  it.each(CHANGES)('when it is %s, takes no change that would be lost, and still serves reads', async (_, happen) => {
    happen();
    await expect(change()).rejects.toMatchObject(unavailable);
    await expect(flags.createToken({ name: 'new', kind: 'admin' })).rejects.toMatchObject(unavailable);
    await expect(flags.reportMetrics(REPORT)).rejects.toMatchObject(unavailable);
    expect((await flags.getFlag(CHECKOUT)).environments.find(({ name }) => name === 'production')?.enabled).toBe(true);
    expect((await flags.listEvents()).events).not.toEqual([]);
    expect(flags.isEnabled('checkout')).toBe(true);
    expect(await flags.refresh()).toMatchObject({ state: 'stale', error: unavailable });
  });

  it('when it is put back, is written to again without a restart', async () => {
    linkSync(path, `${path}.link`);
    rmSync(path);
    await expect(change()).rejects.toMatchObject(unavailable);
    renameSync(`${path}.link`, path);
    await change();
    expect(await flags.refresh()).toMatchObject({ state: 'current' });
    const reader = await createFlags({ ...SILENT, storage: sqliteStorage(path) });
    expect(reader.isEnabled('checkout')).toBe(false);
    await reader.close();
  });

  it('when its last user leaves while it is opened, and takes the log along, is written to', async () => {
    await flags.close();
    const last = new Database(path);
    last.exec('BEGIN IMMEDIATE; COMMIT');
    const database = new Database(path);
    const opening = sqliteStorage({ database });
    await Promise.resolve().then(() => undefined);
    last.close();
    expect(existsSync(`${path}-wal`)).toBe(false);
    // Else the new log might get the number of the old one.
    writeFileSync(join(directory.path, 'other'), '');
    flags = await createFlags({ ...SILENT, storage: opening });
    await change();
    expect(await flags.refresh()).toMatchObject({ state: 'current' });
    await flags.close();
    database.close();
  });

  it('when its content is overwritten, is refused with a clear error, and evaluation goes on', async () => {
    await flags.close();
    const database = new Database(path);
    database.pragma('cache_size = 0');
    flags = await createFlags({ ...SILENT, storage: sqliteStorage({ database }) });
    database.pragma('wal_checkpoint(TRUNCATE)');
    overwrite(path, { from: 100, with: 0xab });
    await expect(flags.getFlag(CHECKOUT)).rejects.toMatchObject(unavailable);
    await expect(change()).rejects.toMatchObject(unavailable);
    await expect(flags.reportMetrics(REPORT)).rejects.toMatchObject(unavailable);
    expect(await flags.refresh()).toMatchObject({ state: 'stale', error: unavailable });
    expect(flags.isEnabled('checkout')).toBe(true);
    database.close();
  });

  it('when its tables are gone, is refused with a clear error, and evaluation goes on', async () => {
    const other = new Database(path);
    other.exec('DROP TABLE flags_documents; DROP TABLE flags_events; DROP TABLE flags_counts');
    other.close();
    await expect(flags.getFlag(CHECKOUT)).rejects.toMatchObject(unavailable);
    await expect(change()).rejects.toMatchObject(unavailable);
    await expect(flags.reportMetrics(REPORT)).rejects.toMatchObject(unavailable);
    expect(await flags.refresh()).toMatchObject({ state: 'stale', error: unavailable });
    expect(flags.isEnabled('checkout')).toBe(true);
  });

  it('with an invalid JSON document is refused as damaged', async () => {
    const other = new Database(path);
    other.exec(`UPDATE flags_documents SET body = '{' WHERE kind = 'flag'`);
    other.close();
    await expect(flags.getFlag(CHECKOUT)).rejects.toMatchObject(unavailable);
    await expect(flags.getFlag(CHECKOUT)).rejects.toThrow('is damaged');
    await expect(createFlags({ ...SILENT, storage: sqliteStorage(path) })).rejects.toMatchObject(unavailable);
    await flags.createFlag(DEFAULT, { name: 'other' });
  });

  it('when a newer version of the library has changed its tables, takes no change', async () => {
    const other = new Database(path);
    other.exec("UPDATE flags_meta SET value = 999 WHERE name = 'schema_version'");
    other.close();
    await expect(change()).rejects.toMatchObject(unsupported);
    await expect(flags.reportMetrics(REPORT)).rejects.toMatchObject(unsupported);
    expect(flags.isEnabled('checkout')).toBe(true);
    await expect(createFlags({ ...SILENT, storage: sqliteStorage(path) })).rejects.toMatchObject(unsupported);
  });

  it('when it was damaged before it is opened, is refused at once, and left as it is', async () => {
    await flags.close();
    overwrite(path, { from: 0, with: 0xab });
    const before = readFileSync(path);
    await expect(sqliteStorage(path)).rejects.toMatchObject(unsupported);
    expect(readFileSync(path)).toEqual(before);
  });

  it('when its tables were damaged before it is opened, is refused at once', async () => {
    await flags.close();
    overwrite(path, { from: 4096, with: 0xab });
    const opening = createFlags({ ...SILENT, storage: sqliteStorage(path) });
    await expect(opening).rejects.toMatchObject({ code: expect.stringMatching(/^storage_un/) });
  });
});

/** Overwrites a file in place from a byte on, as a disk does that goes bad. */
function overwrite(path: string, { from, with: byte }: { from: number; with: number }): void {
  const file = openSync(path, 'r+');
  writeSync(file, Buffer.alloc(statSync(path).size - from, byte), 0, undefined, from);
}
