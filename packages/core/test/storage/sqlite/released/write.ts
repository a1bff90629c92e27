import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import Database from 'better-sqlite3';
import { createFlags } from '../../../../src/index.js';
import { sqliteStorage } from '../../../../src/sqlite.js';
import { liveIn, liveOn, reproducible } from './lived-in.js';
import { storedIn } from './stored.js';

/** Writes the files `<name>.db.gz` and `<name>.json` with the code that is here; see the README beside it. */
async function write(name: string): Promise<void> {
  const path = `${name}.db`;
  const flags = await createFlags({ storage: sqliteStorage(path), ...reproducible() });
  await liveIn(flags);
  await liveOn(flags);
  await flags.close();
  const storage = await sqliteStorage(path);
  writeFileSync(`${name}.json`, `${JSON.stringify(await storedIn(storage), undefined, 2)}\n`);
  await storage.close();
  new Database(path).exec('VACUUM').close();
  writeFileSync(`${name}.db.gz`, gzipSync(readFileSync(path), { level: 9 }));
  rmSync(path);
}

void write(process.argv[2] ?? '');
