import { LIMITS } from '@flags/core';
import type { Database } from '../database.js';
import { type TableNames, toStoredText } from '../tables.js';
import type { MergedReports } from './merged-reports.js';
import type { MetricsLock } from './metrics-lock.js';

/** Drops instances and unknown names beyond the limits. */
export interface Trimming {
  /** To be called after reports were written; gives how many unknown names it has dropped. Does not fail. */
  trim(written: Pick<MergedReports, 'instances' | 'unknownNames'>): Promise<number>;
}

/** An instance that was seen before is not a further one. */
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
        // The reports have been taken. What was not dropped now is dropped after the next ones.
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
    SELECT application, id, row_number() OVER (PARTITION BY application ORDER BY seen_at DESC, id DESC) AS place
    FROM ${table('instances')} WHERE application = ANY ($1::text[])
  ) AS placed
  WHERE placed.place > ${LIMITS.instancesPerApplication}
    AND instances.application = placed.application AND instances.id = placed.id
  RETURNING 1
)
SELECT count(*) FROM gone`;
}

function trimUnknownNames({ table }: TableNames, lock: MetricsLock): string {
  return `
WITH ${lock.shared},
excess AS (
  SELECT application, flag FROM (
    SELECT application, flag, row_number() OVER (PARTITION BY application ORDER BY rank DESC) AS place
    FROM ${table('unknown_names')} WHERE application = ANY ($1::text[])
  ) AS placed WHERE place > ${LIMITS.unknownNamesPerApplication}
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
