import { fork } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { buildSync } from 'esbuild';
import { memoryStorage, openFlags } from '../../../src/index.js';
import { backUpFile } from '../../../src/storage/sqlite/backup.js';
import { chooseDriver, driverRefusal } from '../../../src/storage/sqlite/driver.js';
import { findDriverVersion } from '../../../src/storage/sqlite/driver-version.cjs';
import { findNodeSqlite, type NodeSqlite } from '../../../src/storage/sqlite/node-database.js';
import { explainOpening } from '../../../src/storage/sqlite/open-database.js';
import { sqliteStorage } from '../../../src/storage/sqlite/storage.js';
import { temporaryDirectory } from '../temporary-directory.js';
import { nextMessage } from './child-program.js';

describe('the driver', () => {
  describe('driverRefusal', () => {
    it.each([
      ['13.0.0', '20.20.0', 'Install better-sqlite3@12'],
      ['13.2.1', '22.13.1', 'Install better-sqlite3@12'],
      ['14.0.0', '18.20.8', 'Install better-sqlite3@12'],
      ['12.11.1', '24.19.0', 'Install better-sqlite3@13'],
      ['12.0.0', '26.1.0', 'Install better-sqlite3@13'],
    ])('refuses better-sqlite3 %s on Node %s, and says what to do', (driver, node, advice) => {
      const refusal = driverRefusal({ driver, node });
      expect(refusal).toContain(`better-sqlite3 ${driver}`);
      expect(refusal).toContain(`Node ${node}`);
      expect(refusal).toContain(advice);
    });

    it.each([
      ['12.11.1', '20.20.0'],
      ['12.11.1', '24.18.9'],
      ['13.0.0', '22.14.0'],
      ['13.0.0', '24.0.0'],
      ['13.2.0', '24.19.0'],
      ['', '20.20.0'],
      ['', '26.0.0'],
    ])('accepts better-sqlite3 %s on Node %s', (driver, node) => {
      expect(driverRefusal({ driver, node })).toBeUndefined();
    });
  });

  describe('chooseDriver', () => {
    const own: NodeSqlite = {
      DatabaseSync: class {} as never,
      StatementSync: { prototype: {} },
    };
    const working = class {
      close() {}
    } as never;
    const failing = (error: object) =>
      class {
        constructor() {
          throw Object.assign(new Error(), error);
        }
      } as never;
    const load = async () => working;
    const notInstalled = () => Promise.reject(Object.assign(new Error(), { code: 'ERR_MODULE_NOT_FOUND' }));
    const ofAnotherNode = async () => failing({ code: 'ERR_DLOPEN_FAILED' });
    const withoutBinary = async () => failing({ message: 'Could not locate the bindings file. Tried: …' });

    it.each([
      ['12.11.1', '20.20.0', load, 'better-sqlite3', 'better-sqlite3 12.11.1 is installed'],
      ['', '24.0.0', load, 'better-sqlite3', 'better-sqlite3 is installed'],
      ['13.0.0', '24.19.0', load, 'better-sqlite3', 'better-sqlite3 13.0.0 is installed'],
      ['', '24.0.0', notInstalled, 'node:sqlite', 'better-sqlite3 is not installed'],
      ['12.11.1', '24.0.0', ofAnotherNode, 'node:sqlite', 'better-sqlite3 12.11.1 has no binary for Node 24.0.0'],
      ['12.11.1', '22.16.0', withoutBinary, 'node:sqlite', 'better-sqlite3 12.11.1 has no binary for Node 22.16.0'],
      ['12.11.1', '24.19.0', load, 'node:sqlite', expect.stringContaining('Install better-sqlite3@13.')],
    ])('of better-sqlite3 %j on Node %s', async (version, node, loadOne, name, reason) => {
      const driver = await chooseDriver({ version, node, load: loadOne, findOwn: () => own });
      expect(driver).toMatchObject({ name, reason });
    });

    it('does not load the SQLite of Node beside a better-sqlite3 that works', async () => {
      const findOwn = jest.fn();
      await chooseDriver({ version: '12.11.1', node: '22.16.0', load, findOwn });
      expect(findOwn).not.toHaveBeenCalled();
    });

    const alone = { node: '20.20.0', findOwn: () => undefined };

    it('refuses a driver that would crash where Node has no SQLite', async () => {
      const choice = chooseDriver({ ...alone, version: '13.0.0', load });
      await expect(choice).rejects.toMatchObject({
        code: 'storage_unsupported',
        message: expect.stringContaining('better-sqlite3@12'),
      });
    });

    it.each([ofAnotherNode, withoutBinary])(
      'tells how to repair one without a binary where Node has no SQLite',
      async (loadOne) => {
        const refusal = await chooseDriver({ ...alone, version: '12.11.1', load: loadOne }).catch((error) => error);
        expect(explainOpening(refusal, 'flags.db')).toMatchObject({
          code: 'storage_unsupported',
          message: expect.stringMatching(/^flags\.db cannot be opened: .* npm rebuild better-sqlite3$/),
        });
      },
    );

    it('throws other errors of a driver', async () => {
      const load = async () => failing({ code: 'SQLITE_NOMEM' });
      const choice = chooseDriver({ version: '12.11.1', node: '24.0.0', load, findOwn: () => own });
      await expect(choice).rejects.toMatchObject({ code: 'SQLITE_NOMEM' });
    });
  });

  describe('status().driver', () => {
    it('names the driver, and why', async () => {
      const flags = await openFlags({ storage: sqliteStorage(':memory:') });
      expect(flags.status().driver).toEqual({
        name: 'better-sqlite3',
        reason: expect.stringMatching(/^better-sqlite3 .*is installed$/),
      });
      await flags.close();
    });

    it('names the driver of a handle of the host', async () => {
      const database = new Database(':memory:');
      const storage = await sqliteStorage({ database });
      expect(storage.driver?.reason).toBe('the host opened the database');
      await storage.close();
      database.close();
    });

    it('is absent for other storages', async () => {
      const flags = await openFlags({ storage: memoryStorage() });
      expect(flags.status()).not.toHaveProperty('driver');
      await flags.close();
    });
  });

  describe('driverFrom', () => {
    const directory = temporaryDirectory();
    afterAll(() => directory.remove());

    it('opens a file with the driver of a folder', async () => {
      const [path, copy] = [`${directory.path}/driven.db`, `${directory.path}/driven.backup`];
      const storage = await sqliteStorage({ path, driverFrom: __dirname });
      expect(await storage.list({ kind: 'flag', part: 'summary' })).toEqual([]);
      await storage.close();
      await backUpFile(path, copy, { driverFrom: __dirname });
      expect(existsSync(copy)).toBe(true);
    });

    it('refuses a folder without a driver, and what is not a folder, and makes no file', async () => {
      const path = `${directory.path}/none.db`;
      await expect(sqliteStorage({ path, driverFrom: directory.path })).rejects.toMatchObject({
        code: 'storage_unsupported',
        message: `${directory.path} has no better-sqlite3. Install it there: npm install better-sqlite3@12`,
      });
      for (const driverFrom of ['', 7 as never]) {
        await expect(sqliteStorage({ path, driverFrom })).rejects.toMatchObject({ code: 'invalid_input' });
      }
      expect(existsSync(path)).toBe(false);
    });
  });

  it('reads the version of the installed driver', () => {
    const expected = process.env.FLAGS_SQLITE === 'node' ? /^undefined$/ : /^1[23]\.\d+\.\d+$/;
    expect(String(findDriverVersion())).toMatch(expected);
  });
});

