import { setImmediate } from 'node:timers/promises';
import { isFlagsError } from '../../errors.js';
import { createDroppedCount, createMerging } from '../counters.js';
import { composeMetrics, type FlagSums, type LastSeen, sortedSums } from '../metrics-composition.js';
import type { ApplicationRegistration, MetricsStorage, TimedUsage, UsageReport } from '../metrics-port.js';
import { runSlices, SLICE_ROWS, type SlicedWork } from '../slices.js';
import {
  type Connection,
  inSnapshot,
  prepare,
  preparePluck,
  prepareRaw,
  prepareRows,
  readWhenFree,
  type SqliteDatabase,
  type WriteQueue,
} from './database.js';
import { sqliteApplications } from './metrics-applications.js';
import { sqliteCounters } from './metrics-counters.js';
import { sqliteUnknownNames } from './unknown-names.js';

function sqliteLastSeen(database: SqliteDatabase, prefix: string): LastSeen {
  const see = prepareRows(database, {
    table: `${prefix}last_seen`,
    columns: ['flag', 'at'],
    end: 'ON CONFLICT (flag) DO UPDATE SET at = excluded.at WHERE at < excluded.at',
  });
  const find = preparePluck(database, `SELECT at FROM ${prefix}last_seen WHERE flag = ?`);
  const findAfter = prepareRaw(
    database,
    `SELECT flag, at FROM ${prefix}last_seen WHERE flag > ? ORDER BY flag LIMIT ?`,
  );
  const forget = prepare(database, `DELETE FROM ${prefix}last_seen WHERE flag = ?`);

  return {
    add(reports) {
      const [report] = reports;
      if (report !== undefined && reports.length === 1) {
        see(report.counts.map(({ flag }) => [flag, report.stop]));
        return;
      }
      const latest = new Map<string, number>();
      for (const { stop, counts } of reports) {
        for (const { flag } of counts) latest.set(flag, Math.max(latest.get(flag) ?? stop, stop));
      }
      see([...latest]);
    },
    // One look-up per name, because a statement may bind a limited number of values.
    of(flags) {
      const found = new Map<string, number>();
      for (const flag of flags) {
        const at = find.get(flag) as number | undefined;
        if (at !== undefined) found.set(flag, at);
      }
      return found;
    },
    forget(flag) {
      forget.run(flag);
    },
    dropUnknown({ isFlag, unseenSince }, onDropped) {
      let last = '';
      return () => {
        const page = findAfter.all(last, SLICE_ROWS) as [string, number][];
        for (const [flag, at] of page) {
          last = flag;
          if (at >= unseenSince || isFlag(flag)) continue;
          forget.run(flag);
          onDropped(flag);
        }
        return page.length === SLICE_ROWS;
      };
    },
  };
}

interface SqliteMetricsOptions {
  readonly connection: Connection;
  /** The connection's queue. */
  readonly writeQueue: WriteQueue;
  /** The prefix of the tables. */
  readonly tablePrefix: string;
}

/**
 * Creates metrics in the tables of a SQLite storage, on its connection. `close` leaves the connection open.
 *
 * A write resolves after its transaction has been committed. If it rejects, nothing was written, unless the code is
 * `outcome_unknown`.
 */
