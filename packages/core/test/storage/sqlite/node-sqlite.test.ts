import { fork } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import { findNodeSqlite, type NodeDatabase } from '../../../src/storage/sqlite/node-database.js';
import { sqliteStorage } from '../../../src/storage/sqlite/storage.js';
import { storageConformance } from '../../../src/testing/storage/conformance.js';
import { temporaryDirectory } from '../temporary-directory.js';
import { nextMessage } from './child-program.js';

const sqlite = findNodeSqlite();
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);

it('finds the SQLite of Node from 22.16 on', () => {
  expect(sqlite !== undefined).toBe(major > 22 || (major === 22 && minor >= 16));
});

if (sqlite) {
  storageConformance('sqliteStorage of a DatabaseSync of the host', async () => {
    const directory = temporaryDirectory();
    const handles: NodeDatabase[] = [];
    const openStorage = () => {
      const database = new sqlite.DatabaseSync(join(directory.path, 'host.db'), { timeout: 0 });
      database.exec('PRAGMA journal_mode = WAL');
      handles.push(database);
      return sqliteStorage({ database, tablePrefix: 'Feature_2_' });
    };
    const dispose = () => {
      for (const database of handles) database.close();
      directory.remove();
    };
    return { storage: await openStorage(), again: openStorage, dispose };
  });
}

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
