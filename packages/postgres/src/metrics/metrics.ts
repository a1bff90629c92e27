import type { ApplicationRegistration, MetricsStorage } from '@flags/core';
import { createDroppedCount, createMerging } from '@flags/core/integration';
import type { Database } from '../database.js';
import { type TableLocation, tableNames } from '../tables.js';
import { applicationReader } from './applications.js';
import { createBatches } from './batches.js';
import { countReader, metricsDeletion } from './counts.js';
import { createAdmission, createTrimming } from './limits.js';
import { createMetricsLock } from './metrics-lock.js';
import { createRecorder, type MetricsWrite } from './record.js';
import { createUsageTrimming, timedUsageReader } from './timed-usage.js';

export interface PostgresMetricsOptions {
  readonly database: Database;
  readonly location: TableLocation;
  /** Runs a call while the storage is open. Fails when it is closed. */
  readonly whileOpen: <T>(work: () => Promise<T>) => Promise<T>;
}

/**
 * Stores metrics in the tables of a PostgreSQL storage, on its connections. Closing the metrics leaves them open.
 *
 * Calls that write at the same time are merged and stored by one statement. A call resolves once its data is durable. If
 * it rejects, nothing of it was written, unless the code is `outcome_unknown`.
 */
export function postgresMetrics({ database, location, whileOpen }: PostgresMetricsOptions): MetricsStorage {
  const names = tableNames(location);
  const lock = createMetricsLock(database, location);
  const tables = { database, names, lock };
  const admission = createAdmission(database, names);
  const usageTrimming = createUsageTrimming(tables);
  const record = createRecorder({
    ...tables,
    admission,
    trimming: createTrimming(database, names, lock),
    usageTrimming,
  });
  const { dropped, add } = createDroppedCount();
  const writes = createBatches<MetricsWrite>(async (batch) => add(await record(batch)), rowsOf);
  const { prune, forget, forgetApplication, ...deletion } = metricsDeletion(tables);
  const mergeCounters = createMerging(deletion.mergeCounters);
  const forgottenFlags = createBatches<string>(forget);
  const counts = countReader(database, names);
  const timedUsage = timedUsageReader(database, names);
  const applications = applicationReader(database, names);

  return {
    record: (reports, registrations = []) =>
      whileOpen(async () => {
        if (reports.length + registrations.length > 0) await writes.add({ reports, registrations });
        await mergeCounters(reports);
      }),
    register: (registration) => whileOpen(() => writes.add({ reports: [], registrations: [registration] })),
    forget: (flag) => whileOpen(() => forgottenFlags.add(flag)),
    forgetApplication: (name) =>
      whileOpen(async () => {
        admission.clear();
        return forgetApplication(name);
      }),
    prune: (retention) =>
      whileOpen(async () => {
        admission.clear();
        await prune(retention);
        add({ names: 0, reports: 0, usage: await usageTrimming.trim() });
      }),
    counts: (query) => whileOpen(() => counts.counts(query)),
    usage: (query) => whileOpen(() => counts.usage(query)),
    timedUsage: (query) => whileOpen(() => timedUsage(query)),
    lastSeen: (flags) => whileOpen(() => counts.lastSeen(flags)),
    applications: (query) => whileOpen(() => applications.applications(query)),
    application: (name) => whileOpen(() => applications.application(name)),
    dropped,
    close: () => undefined,
  };
}

/** About how many rows a write has. */
function rowsOf({ reports, registrations }: MetricsWrite): number {
  const counted = reports.reduce((sum, { counts, unknown = [] }) => sum + counts.length + unknown.length, 0);
  return registrations.reduce((sum, registration) => sum + sizeOf(registration), counted);
}

/** Characters of a registration that count as one row: its texts may be as long as those of hundreds of rows. */
const REGISTRATION_ROW = 64;

function sizeOf(registration: ApplicationRegistration): number {
  return Math.ceil(JSON.stringify(registration).length / REGISTRATION_ROW);
}
