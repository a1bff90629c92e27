import type { MetricsOperations, MetricsReport } from '../api/metrics.js';
import type { Engine } from '../engine/engine.js';
import type { FlagCount, InstanceSighting } from '../metrics/port.js';
import { parseIsoDate } from '../validation/iso-date.js';

/** The instance of a client that does not name one. */
const DEFAULT_INSTANCE = 'default';

/** Takes what applications report. */
export function metricsReportOperations(
  engine: Engine,
): Pick<MetricsOperations, 'registerApplication' | 'reportMetrics'> {
  const { metrics, validate, now, retention } = engine;
  return {
    async registerApplication(input, origin) {
      const { appName, strategies, description, url, color, icon, ...client } = validate.registration(input);
      await metrics.register({
        application: appName,
        instance: toInstance(client, origin?.clientIp),
        at: now().getTime(),
        strategies: [...new Set(strategies)],
        ...(description !== undefined && { description }),
        ...(url !== undefined && { url }),
        ...(color !== undefined && { color }),
        ...(icon !== undefined && { icon }),
      });
      await retention.pruneWhenDue();
    },

    async reportMetrics(input, origin) {
      const { appName, bucket, ...client } = validate.metricsReport(input);
      const at = now().getTime();
      await metrics.record({
        application: appName,
        instance: toInstance(client, origin?.clientIp),
        at,
        stop: Math.min(parseIsoDate(bucket.stop) ?? at, at),
        counts: toCounts(bucket),
      });
      await retention.pruneWhenDue();
    },
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
