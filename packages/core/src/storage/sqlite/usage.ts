import { LIMITS } from '../../base/limits.js';
import { createUsageDeletion, usageRemovals } from '../usage/deletion.js';
import { type ReadUsage, tableOf, type UsageDialect, type UsageStatement, type UsageValues } from '../usage/dialect.js';
import type { ApplicationRegistration, DroppedUsage, UsageBatch, UsageStorage } from '../usage/port.js';
import { createUsageReader } from '../usage/reading.js';
import { applicationsOf, decideAdmission, NOTHING_DROPPED, RESOLUTIONS, rowsOf } from '../usage/rules.js';
import type { WriteQueue } from './database.js';
import {
  type Connection,
  prepare,
  preparePluck,
  readWhenFree,
  type SqliteDatabase,
  statementsByText,
} from './database.js';

const MOST = Number.MAX_SAFE_INTEGER;

/**
 * What a count weighs in the bound of a group, in bytes: as many as 16 KiB of a document, since it changes rows of all
 * resolutions. So 512 counts share a transaction, which takes some 10 milliseconds.
 */
const WEIGHT_OF_COUNT = LIMITS.changeSetBytes / 512;

/** The key of both tables of counts. */
const KEY = 'resolution, flag, application, environment, start, variant';

/** Runs statements within a transaction. Returns how many rows the last one has changed. */
type Run = (statements: readonly UsageStatement[]) => number;

interface SqliteUsageOptions {
  readonly connection: Connection;
  /** The connection's queue. */
  readonly writeQueue: WriteQueue;
  /** The prefix of the tables. */
  readonly tablePrefix: string;
}

/**
 * Creates usage in the tables of a SQLite storage, on its connection. `close` leaves the connection open.
 *
 * A batch resolves after its transaction has been committed. If it rejects, nothing was written, unless the code is
 * `outcome_unknown`. Batches that wait for the same transaction share its flush.
 */
export function sqliteUsage({ connection, writeQueue, tablePrefix: prefix }: SqliteUsageOptions): UsageStorage {
  const { database } = connection;
  const dialect = dialectOf(prefix);
  const deletion = statementsByText(database, prepare);
  const run: Run = (statements) => {
    const changes = statements.map(({ text, values }) => deletion(text).run(...values.map(toParameter)).changes);
    return changes.at(-1) ?? 0;
  };
  const recordNow = recorder({ database, prefix, dialect, run });
  const query = statementsByText(database);
  const read: ReadUsage = ({ text, values }) =>
    readWhenFree(connection, () => query(text).all(...values.map(toParameter)) as unknown[][]);

  return {
    record: (batch) => writeQueue.run(() => recordNow(batch), weightOf(batch)),
    ...createUsageReader(dialect, read),
    ...createUsageDeletion({
      dialect,
      read,
      write: (statements) => writeQueue.run(() => run(statements)),
      slice: 500,
      applicationsPerSlice: 20,
    }),
    close: () => undefined,
  };
}

function weightOf({ registrations = [], reports = [] }: UsageBatch): number {
  const counts = reports.reduce(
    (sum, { counts, unknown = [] }) => sum + counts.length + unknown.length,
    reports.length,
  );
  return (counts + registrations.length) * WEIGHT_OF_COUNT;
}

function dialectOf(prefix: string): UsageDialect {
  return {
    tables: {
      recentCounts: `${prefix}recent_counts`,
      counts: `${prefix}counts`,
      lastSeen: `${prefix}last_seen`,
      applications: `${prefix}applications`,
      instances: `${prefix}instances`,
      batches: `${prefix}batches`,
    },
    indexedBy: (index) => `INDEXED BY ${prefix}${index}`,
    unindexed: (column) => `+${column}`,
    sum: (column) => `min(total(${column}), ${MOST})`,
    isOneOf: (column) => `${column} IN (SELECT value FROM json_each(?))`,
    isSelected: (select) => `(${KEY}) IN (${select(KEY)})`,
    isNamed: ({ condition }, named) =>
      `${condition} AND (application, flag) IN (SELECT application, flag FROM (${named}) AS gone)`,
  };
}

function toParameter(value: UsageValues[number]): string | number {
  if (typeof value !== 'object') return value;
  // The driver stores lone surrogates as U+FFFD. JSON would keep them.
  return JSON.stringify(value.map((text) => Buffer.from(text).toString()));
}

interface RecorderOptions {
  readonly database: SqliteDatabase;
  readonly prefix: string;
  readonly dialect: UsageDialect;
  readonly run: Run;
}

