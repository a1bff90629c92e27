import { setImmediate } from 'node:timers/promises';
import { readWhenFree } from '../storage/sqlite/busy.js';
import type { Connection } from '../storage/sqlite/database.js';
import { inSnapshot } from '../storage/sqlite/snapshot.js';
import type { WriteQueue } from '../storage/sqlite/write-queue.js';
import { composeMetrics, type FlagSums, sortedSums } from './composition.js';
import { createDroppedCount } from './dropped-count.js';
import type { MetricsStorage } from './port.js';
import { createReportBatches } from './report-batches.js';
import { runSlices, type SlicedWork } from './slices.js';
import { sqliteApplications } from './sqlite-applications.js';
import { sqliteCounters } from './sqlite-counters.js';
import { sqliteSightings } from './sqlite-sightings.js';
import { sqliteUnknownNames } from './sqlite-unknown-names.js';

export interface SqliteMetricsOptions {
  readonly connection: Connection;
  /** The connection's queue: reports that arrive together are added up and share one transaction. */
  readonly writeQueue: WriteQueue;
  /** The prefix that `metricsTables` created the tables with. */
  readonly tablePrefix: string;
}

/**
 * Metrics in the tables of a SQLite storage, on its connection, which stays open when the metrics are closed. A call
 * that writes resolves once its transaction is committed; when it rejects, nothing of it was written.
 */
export function sqliteMetrics({ connection, writeQueue, tablePrefix }: SqliteMetricsOptions): MetricsStorage {
  const metrics = composeMetrics({
    counters: sqliteCounters(connection.database, tablePrefix),
    sightings: sqliteSightings(connection.database, tablePrefix),
    applications: sqliteApplications(connection.database, tablePrefix),
    unknownNames: sqliteUnknownNames(connection.database, tablePrefix),
  });
  const { dropped, add } = createDroppedCount();
  const write = <T>(work: () => T, onBusy?: () => void) => writeQueue.run(work, onBusy);
  const batches = createReportBatches(async (take, onBusy) => add(await write(() => metrics.record(take()), onBusy)));
  const inTransactions = (slice: SlicedWork) => write(slice);
  const inReads = async (slice: SlicedWork) => (await readWhenFree(connection, slice)) && setImmediate(true);

  return {
    async record(reports, registrations = []) {
      if (registrations.length > 0) return add(await write(() => metrics.record(reports, registrations)));
      if (reports.length > 0) return batches.add(reports);
    },
    register: async (registration) => add(await write(() => metrics.register(registration))),
    forget: (flag) => write(() => metrics.forget(flag)),
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
    lastSeen(flags) {
      const look = () => metrics.lastSeen(flags);
      // Each of several look-ups would take and leave the file's lock for itself, which costs several times as much.
      return readWhenFree(connection, flags.length > 1 ? () => inSnapshot(connection.database, look) : look);
    },
    dropped,
    close: () => undefined,
  };
}
