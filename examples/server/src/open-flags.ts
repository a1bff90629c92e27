import { type Flags, type FlagsStorage, memoryStorage, openFlags } from '@flags/core';
import { sqliteStorage } from '@flags/core/sqlite';
import { instrumentStorage } from '@flags/opentelemetry';
import { postgresStorage } from '@flags/postgres';
import type { MeterProvider } from '@opentelemetry/api';
import { ConfigError, type StorageConfig } from './config.js';
import { isPostgres, nameOfDatabase } from './database-name.js';

/**
 * Opens the flags kept in a PostgreSQL database; in a SQLite file, which is created if it is missing; or in memory for
 * `:memory:`. Measures the operations of the storage.
 *
 * @throws ConfigError when the database cannot be used
 */
export async function openOwnFlags(
  { database, environment, recentContexts }: Omit<StorageConfig, 'adminToken' | 'consumers'>,
  telemetry: { readonly meterProvider: MeterProvider },
): Promise<Flags> {
  const options = {
    environment,
    due: { run: true },
    ...(recentContexts !== undefined && { recentContexts }),
  };
  try {
    return await openFlags({ ...options, storage: instrumentStorage(await openStorage(database), telemetry) });
  } catch (cause) {
    const name = JSON.stringify(nameOfDatabase(database));
    throw new ConfigError(`FLAGS_DB: ${name} cannot be used (${oneLine(cause)}). ${adviceFor(database)}`, { cause });
  }
}

async function openStorage(database: string): Promise<FlagsStorage> {
  if (database === ':memory:') return memoryStorage();
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
