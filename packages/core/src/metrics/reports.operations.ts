import { setImmediate } from 'node:timers/promises';
import type { Engine } from '../changes/engine.js';
import type { ApplicationRegistration, MetricsStorage, UsageReport } from '../storage/metrics-port.js';
import type { BulkReport, ClientRegistration, MetricsReport, ReportOrigin } from './metrics.types.js';
import { partsOf } from './report-parts.js';
import { toInstance, toUsageReports } from './usage-reports.js';

export async function registerApplication(
  engine: Engine,
  input: ClientRegistration,
  origin?: ReportOrigin,
): Promise<void> {
  const { validate, metrics, retention, now } = engine;
  const registration = validate.registration(input);
  await metrics.register(toRegistration(registration, now().getTime(), origin));
  await retention.pruneWhenDue();
}

export async function reportMetrics(engine: Engine, input: MetricsReport, origin?: ReportOrigin): Promise<void> {
  const { validate, metrics, retention, now } = engine;
  const report = validate.metricsReport(input);
  await recordInParts(metrics, await toUsageReports(engine, [report], { at: now().getTime(), origin }));
  await retention.pruneWhenDue();
}

export async function reportMetricsInBulk(
  engine: Engine,
  input: BulkReport,
  origin?: Pick<ReportOrigin, 'projects' | 'environment'>,
): Promise<void> {
  const { validate, metrics, retention, now } = engine;
  const { registrations = [], reports = [] } = validate.bulkReport(input);
  const at = now().getTime();
  await recordInParts(
    metrics,
    await toUsageReports(engine, reports, { at, origin }),
    registrations.map((registration) => toRegistration(registration, at)),
  );
  await retention.pruneWhenDue();
}

/** Lets other work run between the parts, so that a large report stalls nobody. */
async function recordInParts(
  metrics: MetricsStorage,
  reports: readonly UsageReport[],
  registrations?: readonly ApplicationRegistration[],
): Promise<void> {
  let isFirst = true;
  for (const part of partsOf(reports, registrations)) {
    if (!isFirst) await setImmediate();
    isFirst = false;
    await metrics.record(part.reports, part.registrations);
  }
}

function toRegistration(input: ClientRegistration, at: number, origin?: ReportOrigin): ApplicationRegistration {
  const { appName, strategies, description, url, color, icon, ...client } = input;
  return {
    application: appName,
    instance: toInstance(client, origin?.clientIp),
    at,
    strategies: [...new Set(strategies)],
    ...(description !== undefined && { description }),
    ...(url !== undefined && { url }),
    ...(color !== undefined && { color }),
    ...(icon !== undefined && { icon }),
  };
}
