import { createFlags, type Flags } from '@flags/core';
import { sqliteStorage } from '@flags/core/sqlite';

const shared = globalThis as typeof globalThis & { flags?: Promise<Flags> };

/**
 * Returns the engine of this process. The first request opens it, because a build evaluates modules as well. Next.js may
 * evaluate this module again, so the engine is a property of `globalThis`.
 */
export function getFlags(): Promise<Flags> {
  shared.flags ??= createFlags({ storage: sqliteStorage(process.env.FLAGS_DB ?? './flags.db') });
  return shared.flags;
}
