// The tests of every JavaScript runtime: the conformance suites on memory and on node:sqlite, the public client
// specification, and the router over real HTTP. Runs on the compiled packages: `node suite.mjs`, `bun suite.mjs`, `deno run -A suite.mjs`.
import './plain-runner.mjs';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { memoryStorage } from '../../packages/core/dist/index.js';
import { sqliteStorage } from '../../packages/core/dist/sqlite.js';
import { storageConformance } from '../../packages/core/dist/testing.js';
import { runAll } from './plain-runner.mjs';
import { declareRouterCases } from './router-cases.mjs';
import { declareSpecificationCases } from './specification-cases.mjs';

storageConformance('memoryStorage', () => ({ storage: memoryStorage() }));

/** Opens the host's handles, so that the suite does not depend on better-sqlite3. */
async function onNodeSqlite({ DatabaseSync }) {
  const directory = mkdtempSync(join(tmpdir(), 'flags-node-sqlite-'));
  const handles = [];
  const again = () => {
    const database = new DatabaseSync(join(directory, 'flags.db'), { timeout: 0 });
    database.exec('PRAGMA journal_mode = WAL');
    handles.push(database);
    return sqliteStorage({ database });
  };
  const dispose = () => {
    for (const database of handles) database.close();
    rmSync(directory, { recursive: true });
  };
  const storage = await again();
  return { storage, again, dispose };
}

const sqlite = process.getBuiltinModule?.('node:sqlite');
if (sqlite) storageConformance('sqliteStorage on node:sqlite', () => onNodeSqlite(sqlite));
declareSpecificationCases();
declareRouterCases();
await runAll();
