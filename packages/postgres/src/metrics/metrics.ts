import { randomInt, randomUUID } from 'node:crypto';
import type { ApplicationRegistration, DroppedMetrics, MetricsStorage, UsageReport } from '@flags/core';
import { createDroppedCount, createMerging, createRanks } from '@flags/core/integration';
import { createBatches } from '../batches.js';
import type { Database } from '../database.js';
import { type TableLocation, tableNames } from '../tables.js';
import { applicationReader } from './applications.js';
import { countReader, metricsDeletion } from './counts.js';
import { type Admission, createAdmission, createTrimming, type Trimming } from './limits.js';
import { mergeRegistrations, mergeReports } from './merge.js';
import { createMetricsLock, type MetricsTables } from './metrics-lock.js';
import { recordStatements } from './record-statement.js';
import { createUsageTrimming, timedUsageReader, type UsageTrimming } from './timed-usage.js';

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
  const usageTrimming = createUsageTrimming(tables);
  const { prune, forget, forgetApplication, ...deletion } = metricsDeletion(tables);
  const admission = createAdmission(database, names, forgetApplication);
  const record = createRecorder({
    ...tables,
    admission,
    trimming: createTrimming(database, names, lock),
    usageTrimming,
  });
  const { dropped, add } = createDroppedCount();
  const writes = createBatches<MetricsWrite>(async (batch) => add(await record(batch)), rowsOf);
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

/** Bounds how many nodes write without waiting for each other. With more nodes some wait, and nothing else changes. */
const SHARDS = 16;

/** What one call writes. */
interface MetricsWrite {
  readonly reports: readonly UsageReport[];
  readonly registrations: readonly ApplicationRegistration[];
}

interface RecorderOptions extends MetricsTables {
  readonly admission: Admission;
  readonly trimming: Trimming;
  readonly usageTrimming: UsageTrimming;
}

/**
 * Merges the writes of several calls, in their order, and stores them by one statement: all of them, or none. Returns what
 * was dropped.
 *
 * Limits are kept before and after: applications are admitted first, and excess rows are deleted afterwards.
 */
function createRecorder({ database, names, lock, admission, trimming, usageTrimming }: RecorderOptions) {
  const toStatement = recordStatements(names, lock);
  const shard = randomInt(SHARDS);
  const rank = createRanks();

  return async (writes: readonly MetricsWrite[]): Promise<DroppedMetrics> => {
    const registrations = writes.flatMap((write) => write.registrations);
    const reports = writes.flatMap((write) => [...write.registrations.map(toReport), ...write.reports]);
    const admitted = await admission.admit(reports);
    const merged = mergeReports(reports, { admitted, rank });
    const registered = mergeRegistrations(merged.applications, registrations);
    const at = reports.reduce((latest, report) => Math.max(latest, report.at), 0);
    await database.write(toStatement({ id: randomUUID(), at, shard, merged, registered }));
    const trimmed = await trimming.trim(merged);
    // The reports are stored. The next trimming deletes the rest.
    const usage = await usageTrimming.trimAfter(merged.usageCurrent, at).catch(() => 0);
    return {
      names: merged.droppedNames.reduce((sum, row) => sum + row.dropped, trimmed),
      reports: reports.filter(({ application }) => !admitted.has(application)).length,
      usage,
    };
  };
}

/** A registration marks its application and instance as seen, like a report without counts. */
function toReport({ application, instance, at, reporter }: ApplicationRegistration): UsageReport {
  return { application, instance, at, stop: at, ...(reporter && { reporter }), counts: [] };
}
