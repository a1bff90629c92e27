import type { DroppedUsage, Resolution, UsageRetention, UsageStorage } from '../usage-port.js';
import {
  addDropped,
  DATABASE_BOUNDS,
  DAY,
  firstKept,
  largestFirst,
  NOTHING_DROPPED,
  RESOLUTIONS,
} from '../usage-rules.js';
import type { WriteQueue } from './database.js';
import { type Connection, prepare, preparePluck, prepareRaw, readWhenFree, type SqliteDatabase } from './database.js';

/** Rows that one transaction deletes. */
const SLICE = 500;

/** Applications whose instances one transaction checks. */
const APPLICATIONS = 20;

/** Returns the table of the counts of a resolution, without the prefix. */
export function tableOf(resolution: Resolution): 'recent_counts' | 'counts' {
  return resolution === 'second' || resolution === 'minute' ? 'recent_counts' : 'counts';
}

/** Items that are deleted as a whole, within a transaction. */
export interface UsageRemovals {
  /** Returns whether the application was known. */
  removeApplication(name: string): boolean;
  /** Deletes an unknown name, and counts it as dropped. */
  removeName(application: string, flag: string): void;
  addDroppedNames(application: string, names: number): void;
}

export function usageRemovals(database: SqliteDatabase, prefix: string): UsageRemovals {
  const isName = 'flag = ? AND application = ?';
  const removeRecent = prepare(database, `DELETE FROM ${prefix}recent_counts WHERE resolution IN (0, 1) AND ${isName}`);
  const removePair = prepare(database, `DELETE FROM ${prefix}counts WHERE resolution = 4 AND ${isName}`);
  const namesOf = prepareRaw(
    database,
    `SELECT application, flag FROM ${prefix}counts INDEXED BY ${prefix}unknown_names
    WHERE resolution = 4 AND is_unknown AND application = ?`,
  );
  const removePairs = prepare(database, `DELETE FROM ${prefix}counts WHERE resolution = 4 AND application = ?`);
  const removeInstances = prepare(database, `DELETE FROM ${prefix}instances WHERE application = ?`);
  const removeApplication = prepare(database, `DELETE FROM ${prefix}applications WHERE name = ?`);
  const addDropped = prepare(
    database,
    `UPDATE ${prefix}applications SET dropped_names = dropped_names + ? WHERE name = ?`,
  );
  return {
    removeApplication(name) {
      for (const [application, flag] of namesOf.all(name) as [string, string][]) removeRecent.run(flag, application);
      removePairs.run(name);
      removeInstances.run(name);
      return removeApplication.run(name).changes > 0;
    },
    removeName(application, flag) {
      removeRecent.run(flag, application);
      removePair.run(flag, application);
      addDropped.run(1, application);
    },
    addDroppedNames(application, names) {
      addDropped.run(names, application);
    },
  };
}

interface DeletionOptions {
  readonly connection: Connection;
  readonly writeQueue: WriteQueue;
  readonly prefix: string;
  readonly removals: UsageRemovals;
}

/** Rows of counts with a common bound. */
interface RowClass {
  readonly resolution: 'hour' | 'day' | 'ever';
  readonly isUnknown: 0 | 1;
  readonly bound: number;
}

const CLASSES: readonly RowClass[] = [
  { resolution: 'hour', isUnknown: 0, bound: DATABASE_BOUNDS.hours },
  { resolution: 'day', isUnknown: 0, bound: DATABASE_BOUNDS.days },
  { resolution: 'ever', isUnknown: 0, bound: DATABASE_BOUNDS.pairs },
  { resolution: 'ever', isUnknown: 1, bound: DATABASE_BOUNDS.names },
];

type Key = readonly [flag: string, application: string, environment: string, start: number, variant: string];

