import type { FlagsStorage } from '@flags/core';
import { postgresStorage } from '../src/index.js';
import { deletionOfRows, ownDatabase } from './own-database.js';

interface Emptied {
  readonly storage: FlagsStorage;
  readonly empty: string;
}

/**
 * Storages for the tests of a file, by name. Tests share them one after the other, because opening a storage takes longer than
 * a test.
 */
export function emptiedStorages(): (name?: string) => Promise<FlagsStorage> {
  const database = ownDatabase();
  const opened = new Map<string, Promise<Emptied>>();

  async function open(schema: string): Promise<Emptied> {
    const storage = await postgresStorage({ connectionString: database.url(), schema, listen: false });
    return { storage, empty: await deletionOfRows(database, schema) };
  }

  afterAll(async () => {
    for (const { storage } of await Promise.all(opened.values())) await storage.close();
  });

  return async (name = 'public') => {
    const opening = opened.get(name) ?? open(name);
    opened.set(name, opening);
    const { storage, empty } = await opening;
    await database.ask(empty);
    // A test closes its storage, and the next test uses it again. With `watch`, the engine decides on its in-memory copy.
    return { ...storage, watch: () => () => undefined, close: () => undefined };
  };
}
