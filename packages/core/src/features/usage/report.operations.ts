import { hash, randomUUID } from 'node:crypto';
import type { Lifetime } from '../../base/lifetime.js';
import { LIMITS } from '../../base/limits.js';
import { invalidInput } from '../../base/validator.js';
import type { Engine } from '../../kernel/engine.js';
import { type Call, call, defineOperations, NO_REFERENCE } from '../../kernel/operation.js';
import type { ApplicationRegistration, UsageBatch, UsageStorage } from '../../storage/usage/port.js';
import { HOUR, MINUTE, startOf } from '../../storage/usage/rules.js';
import { iterateSums } from './sum-pages.js';
import type {
  BulkOrigin,
  BulkReport,
  ClientRegistration,
  EvaluationCounts,
  MetricsReport,
  ReportOrigin,
  YesNo,
} from './usage.types.js';
import { inRun, partsOf } from './usage-batches.js';
import { toInstance, toUsageReports } from './usage-reports.js';
import type { UsageWriter } from './usage-writer.js';

/** What reports need beside the rest of the engine. */
export interface ReportEngine extends Engine {
  readonly usageWriter: UsageWriter;
  readonly lifetime: Pick<Lifetime, 'track'>;
}

async function record(engine: ReportEngine, input: BulkReport, origin: BulkOrigin & ReportOrigin = {}): Promise<void> {
  const at = engine.now().getTime();
  const { clientIp, reporter } = origin;
  const idOf = createBatchIds(origin);
  const reports = await toUsageReports(engine, input.reports ?? [], { at, origin });
  const batches = partsOf(input).map(
    (part, index): UsageBatch => ({
      id: idOf(index),
      at,
      ...(reporter && { reporter }),
      registrations: part.registrations.map((registration) => toRegistration(registration, clientIp)),
      reports: part.runs.flatMap((run) =>
        reports.slice(run.report, run.report + 1).map((report) => inRun(report, run)),
      ),
    }),
  );
  await engine.usageWriter.record(batches);
  // The reporter does not wait for the pruning. Closing waits, and an instance that is closing does not begin to prune here.
  void engine.lifetime.track(engine.usageWriter.prune).catch(() => undefined);
}

/** Returns a function that returns the batch id of a part. A repeated report has the same ids. */
function createBatchIds({ id, reporter }: BulkOrigin): (part: number) => string {
  if (id === undefined) return () => randomUUID();
  if (typeof id !== 'string' || id === '' || id.length > LIMITS.batchId) {
    throw invalidInput([{ message: `must be a text of 1 to ${LIMITS.batchId} characters`, path: '/id' }]);
  }
  const token = reporter?.token ?? '';
  return (part) => hash('sha256', JSON.stringify([token, id, part]));
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
  const lastHour = await countsSince(usage, { time, window: HOUR });
  const lastMinute = await countsSince(usage, { time, window: MINUTE });
  return {
    lastHour,
    lastMinute: new Map([...lastHour.keys()].map((flag) => [flag, lastMinute.get(flag) ?? NONE])),
  };
}

async function countsSince(
  usage: UsageStorage,
  { time, window }: { readonly time: number; readonly window: number },
): Promise<Map<string, YesNo>> {
  const range = { from: startOf('minute', time - window), until: time + CLOCK_SKEW };
  const counts = new Map<string, YesNo>();
  for await (const { flag, yes, no } of iterateSums(usage, {
    resolution: 'minute',
    by: ['flag'],
    ...range,
    limit: PAGE,
  })) {
    counts.set(flag, { yes, no });
  }
  return counts;
}

/** What clients report. */
export const reportOperations = defineOperations({
  registerApplication: call({
    ref: NO_REFERENCE,
    input: 'registration',
    run: (engine: ReportEngine, { input, context }: Call<undefined, ClientRegistration, ReportOrigin | undefined>) =>
      record(engine, { registrations: [input] }, context),
  }),
  reportMetrics: call({
    ref: NO_REFERENCE,
    input: 'metricsReport',
    run: (engine: ReportEngine, { input, context }: Call<undefined, MetricsReport, ReportOrigin | undefined>) =>
      record(engine, { reports: [input] }, context),
  }),
  reportMetricsInBulk: call({
    ref: NO_REFERENCE,
    input: 'bulkReport',
    run: (engine: ReportEngine, { input, context }: Call<undefined, BulkReport, BulkOrigin | undefined>) =>
      record(engine, input, context),
  }),
});
