import { prepareRaw, type SqliteDatabase, type SqliteStatement } from './database.js';

/** Prepares each text once, with rows as arrays; for statements whose few texts differ by what a query names. */
export function statementsByText(database: SqliteDatabase): (sql: string) => SqliteStatement {
  const prepared = new Map<string, SqliteStatement>();
  return (sql) => {
    const statement = prepared.get(sql) ?? prepareRaw(database, sql);
    prepared.set(sql, statement);
    return statement;
  };
}
