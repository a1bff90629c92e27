import type { Application, EvaluationCounts, MetricsOperations, YesNo } from '../api/metrics.js';
import { compareCodePoints } from '../code-point-order.js';
import type { Engine } from '../engine/engine.js';
import { FlagsError } from '../errors.js';
import { groupBy } from '../group-by.js';
import type { FlagCount, StoredApplication } from '../metrics/port.js';
import { metricsReportOperations } from './metrics-reports.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const NONE: YesNo = { yes: 0, no: 0 };

/** What applications report, and what is made of it. */
export function metricsOperations(engine: Engine): MetricsOperations {
  const { metrics, now } = engine;
  const since = (span: number) => now().getTime() - span;
  return {
    ...metricsReportOperations(engine),

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

    async listApplications({ strategies = [] } = {}) {
      const wanted = strategies.filter((strategy) => strategy !== '');
      const applications = await metrics.applications({ seenSince: since(DAY) });
      const implementing = applications.filter(
        (application) => wanted.length === 0 || wanted.some((strategy) => application.strategies.includes(strategy)),
      );
      return implementing.map(toApplication);
    },

    async getApplication({ application }) {
      const found = await metrics.application(application);
      if (!found) {
        throw new FlagsError('application_not_found', `No application ${application} has registered or reported.`);
      }
      const instances = found.instances.map(({ id, clientIp, seenAt, createdAt }) => {
        return { instanceId: id, clientIp, lastSeen: toTime(seenAt), createdAt: toTime(createdAt) };
      });
      return { ...toApplication(found), instances, seenFlags: found.flags };
    },

    async listApplicationsByFlag() {
      const applications = await metrics.applications({ seenSince: 0 });
      const byName = new Map(applications.map((application) => [application.name, toApplication(application)]));
      const byFlag = groupBy(await metrics.usage(), ({ flag }) => flag);
      const flags = [...byFlag.keys()].sort(compareCodePoints);
      return new Map(flags.map((flag) => [flag, usersOf(byFlag.get(flag) ?? [], byName)]));
    },
  };
}

function usersOf(
  usage: readonly { readonly application: string }[],
  byName: ReadonlyMap<string, Application>,
): readonly Application[] {
  return usage.flatMap(({ application }) => byName.get(application) ?? []);
}

function toCounts(counts: readonly FlagCount[]): Map<string, YesNo> {
  return new Map(counts.map(({ flag, yes, no }) => [flag, { yes, no }]));
}

function toApplication(application: StoredApplication): Application {
  const { name, strategies, description, url, color, icon, createdAt, seenAt } = application;
  const times = { createdAt: toTime(createdAt), updatedAt: toTime(seenAt) };
  return { appName: name, strategies, description, url, color, icon, ...times };
}

function toTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
