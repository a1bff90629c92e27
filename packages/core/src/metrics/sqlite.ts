import { readWhenFree } from '../storage/sqlite/busy.js';
import type { Connection } from '../storage/sqlite/database.js';
import { inSnapshot } from '../storage/sqlite/snapshot.js';
import type { WriteQueue } from '../storage/sqlite/write-queue.js';
import { composeMetrics } from './composition.js';
import type { MetricsStorage } from './port.js';
import { createReportBatches } from './report-batches.js';
import { sqliteApplications } from './sqlite-applications.js';
import { sqliteCounters } from './sqlite-counters.js';
import { sqliteSightings } from './sqlite-sightings.js';

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
  });
  const batches = createReportBatches((take, onBusy) => writeQueue.run(() => metrics.record(take()), onBusy));

  return {
    async record(reports, registrations = []) {
      if (registrations.length > 0) return writeQueue.run(() => metrics.record(reports, registrations));
      if (reports.length > 0) return batches.add(reports);
    },
    register: (registration) => writeQueue.run(() => metrics.register(registration)),
    forget: (flag) => writeQueue.run(() => metrics.forget(flag)),
    prune: (retention) => writeQueue.run(() => metrics.prune(retention)),
    counts: (query) => readWhenFree(connection, () => metrics.counts(query)),
    applications: (query) => readWhenFree(connection, () => metrics.applications(query)),
    application: (name) => readWhenFree(connection, () => metrics.application(name)),
    usage: () => readWhenFree(connection, () => metrics.usage()),
    lastSeen(flags) {
      const look = () => metrics.lastSeen(flags);
      // Each of several look-ups would take and leave the file's lock for itself, which costs several times as much.
      return readWhenFree(connection, flags.length > 1 ? () => inSnapshot(connection.database, look) : look);
    },
    close: () => metrics.close(),
  };
}
