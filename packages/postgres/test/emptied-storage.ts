import type { Storage } from '@flags/core';
import { postgresStorage } from '../src/index.js';
import { ownDatabase } from './own-database.js';

interface Emptied {
  readonly storage: Storage;
  /** The statements that empty it. */
  readonly empty: string;
}

/**
 * Storages for the tests of a file, by name. Tests take each in turn: opening one for each of hundreds takes longer than they
 * do.
 */
export function emptiedStorages(): (name?: string) => Promise<Storage> {
  const { url, ask } = ownDatabase();
  const opened = new Map<string, Promise<Emptied>>();

  async function open(schema: string): Promise<Emptied> {
    const storage = await postgresStorage({ connectionString: url(), schema, listen: false });
    const tables = await ask('SELECT tablename AS name FROM pg_tables WHERE schemaname = $1', [schema]);
    const kept = tables.map(({ name }) => String(name)).filter((name) => name !== 'flags_meta');
    // TRUNCATE makes new files: for a few rows, that takes longer.
    return { storage, empty: kept.map((name) => `DELETE FROM "${schema}".${name};`).join(' ') };
  }

  afterAll(async () => {
    for (const { storage } of await Promise.all(opened.values())) await storage.close();
  });

  return async (name = 'public') => {
    const opening = opened.get(name) ?? open(name);
    opened.set(name, opening);
    const { storage, empty } = await opening;
    await ask(empty);
    // Whoever has it in turn closes it when done: the next one goes on with it.
    // It is as if it listened, so that what is known is decided on; there is nobody to be heard.
    return { ...storage, watch: () => () => undefined, close: () => undefined };
  };
}