/** Deletes usage in short transactions. */
export function sqliteUsageDeletion(options: DeletionOptions): Pick<UsageStorage, 'forget' | 'prune'> {
  const { connection, writeQueue, prefix, removals } = options;
  const statements = deletionStatements(connection.database, prefix);

  /** Repeats a deletion until it deletes less than a slice. */
  async function repeat(deletion: () => number): Promise<void> {
    while ((await writeQueue.run(deletion)) === SLICE);
  }

  async function forgetFlags(flags: readonly string[]): Promise<void> {
    for (const flag of flags) {
      for (const statement of statements.forgetCounts) await repeat(() => statement.run(flag).changes);
      await writeQueue.run(() => statements.forgetSeen.run(flag));
    }
  }

  /** Deletes the rows of a class beyond its bound. Returns their number. */
  async function trim(rows: RowClass): Promise<number> {
    const { code } = RESOLUTIONS[rows.resolution];
    const sizes = new Map(
      (await readWhenFree(connection, () => statements.sizes.all(code, rows.isUnknown))) as [string, number][],
    );
    const excess = [...sizes.values()].reduce((sum, size) => sum + size, 0) - rows.bound;
    let left = excess;
    while (left > 0) {
      const limit = Math.min(left, SLICE);
      const removed = await writeQueue.run(() => remove(rows, statements.oldestPublic, [limit]));
      for (const application of removed) sizes.set(application, (sizes.get(application) ?? 0) - 1);
      left -= removed.length;
      if (removed.length < limit) break;
    }
    for (const step of largestFirst(sizes, { excess: left, slice: SLICE })) {
      await writeQueue.run(() => remove(rows, statements.oldestOf, [step.application, step.rows]));
    }
    return Math.max(0, excess);
  }

  /** Deletes the rows that a statement selects. Returns their applications. */
  function remove(
    { resolution, isUnknown }: RowClass,
    select: ReturnType<typeof prepareRaw>,
    parameters: readonly unknown[],
  ): string[] {
    const { code } = RESOLUTIONS[resolution];
    const keys = select.all(code, isUnknown, ...parameters) as Key[];
    for (const key of keys) {
      if (isUnknown) removals.removeName(key[1], key[0]);
      else statements.remove.run(code, ...key);
    }
    return Array.from(keys, ([, application]) => application);
  }

  async function dropUnseen({ since, isFlag }: NonNullable<UsageRetention['unseen']>): Promise<void> {
    await repeat(() => {
      const names = statements.unseenNames.all(since) as string[][];
      for (const [flag, application] of names) statements.removePair.run(flag, application);
      return names.length;
    });
    for (let after: string | undefined = ''; after !== undefined; ) {
      const start: string = after;
      after = await writeQueue.run(() => {
        const names = statements.applications.all(start) as string[];
        for (const name of names) {
          statements.dropInstances.run(name, since);
          if (statements.anyInstance.get(name) === undefined) removals.removeApplication(name);
        }
        return names.length === APPLICATIONS ? names.at(-1) : undefined;
      });
    }
    for (let after: string | undefined = ''; after !== undefined; ) {
      const start: string = after;
      const flags = Array.from((await readWhenFree(connection, () => statements.unseen.all(start, since))) as string[]);
      const gone = flags.filter((flag) => !isFlag(flag));
      await writeQueue.run(() => {
        for (const flag of gone) {
          if (statements.forgetUnseen.run(flag, since).changes === 0) continue;
          statements.forgetRecent.run(flag);
          statements.forgetPairs.run(flag);
        }
      });
      after = flags.length === SLICE ? flags.at(-1) : undefined;
    }
  }

  return {
    async forget(subject) {
      if ('application' in subject) return writeQueue.run(() => removals.removeApplication(subject.application));
      await forgetFlags(subject.flags);
      return true;
    },
    async prune({ now, unseen }) {
      for (const resolution of ['second', 'minute', 'hour', 'day'] as const) {
        const { code } = RESOLUTIONS[resolution];
        const expired = statements.expired[tableOf(resolution)];
        await repeat(() => expired.run(code, firstKept(resolution, now)).changes);
      }
      await repeat(() => statements.expiredBatches.run(now - DAY).changes);
      if (unseen) await dropUnseen(unseen);
      let dropped: DroppedUsage = NOTHING_DROPPED;
      for (const rows of CLASSES) {
        const count = await trim(rows);
        dropped = addDropped(
          dropped,
          rows.isUnknown ? { names: count, reports: 0, usage: 0 } : { names: 0, reports: 0, usage: count },
        );
      }
      return dropped;
    },
  };
}

