import type {
  Application,
  ApplicationDetail,
  EvaluationCounts,
  FlagApplication,
  PageQuery,
  SeenFlags,
  YesNo,
} from '@flags/core';
import { unchecked } from '../body.js';
import { type JsonChunks, jsonArray, jsonMap, jsonObject } from '../json-chunks.js';
import { allPages, listPieces } from '../query.js';
import { type Route, route } from '../route.js';
import { APPLICATIONS, METRICS } from './paths.js';

function seenFlagsListToWire(applications: AsyncIterable<SeenFlags>) {
  return jsonArray(applications, seenFlagsToWire);
}

function seenFlagsToWire({ appName, flags, metricsCount }: SeenFlags) {
  return { appName, seenToggles: flags, metricsCount };
}

function evaluationCountsToWire({ lastHour, lastMinute }: EvaluationCounts) {
  return jsonObject({ lastHour: jsonMap(lastHour, countsToWire), lastMinute: jsonMap(lastMinute, countsToWire) });
}

function applicationListToWire(applications: JsonChunks) {
  return jsonObject({ applications });
}

function applicationToWire({ appName, strategies, instances, seenFlags, droppedNames }: ApplicationDetail) {
  return jsonObject({
    appName,
    instances: jsonArray(instances, instanceToWire),
    strategies: [{ appName, strategies }],
    seenToggles: jsonArray(seenFlags, (flag) => flag),
    droppedNames,
  });
}

/** Generates one piece per application, because a flag may have more applications than fit into memory. */
async function* seenApplicationsToWire(pairs: AsyncIterable<FlagApplication>): AsyncGenerator<string, void> {
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

export const metricsRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: `${METRICS}/seen-toggles`,
    action: 'listSeenFlags',
    summary: 'Which application has evaluated which flags',
    tag: 'Metrics',
    access: 'admin',
    streamed: 'projects',
    reply: { status: 200, schema: 'SeenToggles' },
    errors: [],
    deprecated: true,
    handle: async ({ flags }) => ({ chunks: seenFlagsListToWire(allPages((page) => flags.listSeenFlags(page))) }),
  }),
  route({
    method: 'GET',
    path: `${METRICS}/feature-toggles`,
    action: 'countEvaluations',
    summary: 'How often each flag was on and off in the last minute and the last hour',
    tag: 'Metrics',
    access: 'admin',
    streamed: 'projects',
    reply: { status: 200, schema: 'FeatureMetrics' },
    errors: [],
    handle: async ({ flags }) => ({ chunks: evaluationCountsToWire(await flags.countEvaluations()) }),
  }),
  route({
    method: 'GET',
    path: APPLICATIONS,
    action: 'listApplications',
    summary: 'The applications seen within the last day',
    tag: 'Metrics',
    access: 'admin',
    query: [
      {
        name: 'strategyName',
        description: 'Only applications that implement this strategy; repeated: any of them; empty: all.',
        schema: () => ({ type: 'array', items: { type: 'string' } }),
      },
    ],
    paged: 'optional',
    streamed: 'projects',
    reply: { status: 200, schema: 'ApplicationList' },
    errors: ['invalid_input'],
    async handle({ flags, query }) {
      const strategies = unchecked<readonly string[] | undefined>(query.strategyName)?.filter((name) => name !== '');
      const filter = strategies === undefined || strategies.length === 0 ? {} : { strategies };
      const page = (range: PageQuery) => flags.listApplications(filter, range);
      const { items, next } = await listPieces(query, {
        cursorOf: ({ appName }) => appName,
        toWire: applicationSummaryToWire,
        whole: async () => allPages(page),
        page,
      });
      return { chunks: applicationListToWire(items), next };
    },
  }),
  route({
    method: 'GET',
    path: `${APPLICATIONS}/:appName`,
    action: 'getApplication',
    summary: 'One application with its instances and the flags it has evaluated',
    tag: 'Metrics',
    access: 'admin',
    streamed: 'projects',
    reply: { status: 200, schema: 'ApplicationDetail' },
    errors: ['application_not_found'],
    handle: async ({ flags, params }) => ({
      chunks: applicationToWire(await flags.getApplication({ application: params.appName })),
    }),
  }),
  route({
    method: 'DELETE',
    path: `${APPLICATIONS}/:appName`,
    action: 'deleteApplication',
    summary: 'Forget an application; one that registers or reports again begins anew',
    tag: 'Metrics',
    access: 'admin',
    reply: { status: 200 },
    errors: ['application_not_found'],
    async handle({ flags, params }) {
      await flags.deleteApplication({ application: params.appName });
      return {};
    },
  }),
  route({
    method: 'GET',
    path: `${METRICS}/seen-apps`,
    action: 'listApplicationsByFlag',
    summary: 'The applications that have evaluated each flag',
    tag: 'Metrics',
    access: 'admin',
    streamed: 'projects',
    reply: { status: 200, schema: 'SeenApps' },
    errors: [],
    deprecated: true,
    handle: async ({ flags }) => ({
      chunks: seenApplicationsToWire(allPages((page) => flags.listApplicationsByFlag(page))),
    }),
  }),
];
