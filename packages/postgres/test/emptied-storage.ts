import type { Storage } from '@flags/core';
import { postgresStorage } from '../src/index.js';
import { ownDatabase } from './own-database.js';

interface Emptied {
  readonly storage: Storage;
  /** SQL that deletes all rows. */
  readonly empty: string;
}

/**
 * Storages for the tests of a file, by name. Tests share them one after the other, because opening a storage takes longer than
 * a test.
 */
export function emptiedStorages(): (name?: string) => Promise<Storage> {
  const { url, ask } = ownDatabase();
  const opened = new Map<string, Promise<Emptied>>();

  async function open(schema: string): Promise<Emptied> {
    const storage = await postgresStorage({ connectionString: url(), schema, listen: false });
    const tables = await ask('SELECT tablename AS name FROM pg_tables WHERE schemaname = $1', [schema]);
    const named = tables.map(({ name }) => String(name)).filter((name) => name !== 'flags_meta');
    // TRUNCATE creates new files, which takes longer for a few rows.
    return { storage, empty: named.map((name) => `DELETE FROM "${schema}".${name};`).join(' ') };
  }

  afterAll(async () => {
    for (const { storage } of await Promise.all(opened.values())) await storage.close();
  });

  return async (name = 'public') => {
    const opening = opened.get(name) ?? open(name);
    opened.set(name, opening);
    const { storage, empty } = await opening;
    await ask(empty);
    // A test closes its storage, and the next test uses it again. With `watch`, the engine decides on its in-memory copy.
    return { ...storage, watch: () => () => undefined, close: () => undefined };
  };
}
