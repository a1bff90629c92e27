import { LIMITS } from '../../base/limits.js';
import { pause } from '../../base/paced.js';
import { type ReadUsage, tableOf, type UsageDialect, type UsageStatement, type UsageValues } from './dialect.js';
import type { DroppedUsage, Resolution, UsageRetention, UsageStorage } from './port.js';
import {
  addDropped,
  DATABASE_BOUNDS,
  DAY,
  firstKept,
  largestFirst,
  NOTHING_DROPPED,
  RESOLUTIONS,
  type UsageBounds,
} from './rules.js';

const EVER = RESOLUTIONS.ever.code;
/** Counts by minute, and by second: an older version may have stored those. */
const IS_RECENT = `resolution <= ${RESOLUTIONS.minute.code}`;
const IS_LONG_TERM = `resolution IN (${RESOLUTIONS.hour.code}, ${RESOLUTIONS.day.code}, ${EVER})`;
const IS_NAME = `resolution = ${EVER} AND is_unknown`;
const EXPIRING = ['minute', 'hour', 'day'] as const satisfies readonly Resolution[];

/** Lists of statements that belong in one transaction. */
interface UsageRemovals {
  /** Deletes applications, with their instances, sums and unknown names. The last statement deletes the applications. */
  applications(names: readonly string[], condition?: string): readonly UsageStatement[];
  /** Deletes unknown names, and counts them as dropped. `names` selects `application` and `flag`. */
  names(names: UsageStatement): readonly UsageStatement[];
  /** Deletes the instances and unknown names of applications beyond the limits. The last statement deletes the names. */
  excess(applications: readonly string[]): readonly UsageStatement[];
}

export function usageRemovals({ tables, indexedBy, isOneOf, isNamed }: UsageDialect): UsageRemovals {
  const { recentCounts, counts, applications, instances } = tables;

  function removeNames({ text, values }: UsageStatement): readonly UsageStatement[] {
    const remove = (table: string, condition: string) => ({
      text: `DELETE FROM ${table} WHERE ${isNamed({ table, condition }, text)}`,
      values,
    });
    return [
      {
        text: `UPDATE ${applications} SET dropped_names = dropped_names + number
          FROM (SELECT application, count(*) AS number FROM (${text}) AS gone GROUP BY application) AS sums
          WHERE name = application`,
        values,
      },
      remove(recentCounts, IS_RECENT),
      // Naming the start lets SQLite use the key.
      remove(counts, `${IS_NAME} AND start = 0`),
    ];
  }

  return {
    applications(names, condition = '') {
      const selected = `IN (SELECT name FROM ${applications} WHERE ${isOneOf('name')} ${condition})`;
      const values = [names];
      return [
        {
          text: `DELETE FROM ${recentCounts} WHERE ${IS_RECENT} AND application ${selected}
            AND flag IN (SELECT flag FROM ${counts} WHERE resolution = ${EVER} AND application ${selected})`,
          values: [names, names],
        },
        { text: `DELETE FROM ${counts} WHERE resolution = ${EVER} AND application ${selected}`, values },
        { text: `DELETE FROM ${instances} WHERE application ${selected}`, values },
        { text: `DELETE FROM ${applications} WHERE name ${selected}`, values },
      ];
    },
    names: removeNames,
    excess: (named) => [
      {
        text: `DELETE FROM ${instances} WHERE (application, id) IN (SELECT application, id FROM (
            SELECT application, id, row_number() OVER (PARTITION BY application ORDER BY seen_at DESC, id DESC) AS place
            FROM ${instances} WHERE ${isOneOf('application')}
          ) AS placed WHERE place > ${LIMITS.instancesPerApplication})`,
        values: [named],
      },
      ...removeNames({
        text: `SELECT application, flag FROM (
            SELECT application, flag,
              row_number() OVER (PARTITION BY application ORDER BY is_public, at DESC, flag DESC) AS place
            FROM ${counts} ${indexedBy('unknown_names')} WHERE ${IS_NAME} AND ${isOneOf('application')}
          ) AS placed WHERE place > ${LIMITS.unknownNamesPerApplication}`,
        values: [named],
      }),
    ],
  };
}

