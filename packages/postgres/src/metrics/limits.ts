import { LIMITS, type Reporter } from '@flags/core';
import { applicationLimit, ownerOf, publicLast } from '@flags/core/integration';
import type { Database } from '../database.js';
import { fromStoredText, type TableNames, toStoredText } from '../tables.js';
import type { MergedReports } from './merge.js';
import type { MetricsLock } from './metrics-lock.js';

/** An application that a report or a registration names. */
interface Sighting {
  readonly application: string;
  readonly reporter?: Reporter;
}

/** Decides which applications may be stored: known ones, and new ones while there is room. */
export interface Admission {
  /**
   * Returns the admitted names. Deletes applications of public reporters if others need their room. Nodes that admit at once
   * may exceed the limits by a few.
   */
  admit(sightings: readonly Sighting[]): Promise<ReadonlySet<string>>;
  /** Forgets what was admitted, because applications may have been deleted. */
  clear(): void;
}

interface StoredOwner {
  readonly name: string;
  /** `t` or `f`. */
  readonly is_public: string;
}

/**
 * Caches admitted names, so that a usual report needs no look-up.
 *
 * @param remove deletes an application
 */
export function createAdmission(
  database: Database,
  { table }: TableNames,
  remove: (application: string) => Promise<unknown>,
): Admission {
  const applications = table('applications');
  /** By name, whether only public reporters have named it. */
  const known = new Map<string, boolean>();

  const isKnown = (name: string, owner: Reporter | undefined) =>
    known.get(name) === false || (known.has(name) && owner?.isPublic === true);

  async function countOf(condition: string, values: readonly unknown[]): Promise<number> {
    const [row] = await database.query<{ readonly count: string }>(
      `SELECT count(*) FROM ${applications} ${condition}`,
      values,
    );
    return Number(row?.count);
  }

  async function look(owners: ReadonlyMap<string, Reporter | undefined>): Promise<void> {
    const stored = await database.query<StoredOwner>(
      `SELECT name, is_public FROM ${applications} WHERE name = ANY ($1::text[])`,
      [[...owners.keys()].map(toStoredText)],
    );
    for (const { name, is_public: isPublic } of stored) known.set(fromStoredText(name), isPublic === 't');
    for (const [name, owner] of owners) if (known.get(name) === true && !owner?.isPublic) await adopt(name, owner);
    const further = [...owners].filter(([name]) => !known.has(name));
    if (further.length > 0) await admitNew(further, [...owners.keys()]);
  }

  /** Gives an application that only public reporters have named to another reporter. */
  async function adopt(name: string, owner: Reporter | undefined): Promise<void> {
    await database.write({
      text: `UPDATE ${applications} SET token = $2, is_public = false WHERE name = $1 AND is_public`,
      values: [toStoredText(name), owner?.token ?? null],
    });
    known.set(name, false);
  }

  async function admitNew(
    further: readonly (readonly [string, Reporter | undefined])[],
    named: readonly string[],
  ): Promise<void> {
    const rooms = new Map<string | undefined, number>();
    const admissible: (readonly [string, boolean])[] = [];
    for (const [name, owner] of further) {
      const room = rooms.get(owner?.token) ?? (await roomOf(owner));
      rooms.set(owner?.token, room - 1);
      if (room > 0) admissible.push([name, owner?.isPublic ?? false]);
    }
    const free = LIMITS.applications - (await countOf('', []));
    const wanted = admissible.filter(([, isPublic]) => !isPublic).length;
    const made = wanted > free ? await makeRoom(wanted - Math.max(free, 0), named) : 0;
    for (const [name, isPublic] of admissible.slice(0, Math.max(0, free + made))) known.set(name, isPublic);
  }

  async function roomOf(owner: Reporter | undefined): Promise<number> {
    if (owner === undefined) return Number.POSITIVE_INFINITY;
    return applicationLimit(owner) - (await countOf('WHERE token = $1', [owner.token]));
  }

  /** Deletes the least recently seen applications of public reporters. Returns how many. */
  async function makeRoom(wanted: number, named: readonly string[]): Promise<number> {
    const oldest = await database.query<{ readonly name: string }>(
      `SELECT name FROM ${applications} AS applications WHERE is_public AND name <> ALL ($1::text[])
      ORDER BY (SELECT max(seen_at) FROM ${table('instances')} WHERE application = name), name LIMIT $2`,
      [named.map(toStoredText), wanted],
    );
    for (const { name } of oldest) {
      known.delete(fromStoredText(name));
      await remove(fromStoredText(name));
    }
    return oldest.length;
  }

  return {
    async admit(sightings) {
      const owners = new Map<string, Reporter | undefined>();
      for (const { application: name, reporter } of publicLast(sightings)) {
        owners.set(name, owners.has(name) ? ownerOf(owners.get(name), reporter) : reporter);
      }
      const missing = new Map([...owners].filter(([name, owner]) => !isKnown(name, owner)));
      if (known.size + missing.size > 2 * LIMITS.applications) known.clear();
      try {
        if (missing.size > 0) await look(known.size === 0 ? owners : missing);
      } catch {
        // A lasting fault fails the write that follows. After a short one, a report is worth more than the limit.
        for (const [name, owner] of owners) if (!known.has(name)) known.set(name, owner?.isPublic ?? false);
      }
      return new Set([...owners.keys()].filter((name) => known.has(name)));
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
