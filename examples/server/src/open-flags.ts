import { createFlags, type Flags, type FlagsStorage, memoryStorage } from '@flags/core';
import { sqliteStorage } from '@flags/core/sqlite';
import { postgresStorage } from '@flags/postgres';
import { ConfigError, type StorageConfig } from './config.js';
import { isPostgres, nameOfDatabase } from './database-name.js';

/**
 * Opens the flags kept in a PostgreSQL database; in a SQLite file, which is created if it is missing; or in memory for
 * `:memory:`.
 *
 * @throws ConfigError when the database cannot be used
 */
export async function openFlags({
  database,
  environment,
  stateLimit,
  recentContexts,
}: Omit<StorageConfig, 'adminToken' | 'consumers'>): Promise<Flags> {
  const options = {
    environment,
    ...(stateLimit !== undefined && { stateLimit }),
    ...(recentContexts !== undefined && { recentContexts }),
  };
  if (database === ':memory:') return createFlags({ ...options, storage: memoryStorage() });
  try {
    return await createFlags({ ...options, storage: await openStorage(database) });
  } catch (cause) {
    const name = JSON.stringify(nameOfDatabase(database));
    throw new ConfigError(`FLAGS_DB: ${name} cannot be used (${oneLine(cause)}). ${adviceFor(database)}`, { cause });
  }
}

async function openStorage(database: string): Promise<FlagsStorage> {
  return isPostgres(database) ? postgresStorage(database) : sqliteStorage(database);
}

function adviceFor(database: string): string {
  return isPostgres(database)
    ? 'Name a database that exists and can be reached: postgres://user:password@host:5432/database.'
    : 'Name a SQLite file, or a new one, in a directory that exists and that you may write to; a PostgreSQL database ' +
        'by postgres://user:password@host:5432/database; or ":memory:".';
}

function oneLine(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.replaceAll(/\s+/g, ' ').replace(/\.$/, '');
}
