import {
  type Application,
  type ApplicationDetail,
  type Flags,
  isFlagsError,
  paginate,
  type UsageFilter,
  type UsagePeriod,
} from '@flags/core';
import { readPages } from '@flags/core/integration/http';
import type { ApplicationInstance, ApplicationRef, FlagApplication, SeenFlags } from '@flags/core/types';
import { APPLICATIONS, CLIENT_METRICS, METRICS, projectOfFlag, USAGE } from '../../api/paths.js';
import { inputParameters, listReply, parameter } from '../../api/query.js';
import { type QueryValues, type RouteRequest, type RouteResult, route } from '../../api/route.js';
import { jsonArray, jsonMap, type Pieces } from '../../messages/json.js';
import { unchecked } from '../../messages/request.js';
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
  version,
} from '../../messages/schema.js';

const seenTogglesItemSchema = objectComponent('SeenTogglesItem', {
  appName: text,
  seenToggles: listOf(text),
  metricsCount: count,
});

const yesNoSchema = objectComponent('YesNo', { yes: count, no: count });

const applicationSummarySchema = objectComponent('ApplicationSummary', {
  appName: text,
  strategies: listOf(text),
  createdAt: timestamp,
  links: strictObject({ appDetails: example('/api/admin/applications/web') }),
});

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

function seenFlagsToWire({ application: appName, flags, evaluations }: SeenFlags) {
  return { appName, seenToggles: flags, metricsCount: evaluations };
}

function applicationToWire({ name: appName, strategies, instances, seenFlags, droppedNames }: ApplicationDetail) {
  return {
    appName,
    instances: jsonArray(instances, instanceToWire),
    strategies: [{ appName, strategies }],
    seenToggles: jsonArray(seenFlags),
    droppedNames,
  };
}

export function instanceToWire({ id: instanceId, clientIp, lastSeenAt: lastSeen, createdAt }: ApplicationInstance) {
  return { instanceId, clientIp, lastSeen, createdAt };
}

function seenApplicationToWire({ name: appName, ...application }: Application) {
  return { appName, ...application };
}

/** Generates one piece per application, because a flag may have more applications than fit into memory. */
async function* seenApplicationsToWire(pages: AsyncIterable<readonly FlagApplication[]>): Pieces {
  let before: string | undefined;
  for await (const pairs of pages) {
    for (const { flag, application } of pairs) {
      const record = JSON.stringify(seenApplicationToWire(application));
      if (flag === before) yield `,${record}`;
      else yield `${before === undefined ? '{' : '],'}${JSON.stringify(flag)}:[${record}`;
      before = flag;
    }
  }
  yield before === undefined ? '{}' : ']}';
}

export function applicationSummaryToWire({ name: appName, strategies, createdAt }: Application) {
  return {
    appName,
    strategies,
    createdAt,
    links: { appDetails: `/api/admin/applications/${encodeURIComponent(appName)}` },
  };
}

