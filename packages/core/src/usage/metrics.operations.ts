import { setImmediate } from 'node:timers/promises';
import type { Engine } from '../changesets/engine.js';
import type { ApplicationRegistration, FlagCount, MetricsStorage, UsageReport } from '../storage/metrics-port.js';
import type {
  BulkReport,
  ClientRegistration,
  EvaluationCounts,
  MetricsReport,
  ReportOrigin,
  YesNo,
} from './metrics.types.js';
import { partsOf } from './usage-recorder.js';
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
  origin?: Omit<ReportOrigin, 'clientIp'>,
): Promise<void> {
  const { validate, metrics, retention, now } = engine;
  const { registrations = [], reports = [] } = validate.bulkReport(input);
  const at = now().getTime();
  await recordInParts(
    metrics,
    await toUsageReports(engine, reports, { at, origin }),
    registrations.map((registration) => toRegistration(registration, at, origin)),
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
    ...(origin?.reporter && { reporter: origin.reporter }),
    strategies: [...new Set(strategies)],
    ...(description !== undefined && { description }),
    ...(url !== undefined && { url }),
    ...(color !== undefined && { color }),
    ...(icon !== undefined && { icon }),
  };
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** The tolerated skew of other processes' clocks, in milliseconds. */
const CLOCK_SKEW = MINUTE;
const NONE: YesNo = { yes: 0, no: 0 };

export async function countEvaluations({ metrics, now }: Engine): Promise<EvaluationCounts> {
  const time = now().getTime();
  const future = toCounts(await metrics.counts({ after: time + CLOCK_SKEW }));
  const lastHour = subtract(future, toCounts(await metrics.counts({ after: time - HOUR })));
  const lastMinute = subtract(future, toCounts(await metrics.counts({ after: time - MINUTE })));
  return {
    lastHour,
    lastMinute: new Map([...lastHour.keys()].map((flag) => [flag, lastMinute.get(flag) ?? NONE])),
  };
}

/** Subtracts counts from the future. A process whose clock was ahead recorded them. */
function subtract(future: ReadonlyMap<string, YesNo>, counts: ReadonlyMap<string, YesNo>): Map<string, YesNo> {
  const remaining = [...counts].map(([flag, { yes, no }]) => {
    const later = future.get(flag) ?? NONE;
    return [flag, { yes: yes - later.yes, no: no - later.no }] as const;
  });
  return new Map(remaining.filter(([flag, { yes, no }]) => yes + no > 0 || !future.has(flag)));
}

function toCounts(counts: readonly FlagCount[]): Map<string, YesNo> {
  return new Map(counts.map(({ flag, yes, no }) => [flag, { yes, no }]));
}
