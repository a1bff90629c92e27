import type { Storage } from '@flags/core';
import { postgresStorage } from '../src/index.js';
import { ownDatabase } from './own-database.js';

/** One storage for the tests of a file, which take it in turn: opening one for each of hundreds takes longer than they do. */
export function emptiedStorage(): () => Promise<Storage> {
  const { url, ask } = ownDatabase();
  let storage: Storage;
  let empty: string;

  beforeAll(async () => {
    storage = await postgresStorage({ connectionString: url(), listen: false });
    const tables = await ask("SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'");
    const kept = tables.map(({ name }) => String(name)).filter((name) => name !== 'flags_meta');
    // TRUNCATE makes new files: for a few rows, that takes longer.
    empty = kept.map((name) => `DELETE FROM ${name};`).join(' ');
  });
  afterAll(() => storage.close());

  return async () => {
    await ask(empty);
    // Whoever has it in turn closes it when done: the next one goes on with it.
    return { ...storage, close: () => undefined };
  };
}
