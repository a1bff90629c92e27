import type { Application, ApplicationDetail, EvaluationCounts, SeenFlags, YesNo } from '@flags/core';
import type { JsonChunks } from '../chunks.js';
import { jsonArray, jsonMap, jsonObject } from '../json-chunks.js';

export function seenFlagsListToWire(applications: readonly SeenFlags[]) {
  return jsonArray(applications, seenFlagsToWire);
}

function seenFlagsToWire({ appName, flags, metricsCount }: SeenFlags) {
  return { appName, seenToggles: flags, metricsCount };
}

export function evaluationCountsToWire({ lastHour, lastMinute }: EvaluationCounts) {
  return jsonObject({ lastHour: jsonMap(lastHour, countsToWire), lastMinute: jsonMap(lastMinute, countsToWire) });
}

export function applicationListToWire(applications: JsonChunks) {
  return jsonObject({ applications });
}

export function applicationToWire({ appName, strategies, instances, seenFlags }: ApplicationDetail) {
  return jsonObject({
    appName,
    instances: jsonArray(instances, instanceToWire),
    strategies: [{ appName, strategies }],
    seenToggles: jsonArray(seenFlags, (flag) => flag),
  });
}

export function seenApplicationsToWire(byFlag: ReadonlyMap<string, readonly Application[]>) {
  return jsonMap(byFlag, (applications) => applications.map(applicationRecordToWire));
}

function instanceToWire({ instanceId, clientIp, lastSeen, createdAt }: ApplicationDetail['instances'][number]) {
  return { instanceId, clientIp, lastSeen, createdAt };
}

function countsToWire({ yes, no }: YesNo) {
  return { yes, no };
}

export function applicationSummaryToWire({ appName, strategies, createdAt }: Application) {
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
