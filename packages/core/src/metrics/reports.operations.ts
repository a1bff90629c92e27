import type { Engine } from '../changes/engine.js';
import type { ApplicationRegistration } from '../storage/metrics-port.js';
import type { ClientRegistration, MetricsOperations, ReportOrigin } from './metrics.types.js';
import { reportReader, toInstance } from './usage-reports.js';

/** Takes what applications report. */
export function metricsReportOperations(
  engine: Engine,
): Pick<MetricsOperations, 'registerApplication' | 'reportMetrics' | 'reportMetricsInBulk'> {
  const { metrics, validate, now, retention } = engine;
  const toReports = reportReader(engine);
  return {
    async registerApplication(input, origin) {
      const registration = validate.registration(input);
      await metrics.register(toRegistration(registration, now().getTime(), origin));
      await retention.pruneWhenDue();
    },

    async reportMetrics(input, origin) {
      const report = validate.metricsReport(input);
      await metrics.record(await toReports([report], now().getTime(), origin));
      await retention.pruneWhenDue();
    },

    async reportMetricsInBulk(input, origin) {
      const { registrations = [], reports = [] } = validate.bulkReport(input);
      const at = now().getTime();
      await metrics.record(
        await toReports(reports, at, origin),
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
