import { prepare, type SqliteDatabase, type SqliteStatement } from './database.js';

/** Prepares each text once; for statements whose few texts differ by what a query names. */
export function statementsByText(database: SqliteDatabase): (sql: string) => SqliteStatement {
  const prepared = new Map<string, SqliteStatement>();
  return (sql) => {
    const statement = prepared.get(sql) ?? prepare(database, sql);
    prepared.set(sql, statement);
    return statement;
  };
}
