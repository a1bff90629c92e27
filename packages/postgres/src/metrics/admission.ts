import { type DroppedMetrics, LIMITS } from '@flags/core';
import type { Database } from '../database.js';
import { fromStoredText, type TableNames, toStoredText } from '../tables.js';

/** Which applications may be written: those that are stored, and further ones while there is room. */
export interface Admission {
  /** Gives the names that may be. Other nodes may admit at the same moment: the limit may be exceeded by a few. */
  admit(names: readonly string[]): Promise<ReadonlySet<string>>;
  /** Looks again for every application: some may be gone. */
  clear(): void;
}

/** Remembers what it has admitted: a usual report costs no look-up. */
export function createAdmission(database: Database, { table }: TableNames): Admission {
  const known = new Set<string>();

  async function look(names: readonly string[]): Promise<void> {
    const stored = await database.query<{ readonly name: string }>(
      `SELECT name FROM ${table('applications')} WHERE name = ANY ($1::text[])`,
      [names.map(toStoredText)],
    );
    for (const { name } of stored) known.add(fromStoredText(name));
    const further = names.filter((name) => !known.has(name));
    if (further.length === 0) return;
    const [row] = await database.query<{ readonly count: string }>(`SELECT count(*) FROM ${table('applications')}`);
    const room = Math.max(0, LIMITS.applications - Number(row?.count));
    for (const name of further.slice(0, room)) known.add(name);
  }

  return {
    async admit(names) {
      const wanted = new Set(names);
      const missing = [...wanted].filter((name) => !known.has(name));
      if (known.size + missing.length > 2 * LIMITS.applications) known.clear();
      try {
        if (missing.length > 0) await look(known.size === 0 ? [...wanted] : missing);
      } catch {
        // The write that follows fails too, or else the connection was lost for a moment: a report is worth more than a limit.
        for (const name of wanted) known.add(name);
      }
      return new Set([...wanted].filter((name) => known.has(name)));
    },
    clear: () => known.clear(),
  };
}

/** Adds up what limits keep from being stored. */
export function createDroppedCount() {
  let [names, reports] = [0, 0];
  const dropped: DroppedMetrics = {
    get names() {
      return names;
    },
    get reports() {
      return reports;
    },
  };
  return {
    dropped,
    add(more: DroppedMetrics): void {
      names += more.names;
      reports += more.reports;
    },
  };
}

/** So many names may be reported in one millisecond. */
const PER_MILLISECOND = 1000;

/** The least rank of a name that was reported at a time. */
export function rankOf(at: number): number {
  return at * PER_MILLISECOND;
}

/** Gives every reported name a greater rank than the one before, so that the most recent of one moment are known too. */
export function createRanks(): (at: number) => number {
  let latest = 0;
  return (at) => {
    latest = Math.max(latest + 1, rankOf(at));
    return latest;
  };
}