describe('the SQLite of Node', () => {
  const sqlite = findNodeSqlite();
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);

  it('finds the SQLite of Node from 22.16 on', () => {
    expect(sqlite !== undefined).toBe(major > 22 || (major === 22 && minor >= 16));
  });

  describe('sqliteStorage without better-sqlite3', () => {
    const directory = temporaryDirectory();
    afterAll(directory.remove);

    it.each(['cjs', 'esm'] as const)(
      'opens the file by the SQLite of Node, if there is one, in a bundle as %s',
      async (format) => {
        const file = join(directory.path, `opener.${format === 'esm' ? 'mjs' : 'cjs'}`);
        const entryPoints = [join(__dirname, 'children/opener.ts')];
        buildSync({ entryPoints, outfile: file, bundle: true, platform: 'node', format, external: ['better-sqlite3'] });
        const path = join(directory.path, `${format}.db`);
        const child = fork(file, [path], { stdio: ['ignore', 'ignore', 'pipe', 'ipc'], execArgv: [] });
        let complaint = '';
        child.stderr?.on('data', (part) => {
          complaint += String(part);
        });
        expect(await nextMessage(child)).toBe('ready');
        child.send('open');
        if (sqlite) {
          expect(await nextMessage(child)).toBe(true);
          expect(existsSync(path)).toBe(true);
        } else {
          await expect(nextMessage(child)).rejects.toThrow('The child ended with 1');
          expect(complaint).toContain('needs the package better-sqlite3, or Node 22.16 and newer');
          expect(existsSync(path)).toBe(false);
        }
      },
    );
  });
});
