import type { Application, ApplicationDetail, EvaluationCounts, FlagApplication, SeenFlags, YesNo } from '@flags/core';
import type { JsonChunks } from '../chunks.js';
import { jsonArray, jsonMap, jsonObject } from '../json-chunks.js';

export function seenFlagsListToWire(applications: AsyncIterable<SeenFlags>) {
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

export function applicationToWire({ appName, strategies, instances, seenFlags, droppedNames }: ApplicationDetail) {
  return jsonObject({
    appName,
    instances: jsonArray(instances, instanceToWire),
    strategies: [{ appName, strategies }],
    seenToggles: jsonArray(seenFlags, (flag) => flag),
    droppedNames,
  });
}

/** A flag may have more applications than fit into memory: each is a piece of its own. */
export async function* seenApplicationsToWire(pairs: AsyncIterable<FlagApplication>): AsyncGenerator<string, void> {
  let before: string | undefined;
  for await (const { flag, application } of pairs) {
    const record = JSON.stringify(applicationRecordToWire(application));
    if (flag === before) yield `,${record}`;
    else yield `${before === undefined ? '{' : '],'}${JSON.stringify(flag)}:[${record}`;
    before = flag;
  }
  yield before === undefined ? '{}' : ']}';
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