interface DeletionOptions {
  readonly dialect: UsageDialect;
  readonly read: ReadUsage;
  /** Runs statements in one transaction, without reports in between. Returns how many rows the last one has changed. */
  readonly write: (statements: readonly UsageStatement[]) => Promise<number>;
  /** Rows that one transaction deletes. */
  readonly slice: number;
  /** Applications that one transaction checks. */
  readonly applicationsPerSlice: number;
  readonly bounds?: UsageBounds;
}

/** Rows of counts with a common bound. */
interface RowClass {
  readonly condition: string;
  readonly bound: number;
  readonly dropped: 'usage' | 'names';
}

/** Selects rows of a table of counts. */
interface CountSelection {
  readonly table: string;
  readonly index?: string;
  readonly condition: string;
  readonly values: UsageValues;
}

/** Deletes usage in short transactions. */
export function createUsageDeletion(options: DeletionOptions): Pick<UsageStorage, 'forget' | 'prune'> {
  const { dialect, read, write, slice, applicationsPerSlice, bounds = DATABASE_BOUNDS } = options;
  const { tables, indexedBy, isOneOf, isSelected } = dialect;
  const { recentCounts, counts, lastSeen, applications, instances, batches } = tables;
  const removals = usageRemovals(dialect);
  const classes: readonly RowClass[] = [
    { condition: `resolution = ${RESOLUTIONS.hour.code}`, bound: bounds.hours, dropped: 'usage' },
    { condition: `resolution = ${RESOLUTIONS.day.code}`, bound: bounds.days, dropped: 'usage' },
    { condition: `resolution = ${EVER} AND NOT is_unknown`, bound: bounds.pairs, dropped: 'usage' },
    { condition: IS_NAME, bound: bounds.names, dropped: 'names' },
  ];

  /** Repeats a deletion, whose last value is the number of rows, until it finds no more or has deleted `most`. */
  async function inSlices(
    deletion: (limit: number) => readonly UsageStatement[],
    most = Number.POSITIVE_INFINITY,
  ): Promise<number> {
    let deleted = 0;
    while (deleted < most) {
      const limit = Math.min(slice, most - deleted);
      const count = await write(deletion(limit));
      deleted += count;
      if (count < limit) break;
    }
    return deleted;
  }

  /** Deletes rows of counts, in slices. */
  function deleteRows({ table, index = '', condition, values }: CountSelection): Promise<number> {
    const selected = isSelected((columns) => `SELECT ${columns} FROM ${table} ${index} WHERE ${condition} LIMIT ?`);
    const text = `DELETE FROM ${table} WHERE ${selected}`;
    return inSlices((limit) => [{ text, values: [...values, limit] }]);
  }

  async function deleteExpired(now: number): Promise<void> {
    const text = `DELETE FROM ${batches} WHERE id IN (SELECT id FROM ${batches} WHERE at < ? LIMIT ?)`;
    await inSlices((limit) => [{ text, values: [now - DAY, limit] }]);
    for (const resolution of EXPIRING) {
      const table = tables[tableOf(resolution)];
      const isOne = resolution === 'minute' ? IS_RECENT : `resolution = ${RESOLUTIONS[resolution].code}`;
      const condition = `${isOne} AND start < ?`;
      await deleteRows({ table, condition, values: [firstKept(resolution, now)] });
    }
  }

  /** Deletes the rows of a class beyond its bound: those of public reporters, then those of the largest application. */
  async function trim({ condition, bound, dropped }: RowClass): Promise<number> {
    async function sizes(): Promise<Map<string, number>> {
      const text = `SELECT application, count(*) FROM ${counts} WHERE ${condition} GROUP BY application`;
      const rows = await read({ text, values: [] });
      return new Map(Array.from(rows, ([application, size]) => [String(application), Number(size)]));
    }

    /** Deletes the oldest rows. */
    function remove(more: string, index: string): (values: UsageValues) => readonly UsageStatement[] {
      const select = (columns: string) =>
        `SELECT ${columns} FROM ${counts} ${index} WHERE ${more} AND ${condition} ORDER BY start, at, application, flag LIMIT ?`;
      if (dropped === 'names') return (values) => removals.names({ text: select('application, flag'), values });
      return (values) => [{ text: `DELETE FROM ${counts} WHERE ${isSelected(select)}`, values }];
    }

    const [[size] = []] = Array.from(
      await read({ text: `SELECT count(*) FROM ${counts} WHERE ${condition}`, values: [] }),
    );
    const excess = Number(size) - bound;
    if (excess <= 0) return 0;
    const removePublic = remove('is_public', indexedBy('counts_of_public'));
    const left = excess - (await inSlices((limit) => removePublic([limit]), excess));
    const removeOf = remove('application = ?', '');
    for (const step of largestFirst(await sizes(), { excess: left, slice })) {
      await write(removeOf([step.application, step.rows]));
    }
    return excess;
  }

  async function deleteUnseenApplications(since: number): Promise<void> {
    const page = `SELECT name FROM ${applications} WHERE name > ? ORDER BY name LIMIT ?`;
    const isEmpty = `AND NOT EXISTS (SELECT 1 FROM ${instances} WHERE application = name)`;
    for (let after: string | undefined = ''; after !== undefined; ) {
      const names = await textsOf({ text: page, values: [after, applicationsPerSlice] });
      await write([
        { text: `DELETE FROM ${instances} WHERE ${isOneOf('application')} AND seen_at < ?`, values: [names, since] },
        ...removals.applications(names, isEmpty),
      ]);
      after = names.length === applicationsPerSlice ? names.at(-1) : undefined;
    }
  }

  async function deleteUnseenFlags({ since, isFlag }: NonNullable<UsageRetention['unseen']>): Promise<void> {
    const page = `SELECT flag FROM ${lastSeen} WHERE flag > ? AND at < ? ORDER BY flag LIMIT ?`;
    // A flag that was reported meanwhile stays.
    const isUnseen = `${isOneOf('flag')} AND at < ?`;
    const isGone = `flag IN (SELECT flag FROM ${lastSeen} WHERE ${isUnseen})`;
    const byFlag = indexedBy('counts_by_flag');
    for (let after: string | undefined = ''; after !== undefined; ) {
      const flags = await textsOf({ text: page, values: [after, since, slice] });
      const values = [flags.filter((flag) => !isFlag(flag)), since];
      await write([
        { text: `DELETE FROM ${recentCounts} WHERE ${IS_RECENT} AND ${isGone}`, values },
        { text: `DELETE FROM ${counts} ${byFlag} WHERE resolution = ${EVER} AND ${isGone}`, values },
        { text: `DELETE FROM ${lastSeen} WHERE ${isUnseen}`, values },
      ]);
      after = flags.length === slice ? flags.at(-1) : undefined;
    }
  }

  /** Returns the only column of a statement. */
  async function textsOf(statement: UsageStatement): Promise<readonly string[]> {
    return Array.from(await read(statement), ([text]) => String(text));
  }

  return {
    async forget(subject) {
      if ('application' in subject) return (await write(removals.applications([subject.application]))) > 0;
      const [isNamed, values] = [isOneOf('flag'), [subject.flags]];
      await deleteRows({ table: recentCounts, condition: `${IS_RECENT} AND ${isNamed}`, values });
      const condition = `${IS_LONG_TERM} AND ${isNamed}`;
      await deleteRows({ table: counts, index: indexedBy('counts_by_flag'), condition, values });
      await write([{ text: `DELETE FROM ${lastSeen} WHERE ${isNamed}`, values }]);
      return true;
    },
    async prune({ now, unseen }) {
      let dropped: DroppedUsage = NOTHING_DROPPED;
      await deleteExpired(now);
      if (unseen) {
        const index = indexedBy('unknown_names');
        await deleteRows({ table: counts, index, condition: `${IS_NAME} AND at < ?`, values: [unseen.since] });
        await deleteUnseenApplications(unseen.since);
        await deleteUnseenFlags(unseen);
      }
      for (const rows of classes) {
        // SQLite counts hundreds of thousands of rows for tens of milliseconds.
        await pause();
        dropped = addDropped(dropped, { ...NOTHING_DROPPED, [rows.dropped]: await trim(rows) });
      }
      return dropped;
    },
  };
}
