import Database from 'better-sqlite3';
import type { FlagsStorage } from '../../../src/storage/port.js';
import { newEvent } from '../samples.js';

/** Documents of a separate kind, of about a page each. */
export async function fill(storage: FlagsStorage, documents: number): Promise<void> {
  const body = { text: 'x'.repeat(4000) };
  const commits = Array.from({ length: documents }, (_, index) => {
    const key = { kind: 'filler', id: `${index}` };
    const event = { ...newEvent(''), subject: key };
    return storage.commit({ writes: [{ key, expected: 0, parent: null, body, summary: null }], events: [event] });
  });
  await Promise.all(commits);
}

export async function eventsIn(storage: FlagsStorage) {
  return (await storage.events({ order: 'oldest-first', limit: 1_000_000 })).events;
}

export function integrityOf(file: string): unknown {
  const database = new Database(file, { readonly: true });
  const integrity = database.pragma('integrity_check', { simple: true });
  database.close();
  return integrity;
}