function deletionStatements(database: SqliteDatabase, prefix: string) {
  const [recent, counts, instances] = [`${prefix}recent_counts`, `${prefix}counts`, `${prefix}instances`];
  const key = 'resolution, flag, application, environment, start, variant';
  const isRow = 'resolution = ? AND flag = ? AND application = ? AND environment = ? AND start = ? AND variant = ?';
  const byFlag = `INDEXED BY ${prefix}counts_by_flag`;
  const deleteSlice = (table: string, condition: string, index = '') =>
    prepare(
      database,
      `DELETE FROM ${table} WHERE (${key}) IN (SELECT ${key} FROM ${table} ${index} WHERE ${condition} LIMIT ${SLICE})`,
    );
  const select = `SELECT flag, application, environment, start, variant FROM ${counts}`;
  const isClass = 'resolution = ? AND is_unknown = ?';
  const isExpired = 'resolution = ? AND start < ?';
  return {
    expired: { recent_counts: deleteSlice(recent, isExpired), counts: deleteSlice(counts, isExpired) },
    expiredBatches: prepare(
      database,
      `DELETE FROM ${prefix}batches WHERE id IN (SELECT id FROM ${prefix}batches WHERE at < ? LIMIT ${SLICE})`,
    ),
    forgetCounts: [
      deleteSlice(recent, 'resolution IN (0, 1) AND flag = ?'),
      deleteSlice(counts, 'resolution IN (2, 3, 4) AND flag = ?', byFlag),
    ],
    forgetSeen: prepare(database, `DELETE FROM ${prefix}last_seen WHERE flag = ?`),
    sizes: prepareRaw(database, `SELECT application, count(*) FROM ${counts} WHERE ${isClass} GROUP BY application`),
    oldestPublic: prepareRaw(
      database,
      `${select} INDEXED BY ${prefix}counts_of_public WHERE is_public AND ${isClass} ORDER BY start, at LIMIT ?`,
    ),
    oldestOf: prepareRaw(database, `${select} WHERE ${isClass} AND application = ? ORDER BY start, at LIMIT ?`),
    remove: prepare(database, `DELETE FROM ${counts} WHERE ${isRow}`),
    unseenNames: prepareRaw(
      database,
      `SELECT flag, application FROM ${counts} INDEXED BY ${prefix}unknown_names
      WHERE resolution = 4 AND is_unknown AND at < ? LIMIT ${SLICE}`,
    ),
    removePair: prepare(database, `DELETE FROM ${counts} WHERE resolution = 4 AND flag = ? AND application = ?`),
    applications: preparePluck(
      database,
      `SELECT name FROM ${prefix}applications WHERE name > ? ORDER BY name LIMIT ${APPLICATIONS}`,
    ),
    dropInstances: prepare(database, `DELETE FROM ${instances} WHERE application = ? AND seen_at < ?`),
    anyInstance: preparePluck(database, `SELECT 1 FROM ${instances} WHERE application = ? LIMIT 1`),
    unseen: preparePluck(
      database,
      `SELECT flag FROM ${prefix}last_seen WHERE flag > ? AND at < ? ORDER BY flag LIMIT ${SLICE}`,
    ),
    forgetUnseen: prepare(database, `DELETE FROM ${prefix}last_seen WHERE flag = ? AND at < ?`),
    forgetRecent: prepare(database, `DELETE FROM ${recent} WHERE resolution IN (0, 1) AND flag = ?`),
    forgetPairs: prepare(database, `DELETE FROM ${counts} ${byFlag} WHERE resolution = 4 AND flag = ?`),
  };
}
