import type { ClientRegistration, MetricsOperations, MetricsReport, ReportOrigin } from '../api/metrics.js';
import type { Engine } from '../engine/engine.js';
import type { ApplicationRegistration, FlagCount, InstanceSighting, UsageReport } from '../metrics/port.js';
import { parseIsoDate } from '../validation/iso-date.js';

/** The instance of a client that does not name one. */
const DEFAULT_INSTANCE = 'default';

/** Takes what applications report. */
export function metricsReportOperations(
  engine: Engine,
): Pick<MetricsOperations, 'registerApplication' | 'reportMetrics' | 'reportMetricsInBulk'> {
  const { metrics, validate, now, retention } = engine;
  return {
    async registerApplication(input, origin) {
      const registration = validate.registration(input);
      await metrics.register(toRegistration(registration, now().getTime(), origin));
      await retention.pruneWhenDue();
    },

    async reportMetrics(input, origin) {
      const report = validate.metricsReport(input);
      await metrics.record([toReport(report, now().getTime(), origin)]);
      await retention.pruneWhenDue();
    },

    async reportMetricsInBulk(input) {
      const { registrations = [], reports = [] } = validate.bulkReport(input);
      const at = now().getTime();
      await metrics.record(
        reports.map((report) => toReport(report, at)),
        registrations.map((registration) => toRegistration(registration, at)),
      );
      await retention.pruneWhenDue();
    },
  };
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

function toReport({ appName, bucket, ...client }: MetricsReport, at: number, origin?: ReportOrigin): UsageReport {
  return {
    application: appName,
    instance: toInstance(client, origin?.clientIp),
    at,
    stop: Math.min(parseIsoDate(bucket.stop) ?? at, at),
    counts: toCounts(bucket),
  };
}

function toInstance(
  { instanceId, sdkVersion }: { readonly instanceId?: string; readonly sdkVersion?: string },
  clientIp: string | undefined,
): InstanceSighting {
  return {
    id: instanceId || DEFAULT_INSTANCE,
    ...(clientIp !== undefined && { clientIp }),
    ...(sdkVersion !== undefined && { sdkVersion }),
  };
}

function toCounts({ toggles }: MetricsReport['bucket']): readonly FlagCount[] {
  return Object.entries(toggles).map(([flag, { yes, no }]) => ({ flag, yes, no }));
}