export const metricsRoutes = [
  route('GET', `${METRICS}/seen-toggles`, 'listSeenFlags', {
    summary: 'List the flags that each application has evaluated',
    reply: component('SeenToggles', listOf(seenTogglesItemSchema)),
    deprecated: true,
    handle: async ({ flags }) => ({
      body: jsonArray(
        readPages((page) => flags.usage.listSeenFlags(page)),
        seenFlagsToWire,
      ),
    }),
  }),
  route('GET', `${METRICS}/feature-toggles`, 'countEvaluations', {
    summary: 'Count how often each flag was on and off in the last minute and the last hour',
    reply: objectComponent('FeatureMetrics', { lastHour: mapOf(yesNoSchema), lastMinute: mapOf(yesNoSchema) }),
    async handle({ flags }) {
      const { lastHour, lastMinute } = await flags.usage.count();
      return { body: { lastHour: jsonMap(lastHour), lastMinute: jsonMap(lastMinute) } };
    },
  }),
  route('GET', APPLICATIONS, 'listApplications', {
    summary: 'List the applications seen in the last 24 hours',
    query: [
      parameter(
        'strategyName',
        'Only applications that implement this strategy, or one of several if repeated. Empty: all applications.',
        {
          type: 'array',
          items: { type: 'string' },
        },
      ),
    ],
    paged: 'optional',
    reply: objectComponent('ApplicationList', { applications: listOf(applicationSummarySchema) }),
    async handle({ flags, query }) {
      const strategies = unchecked<readonly string[] | undefined>(query.strategyName)?.filter((name) => name !== '');
      const filter = strategies === undefined || strategies.length === 0 ? {} : { strategies };
      return listReply(query, {
        page: (page) => flags.applications.list(filter, page),
        toWire: applicationSummaryToWire,
        body: (applications) => ({ applications }),
      });
    },
  }),
  route('GET', `${APPLICATIONS}/:appName`, 'getApplication', {
    summary: 'Get an application with its instances and the flags that it has evaluated',
    reply: applicationDetailSchema,
    handle: async ({ flags, params }) => ({
      body: applicationToWire(await flags.applications.get({ application: params.appName })),
    }),
  }),
  route('DELETE', `${APPLICATIONS}/:appName`, 'deleteApplication', {
    summary: 'Delete the record of an application; its next registration or report creates a new one',
    handle: ({ flags, params }) => flags.applications.delete({ application: params.appName }),
  }),
  route('DELETE', APPLICATIONS, 'deleteNamedApplication', {
    summary: 'Delete the record of an application whose name cannot stand in a path: `.` or `..`',
    query: [parameter('appName', 'The name of the application.')],
    errors: ['application_not_found'],
    async handle({ flags, query: { appName } }) {
      await flags.applications.delete(unchecked<ApplicationRef>({ application: appName }));
    },
  }),
  route('GET', `${METRICS}/seen-apps`, 'listApplicationsByFlag', {
    summary: 'List the applications that have evaluated each flag',
    reply: component('SeenApps', mapOf(listOf(seenAppSchema))),
    deprecated: true,
    handle: async ({ flags }) => ({
      body: seenApplicationsToWire(readPages((page) => flags.applications.listByFlag(page))),
    }),
  }),
];

const usagePeriodSchema = objectComponent(
  'UsagePeriod',
  {
    feature: text,
    environment: text,
    appName: text,
    yes: count,
    no: count,
    variants: {
      ...example({ blue: 8 }, mapOf(count)),
      description: 'Counts by variant; `disabled` means no variant.',
    },
  },
  {
    hour: {
      ...example('2026-03-01T12:00:00.000Z', timestamp),
      description: 'The start of the hour; absent in a list by day.',
    },
    day: { ...timestamp, description: 'The start of the day (UTC); absent in a list by hour.' },
  },
);

const usageListSchema = objectComponent('UsageList', { version, usage: listOf(usagePeriodSchema) });

const usageSummarySchema = objectComponent('UsageSummary', {
  version,
  maturity: text,
  featureName: text,
  lastHourUsage: listOf(strictObject({ environment: text, timestamp, yes: count, no: count })),
  seenApplications: listOf(text),
});

const rawUsageSchema = objectComponent(
  'RawUsage',
  { featureName: text, appName: text, environment: text, timestamp, yes: count, no: count },
  { variants: mapOf(count) },
);

/** Members of the replies that follow Unleash 4.x. */
const STABLE = { version: 1, maturity: 'stable' } as const;
const SUMMARY_HOURS = 24;
const MAX_HOURS_BACK = 48;
/** The maximum number of applications in a raw reply, in name order. */
const RAW_APPLICATIONS = 100;

const PARAMETERS = inputParameters('usageFilter', {
  environment: 'Only evaluations in this environment. Default: all.',
  application: 'Only evaluations by this application. Default: all.',
  hours: 'Number of hours, including the current one. Default without `days`: 24.',
  days: 'Number of days (UTC), including the current one. Excludes `hours`.',
});

function usagePeriodToWire({ flag, environment, application: appName, hour, day, yes, no, variants }: UsagePeriod) {
  return { feature: flag, environment, appName, hour, day, yes, no, variants: Object.fromEntries(variants) };
}

