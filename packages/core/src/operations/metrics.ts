import type { EvaluationCounts, MetricsOperations, YesNo } from '../api/metrics.js';
import type { Engine } from '../engine/engine.js';
import { groupBy } from '../group-by.js';
import type { FlagCount } from '../metrics/port.js';
import { applicationOperations } from './applications.js';
import { metricsReportOperations } from './metrics-reports.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const NONE: YesNo = { yes: 0, no: 0 };

/** What applications report, and what is made of it. */
export function metricsOperations(engine: Engine): MetricsOperations {
  const { metrics, now } = engine;
  const since = (span: number) => now().getTime() - span;
  return {
    ...metricsReportOperations(engine),
    ...applicationOperations(engine),

    async listSeenFlags() {
      const byApplication = groupBy(await metrics.usage(), ({ application }) => application);
      return [...byApplication].map(([appName, usage]) => {
        const metricsCount = usage.reduce((sum, { count }) => sum + count, 0);
        return { appName, flags: usage.map(({ flag }) => flag), metricsCount };
      });
    },

    async countEvaluations(): Promise<EvaluationCounts> {
      const lastHour = toCounts(await metrics.counts({ after: since(HOUR) }));
      const lastMinute = toCounts(await metrics.counts({ after: since(MINUTE) }));
      return {
        lastHour,
        lastMinute: new Map([...lastHour.keys()].map((flag) => [flag, lastMinute.get(flag) ?? NONE])),
      };
    },
  };
}

function toCounts(counts: readonly FlagCount[]): Map<string, YesNo> {
  return new Map(counts.map(({ flag, yes, no }) => [flag, { yes, no }]));
}
