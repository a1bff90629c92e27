import { type DroppedUsage, LIMITS, type Resolution, type UsageRetention, type UsageSubject } from '@flags/core';
import {
  addDropped,
  DATABASE_BOUNDS,
  DAY,
  firstKept,
  largestFirst,
  NOTHING_DROPPED,
  RESOLUTIONS,
} from '@flags/core/integration';
import { bumpVersionShard } from '../data-version.js';
import { fromStoredText, toStoredText } from '../tables.js';
import { countOf, SLICE, type UsageTables } from './usage-lock.js';

const EVER = RESOLUTIONS.ever.code;
/** By second and minute, the counts of unknown names have an application. */
const RECENT = `resolution IN (${RESOLUTIONS.second.code}, ${RESOLUTIONS.minute.code})`;
/** Applications that one transaction deletes. */
const APPLICATIONS = 100;
const EXPIRING = ['second', 'minute', 'hour', 'day'] as const satisfies readonly Resolution[];

/** Rows whose number `prune` bounds, selected by SQL. */
interface BoundedRows {
  readonly condition: string;
  readonly bound: number;
  readonly areNames?: true;
}

const BOUNDED: readonly BoundedRows[] = [
  { condition: `resolution = ${RESOLUTIONS.hour.code}`, bound: DATABASE_BOUNDS.hours },
  { condition: `resolution = ${RESOLUTIONS.day.code}`, bound: DATABASE_BOUNDS.days },
  { condition: `resolution = ${EVER} AND NOT is_unknown`, bound: DATABASE_BOUNDS.pairs },
  { condition: `resolution = ${EVER} AND is_unknown`, bound: DATABASE_BOUNDS.names, areNames: true },
];

