import type { Validator } from '../base/validator.js';
import type { Engine } from '../engine/engine.js';
import type { ApplicationRegistration, Resolution, UsageStorage } from '../storage/usage/port.js';
import { HOUR, MINUTE, startOf } from '../storage/usage/rules.js';
import { iterateSums } from './sum-pages.js';
import type {
  BulkReport,
  ClientRegistration,
  EvaluationCounts,
  MetricsReport,
  ReportOrigin,
  YesNo,
} from './usage.types.js';
import { toInstance, toUsageReports } from './usage-reports.js';
import { batchesOf, type UsageWriter } from './usage-writer.js';

/** What reports need beside the rest of the engine. */
export interface ReportEngine extends Engine {
  readonly usageWriter: UsageWriter;
  readonly validate: {
    readonly registration: Validator<ClientRegistration>;
    readonly metricsReport: Validator<MetricsReport>;
    readonly bulkReport: Validator<BulkReport>;
  };
}

export function registerApplication(
  engine: ReportEngine,
  input: ClientRegistration,
  origin?: ReportOrigin,
): Promise<void> {
  return record(engine, { registrations: [engine.validate.registration(input)] }, origin);
}

export function reportMetrics(engine: ReportEngine, input: MetricsReport, origin?: ReportOrigin): Promise<void> {
  return record(engine, { reports: [engine.validate.metricsReport(input)] }, origin);
}

export function reportMetricsInBulk(
  engine: ReportEngine,
  input: BulkReport,
  origin?: Omit<ReportOrigin, 'clientIp'>,
): Promise<void> {
  return record(engine, engine.validate.bulkReport(input), origin);
}

async function record(
  engine: ReportEngine,
  { registrations = [], reports = [] }: BulkReport,
  origin: ReportOrigin = {},
): Promise<void> {
  const at = engine.now().getTime();
  const batch = {
    at,
    ...(origin.reporter && { reporter: origin.reporter }),
    registrations: registrations.map((registration) => toRegistration(registration, origin.clientIp)),
    reports: await toUsageReports(engine, reports, { at, origin }),
  };
  await engine.usageWriter.record(batchesOf(batch));
}

function toRegistration(input: ClientRegistration, clientIp: string | undefined): ApplicationRegistration {
  const { application, instance, sdkVersion, strategies, description, url, color, icon } = input;
  return {
    application,
    instance: { ...toInstance(instance, clientIp), ...(sdkVersion !== undefined && { sdkVersion }) },
    strategies: [...new Set(strategies)],
    ...(description !== undefined && { description }),
    ...(url !== undefined && { url }),
    ...(color !== undefined && { color }),
    ...(icon !== undefined && { icon }),
  };
}

/** The tolerated skew of other processes' clocks, in milliseconds. */
const CLOCK_SKEW = MINUTE;
const NONE: YesNo = { yes: 0, no: 0 };
/** Flags per read. Each has up to 61 rows. */
const PAGE = 500;

export async function countEvaluations({ usage, now }: Engine): Promise<EvaluationCounts> {
  const time = now().getTime();
  const lastHour = await countsSince(usage, 'minute', { time, window: HOUR });
  const lastMinute = await countsSince(usage, 'second', { time, window: MINUTE });
  return {
    lastHour,
    lastMinute: new Map([...lastHour.keys()].map((flag) => [flag, lastMinute.get(flag) ?? NONE])),
  };
}

async function countsSince(
  usage: UsageStorage,
  resolution: Resolution,
  { time, window }: { readonly time: number; readonly window: number },
): Promise<Map<string, YesNo>> {
  const range = { from: startOf(resolution, time - window), until: time + CLOCK_SKEW };
  const counts = new Map<string, YesNo>();
  for await (const { flag, yes, no } of iterateSums(usage, { resolution, by: ['flag'], ...range, limit: PAGE })) {
    counts.set(flag, { yes, no });
  }
  return counts;
}
