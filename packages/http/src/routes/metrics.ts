import type { Application, ApplicationDetail, FlagApplication, SeenFlags } from '@flags/core';
import { readPages } from '@flags/core/integration';
import { unchecked } from '../body.js';
import { jsonArray, jsonMap, type Pieces } from '../json-chunks.js';
import { listReply, parameter } from '../query.js';
import { type Route, route } from '../route.js';
import {
  component,
  count,
  example,
  listOf,
  mapOf,
  nullableText,
  objectComponent,
  strictObject,
  text,
  timestamp,
} from '../schema.js';
import { APPLICATIONS, METRICS } from './paths.js';

const seenTogglesItemSchema = objectComponent('SeenTogglesItem', {
  appName: text,
  seenToggles: listOf(text),
  metricsCount: count,
});

const seenTogglesSchema = component('SeenToggles', listOf(seenTogglesItemSchema));

const yesNoSchema = objectComponent('YesNo', { yes: count, no: count });

const featureMetricsSchema = objectComponent('FeatureMetrics', {
  lastHour: mapOf(yesNoSchema),
  lastMinute: mapOf(yesNoSchema),
});

const applicationSummarySchema = objectComponent('ApplicationSummary', {
  appName: text,
  strategies: listOf(text),
  createdAt: timestamp,
  links: strictObject({ appDetails: example('/api/admin/applications/web') }),
});

const applicationListSchema = objectComponent('ApplicationList', { applications: listOf(applicationSummarySchema) });

const applicationInstanceSchema = objectComponent('ApplicationInstance', {
  instanceId: text,
  clientIp: text,
  lastSeen: timestamp,
  createdAt: timestamp,
});

const applicationStrategiesSchema = objectComponent('ApplicationStrategies', {
  appName: text,
  strategies: listOf(text),
});

const applicationDetailSchema = objectComponent(
  'ApplicationDetail',
  {
    appName: text,
    instances: listOf(applicationInstanceSchema),
    strategies: listOf(applicationStrategiesSchema),
    seenToggles: listOf(text),
  },
  // The number of dropped names of unknown flags; the last 100 names are kept. Absent when none was dropped.
  { droppedNames: count },
);

const seenAppSchema = objectComponent('SeenApp', {
  appName: text,
  createdAt: timestamp,
  updatedAt: timestamp,
  description: text,
  strategies: listOf(text),
  url: text,
  color: nullableText,
  icon: text,
});

const seenAppsSchema = component('SeenApps', mapOf(listOf(seenAppSchema)));

function seenFlagsToWire({ appName, flags, metricsCount }: SeenFlags) {
  return { appName, seenToggles: flags, metricsCount };
}

function applicationToWire({ appName, strategies, instances, seenFlags, droppedNames }: ApplicationDetail) {
  return {
    appName,
    instances: jsonArray(instances),
    strategies: [{ appName, strategies }],
    seenToggles: jsonArray(seenFlags),
    droppedNames,
  };
}

/** Generates one piece per application, because a flag may have more applications than fit into memory. */
async function* seenApplicationsToWire(pages: AsyncIterable<readonly FlagApplication[]>): Pieces {
  let before: string | undefined;
  for await (const pairs of pages) {
    for (const { flag, application } of pairs) {
      const record = JSON.stringify(application);
      if (flag === before) yield `,${record}`;
      else yield `${before === undefined ? '{' : '],'}${JSON.stringify(flag)}:[${record}`;
      before = flag;
    }
  }
  yield before === undefined ? '{}' : ']}';
}

export function applicationSummaryToWire({ appName, strategies, createdAt }: Application) {
  return {
    appName,
    strategies,
    createdAt,
    links: { appDetails: `/api/admin/applications/${encodeURIComponent(appName)}` },
  };
}

export const metricsRoutes: readonly Route[] = [
  route('GET', `${METRICS}/seen-toggles`, 'listSeenFlags', {
    summary: 'Which application has evaluated which flags',
    streamed: 'projects',
    reply: seenTogglesSchema,
    deprecated: true,
    handle: async ({ flags }) => ({
      body: jsonArray(
        readPages((page) => flags.listSeenFlags(page)),
        seenFlagsToWire,
      ),
    }),
  }),
  route('GET', `${METRICS}/feature-toggles`, 'countEvaluations', {
    summary: 'How often each flag was on and off in the last minute and the last hour',
    streamed: 'projects',
    reply: featureMetricsSchema,
    async handle({ flags }) {
      const { lastHour, lastMinute } = await flags.countEvaluations();
      return { body: { lastHour: jsonMap(lastHour), lastMinute: jsonMap(lastMinute) } };
    },
  }),
  route('GET', APPLICATIONS, 'listApplications', {
    summary: 'The applications seen within the last day',
    query: [
      parameter('strategyName', 'Only applications that implement this strategy; repeated: any of them; empty: all.', {
        type: 'array',
        items: { type: 'string' },
      }),
    ],
    paged: 'optional',
    streamed: 'projects',
    reply: applicationListSchema,
    async handle({ flags, query }) {
      const strategies = unchecked<readonly string[] | undefined>(query.strategyName)?.filter((name) => name !== '');
      const filter = strategies === undefined || strategies.length === 0 ? {} : { strategies };
      return listReply(query, {
        page: (page) => flags.listApplications(filter, page),
        toWire: applicationSummaryToWire,
        body: (applications) => ({ applications }),
      });
    },
  }),
  route('GET', `${APPLICATIONS}/:appName`, 'getApplication', {
    summary: 'One application with its instances and the flags it has evaluated',
    streamed: 'projects',
    reply: applicationDetailSchema,
    handle: async ({ flags, params }) => ({
      body: applicationToWire(await flags.getApplication({ application: params.appName })),
    }),
  }),
  route('DELETE', `${APPLICATIONS}/:appName`, 'deleteApplication', {
    summary: 'Forget an application; one that registers or reports again starts over',
    async handle({ flags, params }) {
      await flags.deleteApplication({ application: params.appName });
    },
  }),
  route('GET', `${METRICS}/seen-apps`, 'listApplicationsByFlag', {
    summary: 'The applications that have evaluated each flag',
    streamed: 'projects',
    reply: seenAppsSchema,
    deprecated: true,
    handle: async ({ flags }) => ({
      body: seenApplicationsToWire(readPages((page) => flags.listApplicationsByFlag(page))),
    }),
  }),
];
