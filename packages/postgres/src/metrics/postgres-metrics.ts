import type { MetricsStorage, UsageReport } from '@flags/core';
import type { Database } from '../database.js';
import { type Place, tableNames } from '../schema/table-names.js';
import type { ServerKind } from '../server-kind.js';
import { createAdmission } from './admission.js';
import { applicationReader } from './applications.js';
import { createBatches } from './batches.js';
import { countReader } from './counts.js';
import { createDroppedCount } from './dropped-count.js';
import { recording } from './record.js';
import { registering } from './register.js';
import { dropping } from './retention.js';
import { createTrimming } from './trimming.js';
import { metricsTurns } from './turns.js';

export interface PostgresMetricsOptions {
  readonly database: Database;
  readonly place: Place;
  readonly server: Pick<ServerKind, 'hasAdvisoryLocks'>;
  /** Runs what is asked while the storage is open, and fails when it is closed. */
  readonly whileOpen: <T>(work: () => Promise<T>) => Promise<T>;
}

/**
 * Metrics in the tables of a PostgreSQL storage, on its connections, which stay open when the metrics are closed. Reports
 * that arrive together are added up here first and written by one statement. A call that writes resolves once that is
 * durable; when it rejects, nothing of it was written, unless the code is `outcome_unknown`.
 */
export function postgresMetrics({ database, place, server, whileOpen }: PostgresMetricsOptions): MetricsStorage {
  const names = tableNames(place);
  const turns = metricsTurns(database, place, server);
  const parts = { database, names, turns };
  const admission = createAdmission(database, names);
  const limiting = { admission, trimming: createTrimming(database, names, turns) };
  const { dropped, add } = createDroppedCount();
  const { record } = recording({ ...parts, ...limiting });
  const batches = createBatches<readonly UsageReport[]>(async (calls) => add(await record(calls.flat())), sizeOf);
  const register = registering({ ...parts, ...limiting });
  const { prune, forget, forgetApplication } = dropping(parts);
  const forgotten = createBatches<string>(forget);
  const counters = countReader(database, names);
  const known = applicationReader(database, names);

  return {
    record: (reports, registrations = []) =>
      whileOpen(async () => {
        if (registrations.length > 0) return add(await record(reports, registrations));
        if (reports.length > 0) return batches.add(reports);
      }),
    register: (registration) => whileOpen(async () => add(await register(registration))),
    forget: (flag) => whileOpen(() => forgotten.add(flag)),
    forgetApplication: (name) =>
      whileOpen(async () => {
        admission.clear();
        return forgetApplication(name);
      }),
    prune: (retention) =>
      whileOpen(async () => {
        admission.clear();
        return prune(retention);
      }),
    counts: (query) => whileOpen(() => counters.counts(query)),
    usage: (query) => whileOpen(() => counters.usage(query)),
    lastSeen: (flags) => whileOpen(() => counters.lastSeen(flags)),
    applications: (query) => whileOpen(() => known.applications(query)),
    application: (name) => whileOpen(() => known.application(name)),
    dropped,
    close: () => undefined,
  };
}

function sizeOf(reports: readonly UsageReport[]): number {
  return reports.reduce((sum, { counts, unknown = [] }) => sum + counts.length + unknown.length, 0);
}
