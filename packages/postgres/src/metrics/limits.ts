import { LIMITS } from '@flags/core';
import type { Database } from '../database.js';
import { fromStoredText, type TableNames, toStoredText } from '../tables.js';
import type { MergedReports } from './merge.js';
import type { MetricsLock } from './metrics-lock.js';

/** Decides which applications may be stored: known ones, and new ones while there is room. */
export interface Admission {
  /** Returns the admitted names. Nodes that admit at once may exceed the limit by a few. */
  admit(names: readonly string[]): Promise<ReadonlySet<string>>;
  /** Forgets what was admitted, because applications may have been deleted. */
  clear(): void;
}

/** Caches admitted names, so that a usual report needs no look-up. */
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
        // A lasting fault fails the write that follows. After a short one, a report is worth more than the limit.
        for (const name of wanted) known.add(name);
      }
      return new Set([...wanted].filter((name) => known.has(name)));
    },
    clear: () => known.clear(),
  };
}

/** Deletes instances and unknown names beyond the limits. */
export interface Trimming {
  /** Call it after reports were written. Returns how many unknown names it has deleted. Does not fail. */
  trim(written: Pick<MergedReports, 'instances' | 'unknownNames'>): Promise<number>;
}

/** How many instances are remembered. A remembered one does not make its application grow. */
const REMEMBERED = 20_000;

export function createTrimming(database: Database, names: TableNames, lock: MetricsLock): Trimming {
  const instances = trimInstances(names, lock);
  const unknown = trimUnknownNames(names, lock);
  const seen = new Set<string>();

  function grownOf(rows: MergedReports['instances']): readonly string[] {
    const grown = new Set<string>();
    if (seen.size > REMEMBERED) seen.clear();
    for (const { application, id } of rows) {
      const key = JSON.stringify([application, id]);
      if (!seen.has(key)) grown.add(application);
      seen.add(key);
    }
    return [...grown];
  }

  async function run(text: string, applications: readonly string[]): Promise<number> {
    if (applications.length === 0) return 0;
    const [row] = await database.query<{ readonly count: string }>(text, [applications.map(toStoredText)]);
    return Number(row?.count ?? 0);
  }

  return {
    async trim(written) {
      try {
        await run(instances, grownOf(written.instances));
        return await run(unknown, [...new Set(written.unknownNames.map(({ application }) => application))]);
      } catch {
        // The reports are stored. The next call deletes the rest.
        seen.clear();
        return 0;
      }
    },
  };
}

function trimInstances({ table }: TableNames, lock: MetricsLock): string {
  return `
WITH ${lock.shared},
gone AS (
  DELETE FROM ${table('instances')} AS instances USING metrics_lock, (
    SELECT application, id, row_number() OVER (PARTITION BY application ORDER BY seen_at DESC, id DESC) AS number
    FROM ${table('instances')} WHERE application = ANY ($1::text[])
  ) AS numbered
  WHERE numbered.number > ${LIMITS.instancesPerApplication}
    AND instances.application = numbered.application AND instances.id = numbered.id
  RETURNING 1
)
SELECT count(*) FROM gone`;
}

function trimUnknownNames({ table }: TableNames, lock: MetricsLock): string {
  return `
WITH ${lock.shared},
excess AS (
  SELECT application, flag FROM (
    SELECT application, flag, row_number() OVER (PARTITION BY application ORDER BY rank DESC) AS number
    FROM ${table('unknown_names')} WHERE application = ANY ($1::text[])
  ) AS numbered WHERE number > ${LIMITS.unknownNamesPerApplication}
  UNION
  (SELECT application, flag FROM ${table('unknown_names')} ORDER BY rank DESC OFFSET ${LIMITS.unknownNames})
),
gone AS (
  DELETE FROM ${table('unknown_names')} AS names USING metrics_lock, excess
  WHERE names.application = excess.application AND names.flag = excess.flag
  RETURNING names.application, names.flag
),
counters AS (
  DELETE FROM ${table('unknown_counters')} AS counters USING gone
  WHERE counters.application = gone.application AND counters.flag = gone.flag
),
dropped AS (
  INSERT INTO ${table('dropped_names')} AS known (application, count)
  SELECT application, count(*) FROM gone GROUP BY application ORDER BY application
  ON CONFLICT (application) DO UPDATE SET count = known.count + excluded.count
)
SELECT count(*) FROM gone`;
}