/** Deletes usage, in slices. */
export function usageDeletion({ database, names, lock }: UsageTables, boundedRows = BOUNDED) {
  const { table } = names;
  const [counts, applications, instances] = [
    table('usage_counts'),
    table('usage_applications'),
    table('usage_instances'),
  ];

  /** SQL: deletes the rows of counts that have a ctid of a selection. */
  const deleteCounts = (selection: string) =>
    `WITH gone AS (DELETE FROM ${counts} WHERE ctid = ANY (ARRAY(${selection})) RETURNING 1) SELECT count(*) FROM gone`;

  /** SQL: deletes unknown names, selected by ctid, with their counts by second and minute, and counts them as dropped. */
  const deleteNames = (selection: string) => `
WITH gone AS (
  DELETE FROM ${counts} WHERE ctid = ANY (ARRAY(${selection})) RETURNING application, flag
),
recent AS (
  DELETE FROM ${counts} AS counts USING gone
  WHERE ${RECENT} AND counts.flag = gone.flag AND counts.application = gone.application
),
dropped AS (
  UPDATE ${applications} SET dropped_names = dropped_names + number
  FROM (SELECT application, count(*) AS number FROM gone GROUP BY application) AS sums WHERE name = application
)
SELECT count(*) FROM gone`;

  /** Runs a deletion in slices, each in a transaction of its own. Its last parameter is the number of rows. */
  async function inSlices(text: string, values: readonly unknown[], most = Number.POSITIVE_INFINITY): Promise<number> {
    let deleted = 0;
    while (deleted < most) {
      const slice = Math.min(SLICE, most - deleted);
      const count = await lock.exclusive((statements) => countOf(statements, text, [...values, slice]));
      deleted += count;
      if (count < slice) break;
    }
    return deleted;
  }

  /** No report writes expired rows. */
  async function deleteExpired(now: number): Promise<void> {
    await inSlices(
      `WITH gone AS (DELETE FROM ${table('usage_batches')} WHERE id IN (
        SELECT id FROM ${table('usage_batches')} WHERE at < $1 LIMIT $2) RETURNING 1) SELECT count(*) FROM gone`,
      [now - DAY],
    );
    for (const resolution of EXPIRING) {
      const condition = `resolution = ${RESOLUTIONS[resolution].code} AND start < $1`;
      const selection = `SELECT ctid FROM ${counts} WHERE ${condition} LIMIT $2`;
      await inSlices(deleteCounts(selection), [firstKept(resolution, now)]);
    }
  }

  /**
   * Deletes rows beyond a bound: the oldest rows of public reporters, then the oldest ones of the largest application.
   */
  async function trimRows({ condition, bound, areNames }: BoundedRows): Promise<number> {
    const excess = (await countOf(database, `SELECT count(*) FROM ${counts} WHERE ${condition}`)) - bound;
    if (excess <= 0) return 0;
    const remove = areNames ? deleteNames : deleteCounts;
    const oldest = (more: string, limit: string) =>
      `SELECT ctid FROM ${counts} WHERE ${condition} AND ${more} ORDER BY start, at LIMIT ${limit}`;
    let deleted = await inSlices(remove(oldest('is_public', '$1')), [], excess);
    if (deleted >= excess) return deleted;
    const sizes = await database.query<{ readonly application: string; readonly number: string }>(
      `SELECT application, count(*) AS number FROM ${counts} WHERE ${condition} GROUP BY application`,
    );
    const rows = new Map(sizes.map(({ application, number }) => [application, Number(number)]));
    for (const step of largestFirst(rows, { excess: excess - deleted, slice: SLICE })) {
      deleted += await inSlices(remove(oldest('application = $1', '$2')), [step.application], step.rows);
    }
    return deleted;
  }

  /** Returns whether one of them was known. */
  async function forgetApplications(forgotten: readonly string[]): Promise<boolean> {
    const values = [forgotten.map(toStoredText)];
    return lock.exclusive(async (statements) => {
      const isNamed = 'application = ANY ($1::text[])';
      const found = await statements.query(
        `DELETE FROM ${applications} WHERE name = ANY ($1::text[]) RETURNING 1`,
        values,
      );
      await statements.query(`DELETE FROM ${instances} WHERE ${isNamed}`, values);
      await statements.query(
        `WITH gone AS (DELETE FROM ${counts} WHERE resolution = ${EVER} AND ${isNamed} RETURNING flag)
        DELETE FROM ${counts} WHERE ${RECENT} AND ${isNamed} AND flag IN (SELECT flag FROM gone)`,
        values,
      );
      await statements.query(bumpVersionShard(names));
      return found.length > 0;
    });
  }

  /** Deletes flags by some resolutions, with their last-seen times. */
  async function forgetFlags(flags: readonly string[], condition: string): Promise<void> {
    const values = [flags.map(toStoredText)];
    await lock.exclusive(async (statements) => {
      await statements.query(`DELETE FROM ${counts} WHERE ${condition} AND flag = ANY ($1::text[])`, values);
      await statements.query(`DELETE FROM ${table('usage_last_seen')} WHERE flag = ANY ($1::text[])`, values);
      await statements.query(bumpVersionShard(names));
    });
  }

  async function deleteUnseen({ since, isFlag }: NonNullable<UsageRetention['unseen']>): Promise<void> {
    await inSlices(
      `WITH gone AS (DELETE FROM ${instances} WHERE (application, id) IN (
        SELECT application, id FROM ${instances} WHERE seen_at < $1 LIMIT $2) RETURNING 1) SELECT count(*) FROM gone`,
      [since],
    );
    for (let count = APPLICATIONS; count === APPLICATIONS; ) {
      const empty = await database.query<{ readonly name: string }>(
        `SELECT name FROM ${applications} WHERE NOT EXISTS (SELECT FROM ${instances} WHERE application = name)
        LIMIT ${APPLICATIONS}`,
      );
      if (empty.length > 0) await forgetApplications(empty.map(({ name }) => fromStoredText(name)));
      count = empty.length;
    }
    const isOldName = `resolution = ${EVER} AND is_unknown AND at < $1`;
    await inSlices(deleteCounts(`SELECT ctid FROM ${counts} WHERE ${isOldName} LIMIT $2`), [since]);
    for (let last: string | undefined = ''; last !== undefined; ) {
      const page: readonly { readonly flag: string }[] = await database.query(
        `SELECT flag FROM ${table('usage_last_seen')} WHERE flag > $1 AND at < $2 ORDER BY flag LIMIT ${SLICE}`,
        [last, since],
      );
      const gone = page.map(({ flag }) => fromStoredText(flag)).filter((name) => !isFlag(name));
      if (gone.length > 0) await forgetFlags(gone, `(${RECENT} OR resolution = ${EVER})`);
      last = page.length === SLICE ? page.at(-1)?.flag : undefined;
    }
  }

  return {
    /** Deletes instances and unknown names of these applications beyond the limits. Returns the number of names. */
    async trim(crowded: readonly string[]): Promise<number> {
      if (crowded.length === 0) return 0;
      const values = [crowded.map(toStoredText)];
      return lock.exclusive(async (statements) => {
        await statements.query(
          `DELETE FROM ${instances} WHERE (application, id) IN (
            SELECT application, id FROM (
              SELECT application, id, row_number() OVER (PARTITION BY application ORDER BY seen_at DESC, id DESC) AS number
              FROM ${instances} WHERE application = ANY ($1::text[])
            ) AS numbered WHERE number > ${LIMITS.instancesPerApplication})`,
          values,
        );
        const excess = `SELECT row FROM (
          SELECT ctid AS row, row_number() OVER (PARTITION BY application ORDER BY is_public, at DESC, flag DESC) AS number
          FROM ${counts} WHERE resolution = ${EVER} AND is_unknown AND application = ANY ($1::text[])
        ) AS numbered WHERE number > ${LIMITS.unknownNamesPerApplication}`;
        return countOf(statements, deleteNames(excess), values);
      });
    },

    async forget(subject: UsageSubject): Promise<boolean> {
      if ('application' in subject) return forgetApplications([subject.application]);
      await forgetFlags(subject.flags, `resolution BETWEEN 0 AND ${EVER}`);
      return true;
    },

    async prune({ now, unseen }: UsageRetention): Promise<DroppedUsage> {
      let dropped = NOTHING_DROPPED;
      await deleteExpired(now);
      for (const rows of boundedRows) {
        const count = await trimRows(rows);
        dropped = addDropped(dropped, { ...NOTHING_DROPPED, [rows.areNames ? 'names' : 'usage']: count });
      }
      if (unseen) await deleteUnseen(unseen);
      await database.write({ text: bumpVersionShard(names), values: [] });
      return dropped;
    },
  };
}
