import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import fs from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { type Flags, openFlags } from '../../../src/index.js';
import type { FlagsStorage } from '../../../src/storage/port.js';
import { publishFile } from '../../../src/storage/sqlite/backup.js';
import { findNodeSqlite } from '../../../src/storage/sqlite/node-database.js';
import { sqliteStorage } from '../../../src/storage/sqlite/storage.js';
import { expectInvariants } from '../../invariants/invariants.js';
import { busy, closed, creation, flag } from '../samples.js';
import { temporaryDirectory } from '../temporary-directory.js';
import { eventsIn, fill, integrityOf } from './backup-sources.js';
import { childProgram, nextMessage } from './child-program.js';
import { failToFlush, fault } from './failing-flush.js';

/** The handles of better-sqlite3 in these tests; those of `FLAGS_SQLITE=node` are wrapped, so that no worker can load them. */
const inWorker = process.env.FLAGS_SQLITE === 'node' ? it.skip : it;

describe('backup', () => {
  const INVALID = { name: 'FlagsError', code: 'invalid_input' };
  const UNAVAILABLE = { name: 'FlagsError', code: 'storage_unavailable' };

  let directory: ReturnType<typeof temporaryDirectory>;
  let path: string;
  let backup: string;

  beforeEach(() => {
    directory = temporaryDirectory();
    path = join(directory.path, 'flags.db');
    backup = join(directory.path, 'flags.backup');
  });

  afterEach(() => {
    jest.restoreAllMocks();
    directory.remove();
  });

  /** A restored backup has the events of the living storage, up to one; at least those of the moment before it was made. */
  async function expectPrefix(storage: FlagsStorage, acknowledged: number): Promise<FlagsStorage> {
    const restored = await sqliteStorage(backup);
    const [log, copied] = [await eventsIn(storage), await eventsIn(restored)];
    expect(copied.length).toBeGreaterThanOrEqual(acknowledged);
    expect(copied).toEqual(log.slice(0, copied.length));
    return restored;
  }

  describe('a backup during writes', () => {
    async function work(flags: Flags, name: string, isOver: () => boolean): Promise<void> {
      const project = { project: 'default' };
      for (let number = 0; !isOver(); number++) {
        const one = { ...project, flag: `${name}-${number}` };
        const production = { ...one, environment: 'production' };
        await flags.createFlag(project, { name: one.flag });
        await flags.addStrategy(production, { name: 'default' });
        await flags.enable(production);
        await flags.setVariants(one, [{ name: 'a' }, { name: 'b' }]);
        if (number % 3 === 0) await flags.archiveFlag(one);
        if (number % 6 === 0) await flags.deleteFlag({ flag: one.flag });
      }
    }

    it('has the state of one moment, equals its events, and can be written to', async () => {
      const storage = await sqliteStorage(path);
      await fill(storage, 2000);
      const flags = await openFlags({ storage, pollInterval: 0 });
      let over = false;
      const all = Promise.all(['a', 'b', 'c', 'd', 'e'].map((name) => work(flags, name, () => over)));
      while ((await flags.events.list({ limit: 0 })).total < 2100) await setImmediate();
      const acknowledged = (await flags.events.list({ limit: 0 })).total;

      await storage.backup(backup);
      over = true;
      await all;
      expect((await flags.events.list({ limit: 0 })).total).toBeGreaterThan(acknowledged + 10);
      expect(readdirSync(directory.path).filter((file) => file.startsWith('flags.backup'))).toEqual(['flags.backup']);

      expect(integrityOf(backup)).toBe('ok');
      const restored = await expectPrefix(storage, acknowledged);
      await expectInvariants(restored);
      const again = await openFlags({ storage: restored });
      await again.createFlag({ project: 'default' }, { name: 'after-the-restoration' });
      await again.close();
      await flags.close();
    });

    it('has the state of one moment while two other processes write', async () => {
      const storage = await sqliteStorage(path);
      await fill(storage, 1000);
      const program = childProgram('writer', directory.path);
      const writers = [program(path), program(path)];
      await Promise.all(writers.map(nextMessage));
      const acknowledged = (await eventsIn(storage)).length;
      await storage.backup(backup);
      await stop(writers);

      expect(integrityOf(backup)).toBe('ok');
      const restored = await expectPrefix(storage, acknowledged);
      const ids = (await restored.list({ kind: 'flag', part: 'summary' })).map(({ key }) => key.id);
      const created = (await eventsIn(restored)).filter(({ subject }) => subject.kind === 'flag');
      expect(new Set(ids)).toEqual(new Set(created.map(({ subject }) => subject.id)));
      await restored.close();
      await storage.close();
    });
  });

  async function stop(children: readonly ChildProcess[]): Promise<void> {
    const exits = children.map((child) => once(child, 'exit'));
    for (const child of children) child.kill('SIGKILL');
    await Promise.all(exits);
  }

  describe('a backup', () => {
    it('does not overwrite, and exists once if two write to one path', async () => {
      const storage = await sqliteStorage(path);
      writeFileSync(backup, 'precious');
      await expect(storage.backup(backup)).rejects.toMatchObject(INVALID);
      await expect(storage.backup(path)).rejects.toMatchObject(INVALID);
      expect(readFileSync(backup, 'utf8')).toBe('precious');

      const other = `${backup}-2`;
      const results = await Promise.allSettled([storage.backup(other), storage.backup(other)]);
      expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      expect(results.find(({ status }) => status === 'rejected')).toMatchObject({ reason: INVALID });
      expect(integrityOf(other)).toBe('ok');
      expect(partials()).toEqual([]);
      await storage.close();
    });

    it.each([
      ['no path', undefined],
      ['an empty path', ' '],
      ['memory', ':memory:'],
      ['a path that no file can have', 'a\0b'],
    ])('is refused to %s', async (_, target) => {
      const storage = await sqliteStorage(path);
      await expect(storage.backup(target as string)).rejects.toMatchObject(INVALID);
      await storage.close();
    });

    it('names the missing directory, and the file that cannot be written', async () => {
      const storage = await sqliteStorage(path);
      await expect(storage.backup(join(directory.path, 'absent', 'a'))).rejects.toMatchObject(INVALID);
      const beneathFile = join(path, 'a');
      await expect(storage.backup(beneathFile)).rejects.toMatchObject(UNAVAILABLE);
      await expect(storage.backup(beneathFile)).rejects.toThrow(beneathFile);
      await storage.close();
    });

    it('reports that it exists when its directory cannot be flushed', async () => {
      const storage = await sqliteStorage(path);
      await storage.commit(creation('a'));
      failToFlush('EIO');
      const outcome = storage.backup(backup);
      await expect(outcome).rejects.toMatchObject({ ...UNAVAILABLE, cause: { code: 'EIO' } });
      await expect(outcome).rejects.toThrow(`${backup} is there`);
      jest.restoreAllMocks();
      expect(integrityOf(backup)).toBe('ok');
      expect(partials()).toEqual([]);
      await storage.close();
    });

    it('can be made of a database in memory', async () => {
      const storage = await sqliteStorage(':memory:');
      await storage.commit(creation('a'));
      await storage.backup(backup);
      const restored = await sqliteStorage(backup);
      expect((await restored.get(flag('a')))?.revision).toBe(1);
      await restored.close();
      await storage.close();
    });

    it("has the host's own tables in it, and is opened with the same prefix", async () => {
      const database = new Database(path);
      database.exec("CREATE TABLE orders (id); INSERT INTO orders VALUES ('first')");
      const storage = await sqliteStorage({ database, tablePrefix: 'feature_' });
      await storage.commit(creation('a'));
      await storage.backup(backup);
      const copy = new Database(backup);
      expect(copy.prepare('SELECT id FROM orders').pluck().all()).toEqual(['first']);
      const restored = await sqliteStorage({ database: copy, tablePrefix: 'feature_' });
      expect((await restored.get(flag('a')))?.revision).toBe(1);
      copy.close();
      database.close();
    });

    it("waits for the host's transaction, and fails after busyTimeout without leaving a file", async () => {
      const database = new Database(path);
      const patient = await sqliteStorage({ database });
      const impatient = await sqliteStorage({ database, busyTimeout: 50 });
      database.exec('BEGIN IMMEDIATE; CREATE TABLE unfinished (id)');
      await expect(impatient.backup(backup)).rejects.toMatchObject(busy);
      expect(readdirSync(directory.path).filter((file) => file.includes('backup'))).toEqual([]);
      const waiting = patient.backup(backup);
      await setImmediate();
      database.exec('ROLLBACK');
      await waiting;
      expect(integrityOf(backup)).toBe('ok');
      database.close();
    });

    inWorker("is made beside the host's connection", async () => {
      const ran: string[] = [];
      const database = new Database(path, { verbose: (sql) => ran.push(String(sql)) });
      const storage = await sqliteStorage({ database });
      await storage.commit(creation('a'));
      await storage.backup(backup);
      expect(ran.filter((sql) => sql.includes('VACUUM'))).toEqual([]);
      expect(integrityOf(backup)).toBe('ok');
      database.close();
    });

    it('is made on a connection whose driver a worker cannot load', async () => {
      let Other = Database;
      jest.isolateModules(() => {
        const loaded = require('better-sqlite3');
        Other = loaded.default ?? loaded;
      });
      const ran: string[] = [];
      const database = new Other(path, { verbose: (sql) => ran.push(String(sql)) });
      const storage = await sqliteStorage({ database });
      await storage.commit(creation('a'));
      await storage.backup(backup);
      expect(ran.filter((sql) => sql.includes('VACUUM'))).toHaveLength(1);
      expect(integrityOf(backup)).toBe('ok');
      database.close();
    });

    it('is made of a handle of node:sqlite', async () => {
      const sqlite = findNodeSqlite();
      if (!sqlite) return;
      const database = new sqlite.DatabaseSync(path, { timeout: 0 });
      const storage = await sqliteStorage({ database });
      await storage.commit(creation('a'));
      await storage.backup(backup);
      const copy = new sqlite.DatabaseSync(backup, { timeout: 0 });
      expect((await (await sqliteStorage({ database: copy })).get(flag('a')))?.revision).toBe(1);
      copy.close();
      database.close();
    });

    it('is finished before the storage closes, and refused afterwards', async () => {
      const storage = await sqliteStorage(path);
      await fill(storage, 500);
      const made = storage.backup(backup);
      await storage.close();
      expect(integrityOf(backup)).toBe('ok');
      await made;
      await expect(storage.backup(`${backup}-2`)).rejects.toMatchObject(closed);
    });
  });

  describe('an interrupted backup', () => {
    it('leaves nothing where the database is damaged, and can be repeated when it is put right', async () => {
      const storage = await sqliteStorage(path);
      await fill(storage, 500);
      await storage.close();
      const whole = readFileSync(path);
      writeFileSync(path, Buffer.from(whole).fill(255, whole.length / 2, whole.length / 2 + 8192));
      const damaged = await sqliteStorage(path);
      await expect(damaged.backup(backup)).rejects.toMatchObject(UNAVAILABLE);
      expect(readdirSync(directory.path).filter((file) => file.includes('backup'))).toEqual([]);
      await damaged.close();
      writeFileSync(path, whole);
      const mended = await sqliteStorage(path);
      await mended.backup(backup);
      expect(integrityOf(backup)).toBe('ok');
      await mended.close();
    });

    it('leaves nothing when the disk fails to flush it', async () => {
      const storage = await sqliteStorage(path);
      failToFlush('EIO', 'file');
      await expect(storage.backup(backup)).rejects.toMatchObject({ ...UNAVAILABLE, cause: { code: 'EIO' } });
      jest.restoreAllMocks();
      expect(readdirSync(directory.path).filter((file) => file.includes('backup'))).toEqual([]);
      await storage.close();
    });

    inWorker('names the function that an index of the host needs', async () => {
      const database = new Database(path);
      database.function('shorten', { deterministic: true }, (text: unknown) => String(text).slice(0, 3));
      database.exec(
        "CREATE TABLE orders (id); CREATE INDEX short ON orders (shorten(id)); INSERT INTO orders VALUES ('a')",
      );
      const storage = await sqliteStorage({ database });
      await expect(storage.backup(backup)).rejects.toMatchObject(UNAVAILABLE);
      await expect(storage.backup(backup)).rejects.toThrow('shorten');
      expect(partials()).toEqual([]);
      database.close();
    });

    it('is complete although the host closes its handle meanwhile', async () => {
      const database = new Database(path);
      const storage = await sqliteStorage({ database });
      await fill(storage, 500);
      const made = storage.backup(backup);
      await setImmediate();
      database.close();
      await made;
      expect(integrityOf(backup)).toBe('ok');
      await expect(storage.backup(`${backup}-2`)).rejects.toMatchObject(closed);
      expect(partials()).toEqual([]);
    });

    it('leaves no file of its name behind when the process is killed', async () => {
      const storage = await sqliteStorage(path);
      await fill(storage, 200);
      const child = childProgram('backing-up', directory.path)(path);
      await nextMessage(child);
      await stop([child]);
      expect(partials()).not.toEqual([]);
      expect(existsSync(`${path}.backup`)).toBe(false);
      await storage.backup(`${path}.backup`);
      expect(integrityOf(`${path}.backup`)).toBe('ok');
      await storage.close();
    });
  });

  describe('restoring a backup', () => {
    it('restores the data after the old -wal and -shm are deleted', async () => {
      const flags = await openFlags({ storage: sqliteStorage(path) });
      await flags.createFlag({ project: 'default' }, { name: 'checkout' });
      await flags.close();
      const storage = await sqliteStorage(path);
      await storage.backup(backup);
      await storage.close();
      const later = await openFlags({ storage: sqliteStorage(path) });
      await later.archiveFlag({ project: 'default', flag: 'checkout' });
      await later.close();

      for (const suffix of ['-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true });
      copyFileSync(backup, path);
      const restored = await openFlags({ storage: sqliteStorage(path) });
      expect((await restored.listFlags({ project: 'default' })).items.map(({ name }) => name)).toEqual(['checkout']);
      await restored.close();
    });
  });

  function partials(): readonly string[] {
    return readdirSync(directory.path).filter((file) => file.includes('.partial'));
  }
});

describe('a finished file', () => {
  let directory: ReturnType<typeof temporaryDirectory>;
  let finished: string;
  let target: string;

  beforeEach(async () => {
    directory = temporaryDirectory();
    finished = join(directory.path, 'finished');
    target = join(directory.path, 'target');
    await fs.writeFile(finished, 'new');
  });

  afterEach(() => {
    jest.restoreAllMocks();
    directory.remove();
  });

  it('gets its final name, and loses the temporary one', async () => {
    await publishFile(finished, target);
    expect(await fs.readdir(directory.path)).toEqual(['target']);
    expect(await fs.readFile(target, 'utf8')).toBe('new');
  });

  it('never replaces another file', async () => {
    await fs.writeFile(target, 'old');
    await expect(publishFile(finished, target)).rejects.toMatchObject({ code: 'EEXIST' });
    expect(await fs.readFile(target, 'utf8')).toBe('old');
  });

  it.each(['EPERM', 'ENOTSUP'])('is renamed where links fail with %s', async (code) => {
    jest.spyOn(fs, 'link').mockRejectedValue(fault(code));
    await publishFile(finished, target);
    expect(await fs.readdir(directory.path)).toEqual(['target']);
  });

  it.each(['EINVAL', 'ENOTSUP'])('is published where flushing a directory fails with %s', async (code) => {
    failToFlush(code);
    await publishFile(finished, target);
    expect(await fs.readdir(directory.path)).toEqual(['target']);
  });

  it('exists when the disk fails to flush the directory, with an error that its name is not durable', async () => {
    failToFlush('EIO');
    await expect(publishFile(finished, target)).rejects.toMatchObject({
      name: 'NameNotDurable',
      cause: { code: 'EIO' },
    });
    expect(await fs.readdir(directory.path)).toEqual(['target']);
  });
});
