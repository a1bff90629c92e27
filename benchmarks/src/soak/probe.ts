import { statSync } from 'node:fs';
import Database from 'better-sqlite3';

/** The content of the file. */
export interface FileSample {
  /** Bytes. */
  readonly file: number;
  readonly log: number;
  /** Rows. */
  readonly events: number;
  /** Counts by second and minute. */
  readonly counters: number;
  readonly applications: number;
}

export interface Probe {
  sample(): FileSample;
  close(): void;
}

/** Reads the file from another process, between transactions. */
export function openProbe(path: string): Probe {
  const database = new Database(path, { readonly: true });
  const count = (rows: string) =>
    (database.prepare(`SELECT COUNT(*) AS count FROM flags_${rows}`).get() as { readonly count: number }).count;
  return {
    sample: () => ({
      file: statSync(path).size,
      log: statSync(`${path}-wal`).size,
      events: count('events'),
      counters: count('counts WHERE resolution < 2'),
      applications: count('applications'),
    }),
    close: () => void database.close(),
  };
}
