import type { SqliteDatabase, SqliteStatement } from './database.js';

/** The part of a `DatabaseSync` of `node:sqlite` that the library uses. */
export interface NodeDatabase {
  readonly isOpen: boolean;
  readonly isTransaction: boolean;
  prepare(sql: string): NodeStatement;
  exec(sql: string): void;
  close(): void;
}

/** A `StatementSync` of `node:sqlite`. */
export interface NodeStatement {
  run(...parameters: never[]): { readonly changes: number | bigint; readonly lastInsertRowid: number | bigint };
  get(...parameters: never[]): unknown;
  all(...parameters: never[]): unknown[];
  setAllowUnknownNamedParameters(enabled: boolean): void;
  setReadBigInts(enabled: boolean): void;
  setReturnArrays(enabled: boolean): void;
}

interface NodeOptions {
  readonly timeout: number;
  readonly readOnly?: boolean;
}

/** The part of `node:sqlite` that the library uses. */
export interface NodeSqlite {
  readonly DatabaseSync: new (path: string, options: NodeOptions) => NodeDatabase;
  readonly StatementSync: { readonly prototype: object };
}

/**
 * Returns `node:sqlite` if this runtime has the parts that the library needs: Node 22.16, 24.0 and newer. Uses
 * `getBuiltinModule`: bundlers and other runtimes lack the module.
 */
export function findNodeSqlite(): NodeSqlite | undefined {
  const sqlite = process.getBuiltinModule?.('node:sqlite') as Partial<NodeSqlite> | undefined;
  if (!sqlite?.DatabaseSync) return undefined;
  // Added in the same release as `isTransaction`, which only an open database has.
  return 'setReturnArrays' in (sqlite.StatementSync?.prototype ?? {}) ? (sqlite as NodeSqlite) : undefined;
}

/** Whether a database has the members of a `DatabaseSync`, and not those of better-sqlite3. */
export function isNodeDatabase(database: SqliteDatabase | NodeDatabase): database is NodeDatabase {
  return !('pragma' in database) && 'isTransaction' in database;
}

const adapted = new WeakMap<NodeDatabase, SqliteDatabase>();
const adapters = new WeakSet<SqliteDatabase>();

/** Whether a database is one of `node:sqlite`. */
export function isAdapted(database: SqliteDatabase): boolean {
  return adapters.has(database);
}

/** Adapts a `DatabaseSync` to the interface of better-sqlite3. Returns the same object for the same database. */
export function adaptNodeDatabase(database: NodeDatabase): SqliteDatabase {
  const known = adapted.get(database) ?? adapt(database);
  adapted.set(database, known);
  adapters.add(known);
  return known;
}

function adapt(database: NodeDatabase): SqliteDatabase {
  const prepare = (sql: string) => adaptStatement(withDriverCodes(() => database.prepare(sql)));
  return {
    get open() {
      return database.isOpen;
    },
    get inTransaction() {
      return database.isOpen && database.isTransaction;
    },
    prepare,
    exec: (sql) => withDriverCodes(() => database.exec(sql)),
    pragma(source, options) {
      const statement = prepare(`PRAGMA ${source}`);
      if (!options?.simple) return statement.all();
      statement.pluck();
      return statement.get();
    },
    close: () => {
      if (database.isOpen) database.close();
    },
  };
}

function adaptStatement(statement: NodeStatement): SqliteStatement {
  // better-sqlite3 ignores parameters that the statement does not name.
  statement.setAllowUnknownNamedParameters(true);
  let isPlucked = false;
  const first = (row: unknown) => (row as readonly unknown[] | undefined)?.[0];
  const adapted: SqliteStatement = {
    run(...parameters) {
      const { changes, lastInsertRowid } = withDriverCodes(() => statement.run(...(parameters as never[])));
      return { changes: Number(changes), lastInsertRowid };
    },
    get(...parameters) {
      const row = withDriverCodes(() => statement.get(...(parameters as never[])));
      return isPlucked ? first(row) : row;
    },
    all(...parameters) {
      const rows = withDriverCodes(() => statement.all(...(parameters as never[])));
      return isPlucked ? rows.map(first) : rows;
    },
    safeIntegers(toggle = true) {
      statement.setReadBigInts(toggle);
      return adapted;
    },
    raw(toggle = true) {
      statement.setReturnArrays(toggle);
      return adapted;
    },
    pluck(toggle = true) {
      isPlucked = toggle;
      statement.setReturnArrays(toggle);
      return adapted;
    },
  };
  return adapted;
}

/** The names of the result codes that the library handles. */
const CODES: Readonly<Record<number, string>> = {
  3: 'PERM',
  5: 'BUSY',
  8: 'READONLY',
  10: 'IOERR',
  11: 'CORRUPT',
  13: 'FULL',
  14: 'CANTOPEN',
  15: 'PROTOCOL',
  22: 'NOLFS',
  26: 'NOTADB',
};
/** `SQLITE_IOERR_WRITE`, the only extended code that matters: a failed commit has then changed nothing. */
const WRITE_FAILED = 10 | (3 << 8);

/** Gives errors of `node:sqlite` the codes of better-sqlite3, such as `SQLITE_BUSY`. */
function withDriverCodes<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw withDriverCode(error);
  }
}

/** Gives an error of `node:sqlite` the code of better-sqlite3. Returns other errors unchanged. */
export function withDriverCode(error: unknown): unknown {
  const { code, errcode } = Object(error) as { readonly code?: unknown; readonly errcode?: unknown };
  if (code !== 'ERR_SQLITE_ERROR' || typeof errcode !== 'number') return error;
  const name = errcode === WRITE_FAILED ? 'IOERR_WRITE' : (CODES[errcode & 0xff] ?? 'ERROR');
  return Object.assign(error as Error, { code: `SQLITE_${name}` });
}

/** Opens a database file, or `:memory:`. */
export function openNodeDatabase({ DatabaseSync }: NodeSqlite, path: string, options: NodeOptions): SqliteDatabase {
  return adaptNodeDatabase(withDriverCodes(() => new DatabaseSync(path, options)));
}
