import { randomUUID } from 'node:crypto';
import type { SqliteDatabase, SqliteStatement } from '@flags/core/sqlite';
import type Database from 'better-sqlite3';
import { placeAt } from '../population.js';

/** One statement that has changed rows, with its values. */
interface Write {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

const CHANGES = /^\s*(INSERT|UPDATE|DELETE)/i;

/** Returns a handle of the same database, and the writes that are made with it. */
export function recordWrites(database: Database.Database): {
  readonly database: SqliteDatabase;
  readonly writes: Write[];
} {
  const writes: Write[] = [];
  const prepare = (sql: string): SqliteStatement => {
    const statement = database.prepare(sql);
    if (!CHANGES.test(sql)) return statement;
    const recorded =
      <Result>(call: (...parameters: unknown[]) => Result) =>
      (...parameters: unknown[]) => {
        writes.push({ sql, parameters });
        return call.apply(statement, parameters);
      };
    return new Proxy(statement, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== 'function') return member;
        return name === 'run' || name === 'get' ? recorded(member as () => unknown) : member.bind(target);
      },
    });
  };
  const wrapped = new Proxy(database, {
    get(target, name) {
      if (name === 'prepare') return prepare;
      const member: unknown = Reflect.get(target, name);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
  return { database: wrapped as SqliteDatabase, writes };
}

const ID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/;
const FLAG = /flag-(\d{5})/g;

/**
 * Returns a function that makes recorded writes again, for other flags and with another id each time, in one transaction
 * that is flushed as the library flushes it.
 *
 * @param among the number of flags, which are written in turn
 */
export function repeatWrites(database: Database.Database, writes: readonly Write[], among: number): () => void {
  // The id of the change set or the batch is the first one.
  const id = writes
    .flatMap(({ parameters }) => parameters)
    .find((value) => typeof value === 'string' && ID.test(value));
  const prepared = writes.map(({ sql, parameters }) => ({ statement: database.prepare(sql), parameters }));
  const stepOf = new Set(JSON.stringify(writes).match(FLAG)).size;
  let number = 0;
  const transaction = database.transaction(() => {
    number += stepOf;
    const newId = randomUUID();
    const renewed = (value: unknown) => {
      if (typeof value !== 'string') return value;
      if (value === id) return newId;
      return value.replace(FLAG, (_, recorded) => placeAt((Number(recorded) + number) % among).flag);
    };
    for (const { statement, parameters } of prepared) statement.run(...parameters.map(renewed));
  });
  return () => transaction.immediate();
}
