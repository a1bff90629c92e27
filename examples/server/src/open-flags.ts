import { createFlags, type Flags, memoryStorage } from '@flags/core';
import { sqliteStorage } from '@flags/core/sqlite';
import { ConfigError } from './config.js';

/**
 * Opens the flags kept in a SQLite file, which is created when it is not there, or in memory for `:memory:`.
 *
 * @throws ConfigError when the file cannot be used
 */
export async function openFlags(database: string): Promise<Flags> {
  if (database === ':memory:') return createFlags({ storage: memoryStorage() });
  try {
    return await createFlags({ storage: sqliteStorage(database) });
  } catch (cause) {
    throw new ConfigError(
      `FLAGS_DB: ${JSON.stringify(database)} cannot be used (${oneLine(cause)}). ` +
        'Name a SQLite file, or a new one, in a directory that exists and that you may write to; or ":memory:".',
      { cause },
    );
  }
}

function oneLine(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.replaceAll(/\s+/g, ' ').replace(/\.$/, '');
}
