import { randomInt, randomUUID } from 'node:crypto';
import type { ApplicationRegistration, DroppedMetrics, UsageReport } from '@flags/core';
import { createRanks } from '@flags/core/integration';
import type { Admission, Trimming } from './limits.js';
import { mergeRegistrations, mergeReports } from './merge.js';
import type { MetricsTables } from './metrics-lock.js';
import { recordStatements } from './record-statement.js';
import type { UsageTrimming } from './timed-usage.js';

/** Bounds how many nodes write without waiting for each other. With more nodes some wait, and nothing else changes. */
const SHARDS = 16;

/** What one call writes. */
export interface MetricsWrite {
  readonly reports: readonly UsageReport[];
  readonly registrations: readonly ApplicationRegistration[];
}

export interface RecorderOptions extends MetricsTables {
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
export function createRecorder({ database, names, lock, admission, trimming, usageTrimming }: RecorderOptions) {
  const toStatement = recordStatements(names, lock);
  const shard = randomInt(SHARDS);
  const rank = createRanks();

  return async (writes: readonly MetricsWrite[]): Promise<DroppedMetrics> => {
    const registrations = writes.flatMap((write) => write.registrations);
    const reports = writes.flatMap((write) => [...write.registrations.map(toReport), ...write.reports]);
    const admitted = await admission.admit(reports.map(({ application }) => application));
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
function toReport({ application, instance, at }: ApplicationRegistration): UsageReport {
  return { application, instance, at, stop: at, counts: [] };
}
