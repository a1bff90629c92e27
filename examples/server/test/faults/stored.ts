import { openFlags } from '@flags/core';
import { sqliteStorage } from '@flags/core/sqlite';
import Database from 'better-sqlite3';
import { expectInvariants } from '../../../../packages/core/test/invariants/invariants.js';
import { COUNTED } from './flag-life.js';

/** The content of a file that servers have written to. */
export interface Stored {
  /**
   * The number of occurrences of each event in the log, by the flag's name and the event's type: `checkout
   * flag-created`.
   */
  readonly events: ReadonlyMap<string, number>;
  /** The number of reports that {@link COUNTED} was on. */
  readonly counted: number;
}

export function expectSoundFile(file: string): void {
  const database = new Database(file);
  try {
    expect(database.pragma('integrity_check', { simple: true })).toBe('ok');
  } finally {
    database.close();
  }
}

/** Reads a file, and expects that every document equals its replayed events and that no invariant is broken. */
export async function readStored(file: string): Promise<Stored> {
  expectSoundFile(file);
  const storage = await sqliteStorage(file);
  await expectInvariants(storage);
  const { events } = await storage.events({ order: 'oldest-first', limit: 1_000_000 });
  const flags = await openFlags({ storage, pollInterval: 0, usage: { interval: 0 } });
  const counts = new Map<string, number>();
  for (const { subject, type } of events) {
    const name = `${subject.id} ${type}`;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const { lastHour } = await flags.usage.count();
  await flags.close();
  return { events: counts, counted: lastHour.get(COUNTED)?.yes ?? 0 };
}