export function sqliteMetrics({ connection, writeQueue, tablePrefix }: SqliteMetricsOptions): MetricsStorage {
  const counters = sqliteCounters(connection.database, tablePrefix);
  const lastSeen = sqliteLastSeen(connection.database, tablePrefix);
  const metrics = composeMetrics({
    counters,
    lastSeen,
    applications: sqliteApplications(connection.database, tablePrefix),
    unknownNames: sqliteUnknownNames(connection.database, tablePrefix),
  });
  const { dropped, add } = createDroppedCount();
  const write = <T>(work: () => T, onBusy?: () => void) => writeQueue.run(work, { onBusy });
  const batcher = createReportBatcher((take, onBusy) => recordReports(take, [], onBusy));
  const inTransactions = (slice: SlicedWork) => write(slice);

  /** Records in one transaction. Applications that must make room are deleted before, in short transactions. */
  async function recordReports(
    takeReports: () => readonly UsageReport[],
    registrations: readonly ApplicationRegistration[],
    onBusy?: () => void,
  ): Promise<void> {
    const sightings = () => [...registrations, ...takeReports()];
    const attempt = () => (metrics.needsRoom(sightings()) ? undefined : metrics.record(takeReports(), registrations));
    let dropped = await write(attempt, onBusy);
    if (dropped === undefined) {
      await runSlices(() => metrics.makeRoom(sightings()), inTransactions);
      dropped = await write(() => metrics.record(takeReports(), registrations));
    }
    add(dropped);
  }
  const mergeCounters = createMerging(() => runSlices(counters.mergeOld(), inTransactions));
  const inReads = async (slice: SlicedWork) => (await readWhenFree(connection, slice)) && setImmediate(true);

  return {
    async record(reports, registrations = []) {
      if (registrations.length > 0) await recordReports(() => reports, registrations);
      else if (reports.length > 0) await batcher.add(reports);
      await mergeCounters(reports);
    },
    register: (registration) => recordReports(() => [], [registration]),
    async forget(flag) {
      await runSlices(() => metrics.forgetSlice(flag), inTransactions);
      return write(() => metrics.forget(flag));
    },
    async forgetApplication(name) {
      const isKnown = await write(() => metrics.has(name));
      if (isKnown) await runSlices(() => metrics.removeSlice(name), inTransactions);
      return isKnown;
    },
    async prune(retention) {
      for (const work of metrics.prune(retention)) await runSlices(work, inTransactions);
    },
    async counts({ after }) {
      const sums: FlagSums = new Map();
      for (const work of metrics.counts(after, sums)) await runSlices(work, inReads);
      return sortedSums(sums);
    },
    applications: (query) => readWhenFree(connection, () => metrics.applications(query)),
    application: (name) => readWhenFree(connection, () => metrics.application(name)),
    usage: (query) => readWhenFree(connection, () => metrics.usage(query)),
    async timedUsage(query) {
      const found: TimedUsage[] = [];
      await runSlices(metrics.timedUsage(query, found), inReads);
      return found;
    },
    lastSeen(flags) {
      const look = () => lastSeen.of(flags);
      // A snapshot takes the file's lock once. Each look-up by itself would take and release it, at several times the cost.
      return readWhenFree(connection, flags.length > 1 ? () => inSnapshot(connection.database, look) : look);
    },
    dropped,
    close: () => undefined,
  };
}

/** Merges reports that arrive while an earlier transaction runs into one write, which adds up their counts. */
interface ReportBatcher {
  /** Resolves when the reports are committed; rejects if none of them was recorded. */
  add(reports: readonly UsageReport[]): Promise<void>;
}

/**
 * Writes reports in one transaction.
 *
 * @param takeReports returns the reports to write; called in each attempt, after the transaction has begun
 * @param onBusy called if the transaction could not begin and another attempt follows
 */
type WriteReports = (takeReports: () => readonly UsageReport[], onBusy: () => void) => Promise<void>;

interface Batch {
  readonly calls: (readonly UsageReport[])[];
  /** Number of counts in its reports. */
  size: number;
  readonly written: Promise<void>;
}

/** Limits of one batch. They bound how long one transaction blocks the event loop and other processes. */
const MAX_CALLS = 256;
const MAX_COUNTS = 2000;

/**
 * A batch accepts calls until its first attempt. It has the deadline of its first call, so a later call must not join a
 * batch that is already waiting for a lock.
 */
function createReportBatcher(write: WriteReports): ReportBatcher {
  let open: Batch | undefined;

  function openBatch(): Batch {
    const calls: Batch['calls'] = [];
    const close = () => {
      if (open?.calls === calls) open = undefined;
    };
    const takeReports = () => {
      close();
      return calls.flat();
    };
    return { calls, size: 0, written: write(takeReports, close).finally(close) };
  }

  return {
    async add(reports) {
      if (open === undefined || open.calls.length === MAX_CALLS || open.size >= MAX_COUNTS) open = openBatch();
      const { calls, written } = open;
      calls.push(reports);
      open.size += countsIn(reports);
      try {
        await written;
      } catch (error) {
        // A FlagsError would hit every call of the batch. Any other error may come from one call alone.
        if (calls.length === 1 || isFlagsError(error)) throw error;
        await write(
          () => reports,
          () => undefined,
        );
      }
    },
  };
}

function countsIn(reports: readonly UsageReport[]): number {
  return reports.reduce((sum, { counts, unknown = [] }) => sum + counts.length + unknown.length, 0);
}
