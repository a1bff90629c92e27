import type { Application, ApplicationDetail, EvaluationCounts, SeenFlags, YesNo } from '@flags/core';

export function seenFlagsToWire({ appName, flags, metricsCount }: SeenFlags) {
  return { appName, seenToggles: flags, metricsCount };
}

export function evaluationCountsToWire({ lastHour, lastMinute }: EvaluationCounts) {
  return { lastHour: countsToWire(lastHour), lastMinute: countsToWire(lastMinute) };
}

export function applicationListToWire(applications: readonly Application[]) {
  return { applications: applications.map(applicationSummaryToWire) };
}

export function applicationToWire({ appName, strategies, instances, seenFlags }: ApplicationDetail) {
  return {
    appName,
    instances: instances.map(({ instanceId, clientIp, lastSeen, createdAt }) => ({
      instanceId,
      clientIp,
      lastSeen,
      createdAt,
    })),
    strategies: [{ appName, strategies }],
    seenToggles: seenFlags,
  };
}

export function seenApplicationsToWire(byFlag: ReadonlyMap<string, readonly Application[]>) {
  return recordOf(byFlag, (applications) => applications.map(applicationRecordToWire));
}

function countsToWire(counts: ReadonlyMap<string, YesNo>) {
  return recordOf(counts, ({ yes, no }) => ({ yes, no }));
}

function applicationSummaryToWire({ appName, strategies, createdAt }: Application) {
  return {
    appName,
    strategies,
    createdAt,
    links: { appDetails: `/api/admin/applications/${encodeURIComponent(appName)}` },
  };
}

function applicationRecordToWire(application: Application) {
  const { appName, createdAt, updatedAt, description, strategies, url, color, icon } = application;
  return { appName, createdAt, updatedAt, description, strategies, url, color, icon };
}

/** `Object.fromEntries` defines members: a flag named `__proto__` is one like any other. */
function recordOf<T, U>(map: ReadonlyMap<string, T>, convert: (value: T) => U): Readonly<Record<string, U>> {
  return Object.fromEntries([...map].map(([name, value]) => [name, convert(value)]));
}