/** Returns a function that records a batch within a transaction. */
function recorder({ database, prefix, dialect, run }: RecorderOptions) {
  const statements = recordStatements(database, prefix);
  const removals = usageRemovals(dialect);

  function admit(batch: UsageBatch) {
    const { at, reporter } = batch;
    const names = applicationsOf(batch);
    const stored = new Set(names.filter((name) => statements.isStored.get(name) !== undefined));
    const isComplete = stored.size === names.length;
    const admission = decideAdmission(batch, {
      stored,
      total: isComplete ? 0 : (statements.countAll.get() as number),
      owned: isComplete || !reporter ? 0 : (statements.countOf.get(reporter.token) as number),
    });
    for (const name of admission.created) statements.create.run(name, at, reporter?.token ?? null);
    return admission;
  }

  /** Deletes unknown names and instances of applications that have too many. Returns the number of names. */
  function trim({ registrations = [], reports = [] }: UsageBatch): number {
    const withNames = reports.flatMap(({ application, unknown }) => (unknown?.length ? [application] : []));
    const named = new Set([...registrations, ...reports].map(({ application }) => application));
    const withInstances = [...named].filter((application) => {
      return (statements.countInstances.get(application) as number) > LIMITS.instancesPerApplication;
    });
    const crowded = [...new Set([...withNames, ...withInstances])];
    return crowded.length > 0 ? run(removals.excess(crowded)) : 0;
  }

  return (batch: UsageBatch): DroppedUsage => {
    const { id, at, registrations = [] } = batch;
    if (statements.addBatch.run(id, at).changes === 0) return NOTHING_DROPPED;
    const { admitted, refused } = admit(batch);
    const rows = rowsOf(batch, admitted);
    for (const one of registrations) if (admitted.has(one.application)) statements.register.run(parametersOf(one));
    for (const instance of rows.instances) statements.see.run({ ...instance, at });
    for (const { resolution, flag, application, environment, start, variant, ...count } of rows.counts) {
      const { yes, no, at, isPublic, isUnknown } = count;
      const key = [RESOLUTIONS[resolution].code, flag, application, environment, start, variant];
      statements.addCount[tableOf(resolution)].run(...key, yes, no, at, Number(isPublic), Number(isUnknown));
    }
    for (const seen of rows.lastSeen) statements.addLastSeen.run(...seen);
    let names = trim(batch);
    for (const [application, dropped] of rows.droppedNames) {
      statements.dropNames.run(dropped, application);
      names += dropped;
    }
    return { names, reports: refused, usage: 0 };
  };
}

function recordStatements(database: SqliteDatabase, prefix: string) {
  const [applications, instances] = [`${prefix}applications`, `${prefix}instances`];
  // Sums stop at the largest safe integer, so that no report fails.
  const addCount = (table: string) =>
    prepare(
      database,
      `INSERT INTO ${prefix}${table}
        (resolution, flag, application, environment, start, variant, yes, no, at, is_public, is_unknown)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT DO UPDATE SET
        yes = min(yes + excluded.yes, ${MOST}), no = min(no + excluded.no, ${MOST}), at = max(at, excluded.at),
        is_public = min(is_public, excluded.is_public), is_unknown = min(is_unknown, excluded.is_unknown)`,
    );
  return {
    addBatch: prepare(database, `INSERT OR IGNORE INTO ${prefix}batches (id, at) VALUES (?, ?)`),
    addCount: { recentCounts: addCount('recent_counts'), counts: addCount('counts') },
    addLastSeen: prepare(
      database,
      `INSERT INTO ${prefix}last_seen (flag, at) VALUES (?, ?)
      ON CONFLICT (flag) DO UPDATE SET at = excluded.at WHERE at < excluded.at`,
    ),
    dropNames: prepare(database, `UPDATE ${applications} SET dropped_names = dropped_names + ? WHERE name = ?`),
    isStored: preparePluck(database, `SELECT 1 FROM ${applications} WHERE name = ?`),
    countAll: preparePluck(database, `SELECT count(*) FROM ${applications}`),
    countOf: preparePluck(database, `SELECT count(*) FROM ${applications} WHERE token = ?`),
    create: prepare(
      database,
      `INSERT INTO ${applications} (name, strategies, description, url, icon, created_at, token)
      VALUES (?, '[]', '', '', '', ?, ?)`,
    ),
    register: prepare(
      database,
      `UPDATE ${applications} SET
        strategies = @strategies,
        description = ifnull(@description, description),
        url = ifnull(@url, url),
        color = iif(@keepColor, color, @color),
        icon = ifnull(@icon, icon)
      WHERE name = @name`,
    ),
    see: prepare(
      database,
      `INSERT INTO ${instances} (application, id, client_ip, sdk_version, created_at, seen_at)
      VALUES (@application, @id, ifnull(@clientIp, ''), ifnull(@sdkVersion, ''), @at, @at)
      ON CONFLICT DO UPDATE SET
        client_ip = ifnull(@clientIp, client_ip), sdk_version = ifnull(@sdkVersion, sdk_version),
        seen_at = max(seen_at, @at)`,
    ),
    countInstances: preparePluck(database, `SELECT count(*) FROM ${instances} WHERE application = ?`),
  };
}

function parametersOf({ application, strategies, description, url, color, icon }: ApplicationRegistration) {
  return {
    name: application,
    strategies: JSON.stringify(strategies),
    description: description ?? null,
    url: url ?? null,
    color: color ?? null,
    keepColor: Number(color === undefined),
    icon: icon ?? null,
  };
}