/** Usage over time. Lists of all flags omit rows of zeros; a single flag has a row for every hour or day. */
export const usageRoutes = [
  route('GET', USAGE, 'listUsage', {
    summary: 'List the evaluation counts of flags by hour or day, without periods that have none',
    query: PARAMETERS,
    paged: 'optional',
    reply: usageListSchema,
    errors: ['environment_not_found'],
    handle: (request) => listUsage(request, {}),
  }),
  route('GET', `${USAGE}/:featureName`, 'listFlagUsage', {
    summary: 'List the evaluation counts of a flag by hour or day, including periods that have none',
    permissionIn: projectOfFlag,
    query: PARAMETERS,
    paged: 'optional',
    reply: usageListSchema,
    errors: ['environment_not_found'],
    handle: (request) => listUsage(request, { flag: request.params.featureName }),
  }),
  route('GET', CLIENT_METRICS, 'summarizeFlagUsage', {
    summary: 'Get the evaluation counts of a flag in the current hour and its applications, in the format of Unleash',
    permissionIn: projectOfFlag,
    reply: usageSummarySchema,
    never: ['flag_not_found'],
    handle: async ({ flags, params }) => ({
      body: { ...STABLE, ...(await summarizeUsage(flags, params.featureName)) },
    }),
  }),
  route('GET', `${CLIENT_METRICS}/raw`, 'listRawFlagUsage', {
    summary: 'List the evaluation counts of a flag by hour, environment and application, in the format of Unleash',
    permissionIn: projectOfFlag,
    query: [
      parameter('hoursBack', `Number of hours, from 1 to ${MAX_HOURS_BACK}. Any other value means ${SUMMARY_HOURS}.`),
    ],
    reply: objectComponent('RawUsageList', { version, maturity: text, data: listOf(rawUsageSchema) }),
    never: ['flag_not_found'],
    handle: async ({ flags, params, query }) => ({
      body: { ...STABLE, data: jsonArray(await rawUsage(flags, params.featureName, hoursBack(query))) },
    }),
  }),
];

function listUsage({ flags, query }: RouteRequest, one: Pick<UsageFilter, 'flag'>): Promise<RouteResult> {
  const { limit: _limit, after: _after, ...filter } = query;
  return listReply(query, {
    page: (page) => flags.usage.list({ ...unchecked<UsageFilter>(filter), ...one }, page),
    toWire: usagePeriodToWire,
    body: (usage) => ({ version: 1, usage }),
  });
}

/** Iterates over the hours of a flag, by application. Ends at once if the flag is unknown, as in Unleash. */
async function* hoursOf(flags: Flags, flag: string, hours: number): AsyncGenerator<UsagePeriod> {
  try {
    yield* paginate((page) => flags.usage.list({ flag, hours }, page));
  } catch (error) {
    if (!isFlagsError(error) || error.code !== 'flag_not_found') throw error;
  }
}

/** Sums the current hour by environment, and names the applications of the last 24 hours. */
async function summarizeUsage(flags: Flags, flag: string) {
  const applications = new Set<string>();
  const environments = new Map<string, { environment: string; timestamp: string; yes: number; no: number }>();
  let latest = '';
  for await (const { environment, application, hour: timestamp = '', yes, no } of hoursOf(flags, flag, SUMMARY_HOURS)) {
    if (yes + no > 0) applications.add(application);
    // Every series ends with the current hour.
    if (timestamp > latest) environments.clear();
    if (timestamp > latest) latest = timestamp;
    if (timestamp < latest || yes + no === 0) continue;
    const before = environments.get(environment) ?? { yes: 0, no: 0 };
    environments.set(environment, { environment, timestamp, yes: before.yes + yes, no: before.no + no });
  }
  return { featureName: flag, lastHourUsage: [...environments.values()], seenApplications: [...applications] };
}

/** Returns every hour of each environment and application, by time. */
async function rawUsage(flags: Flags, flag: string, hours: number): Promise<Iterable<object>> {
  const rows = new Map<string, UsagePeriod>();
  const [times, environments, applications] = [new Set<string>(), new Set<string>(), new Set<string>()];
  for await (const row of hoursOf(flags, flag, hours)) {
    const { hour = '', environment, application } = row;
    if (applications.size === RAW_APPLICATIONS && !applications.has(application)) break;
    times.add(hour);
    environments.add(environment);
    applications.add(application);
    if (row.yes + row.no > 0) rows.set(JSON.stringify([hour, environment, application]), row);
  }
  function* inOrder() {
    for (const timestamp of [...times].sort()) {
      for (const environment of environments) {
        for (const appName of applications) {
          const { yes = 0, no = 0, variants } = rows.get(JSON.stringify([timestamp, environment, appName])) ?? {};
          const counted = variants && variants.size > 0 && { variants: Object.fromEntries(variants) };
          yield { featureName: flag, appName, environment, timestamp, yes, no, ...counted };
        }
      }
    }
  }
  return inOrder();
}

function hoursBack({ hoursBack: given }: QueryValues): number {
  const hours = Number(given ?? Number.NaN);
  return hours >= 1 && hours <= MAX_HOURS_BACK ? Math.ceil(hours) : SUMMARY_HOURS;
}
