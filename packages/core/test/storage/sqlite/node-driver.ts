/*
 * Replaces better-sqlite3 with `FLAGS_SQLITE=node`: all tests then run on the SQLite of Node. See jest.config.ts and
 * child-program.ts.
 */
import type { SqliteDatabase } from '../../../src/storage/sqlite/database.js';
import { findNodeSqlite, openNodeDatabase } from '../../../src/storage/sqlite/node-database.js';

interface Options {
  readonly timeout?: number;
  readonly readonly?: boolean;
  readonly verbose?: (sql: string) => void;
}

/** A database of `node:sqlite` in the form of better-sqlite3, as far as the library and its tests use it. */
function Database(path: string, options: Options = {}): object {
  const sqlite = findNodeSqlite();
  if (!sqlite) throw new Error(`Node ${process.versions.node} has no SQLite that fits.`);
  const { timeout = 5_000, readonly = false, verbose = () => undefined } = options;
  const integers = { areBig: false };
  const database = observed(openNodeDatabase(sqlite, path, { timeout, readOnly: readonly }), verbose, integers);
  const defaultSafeIntegers = (toggle = true) => {
    integers.areBig = toggle;
  };
  const transaction = (work: () => void) => () => {
    database.exec('BEGIN');
    work();
    database.exec('COMMIT');
  };
  return Object.assign(database, { defaultSafeIntegers, transaction });
}

/** Calls `verbose` with every statement that runs. */
function observed(
  database: SqliteDatabase,
  verbose: (sql: string) => void,
  integers: { readonly areBig: boolean },
): SqliteDatabase {
  const prepare = (sql: string) => {
    const statement = database.prepare(sql);
    statement.safeIntegers(integers.areBig);
    const run = <Result>(work: () => Result) => {
      verbose(sql);
      return work();
    };
    return {
      ...statement,
      run: (...parameters: unknown[]) => run(() => statement.run(...parameters)),
      get: (...parameters: unknown[]) => run(() => statement.get(...parameters)),
      all: (...parameters: unknown[]) => run(() => statement.all(...parameters)),
      safeIntegers(toggle = true) {
        statement.safeIntegers(toggle);
        return this;
      },
      raw(toggle = true) {
        statement.raw(toggle);
        return this;
      },
      pluck(toggle = true) {
        statement.pluck(toggle);
        return this;
      },
    };
  };
  return Object.defineProperties(
    {
      ...database,
      prepare,
      exec(sql: string) {
        verbose(sql);
        return database.exec(sql);
      },
    },
    { open: { get: () => database.open }, inTransaction: { get: () => database.inTransaction } },
  );
}

// biome-ignore lint/style/noDefaultExport: as better-sqlite3 exports it
export default Database;
