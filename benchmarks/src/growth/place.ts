import { statSync } from 'node:fs';
import { join } from 'node:path';
import { createFlags, type Flags, memoryStorage } from '@flags/core';
import { sqliteStorage } from '@flags/core/sqlite';
import type { Population } from './population.js';

export const PLACES = ['memory', 'SQLite'] as const;
export type PlaceName = (typeof PLACES)[number];

/** Where flags are kept, to be opened again and again. */
export interface Place {
  open(): Promise<Flags>;
  /** Fills it where that is quicker than by the engine's operations. */
  fill?(population: Population): Promise<void>;
  /** Bytes of the file; undefined when there is none. */
  size(): number | undefined;
}

/** @param path no file may be there */
export function placeOf(name: PlaceName, folder: string): Place {
  if (name === 'memory') return memoryPlace();
  const path = join(folder, `${process.hrtime.bigint()}.db`);
  return { open: () => createFlags({ storage: sqliteStorage(path) }), size: () => statSync(path).size };
}

/** A storage in memory ends with its instance, so instances are opened on one that does not close. */
function memoryPlace(): Place {
  const storage = memoryStorage();
  const kept = { ...storage, close: () => undefined };
  return { open: () => createFlags({ storage: kept }), size: () => undefined };
}
