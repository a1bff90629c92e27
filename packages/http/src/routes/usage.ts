import { type Flags, isFlagsError, paginate, type UsageFilter, type UsagePeriod } from '@flags/core';
import { unchecked } from '../body.js';
import { jsonArray } from '../json-chunks.js';
import { inputParameters, listReply, parameter } from '../query.js';
import { type QueryValues, type Route, type RouteRequest, type RouteResult, route } from '../route.js';
import { count, example, listOf, mapOf, objectComponent, strictObject, text, timestamp, version } from '../schema.js';
import { CLIENT_METRICS, projectOfFlag, USAGE } from './paths.js';

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
      description: 'Counts by variant; `disabled` stands for no variant.',
    },
  },
  {
    hour: {
      ...example('2026-03-01T12:00:00.000Z', timestamp),
      description: 'The start of the hour, unless days are listed.',
    },
    day: { ...timestamp, description: 'The start of the day (UTC), where days are listed.' },
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

const rawUsageListSchema = objectComponent('RawUsageList', { version, maturity: text, data: listOf(rawUsageSchema) });

/** Members of the replies that follow Unleash 4.x. */
const STABLE = { version: 1, maturity: 'stable' } as const;
const SUMMARY_HOURS = 24;
const MAX_HOURS_BACK = 48;
/** The maximum number of applications in a raw reply, in name order. */
const RAW_APPLICATIONS = 100;

const PARAMETERS = inputParameters('usageFilter', {
  environment: 'Only evaluations in this environment; all when absent.',
  application: 'Only evaluations by this application; all when absent.',
  hours: 'So many hours, the current one among them; 24 when days are absent too.',
  days: 'So many days (UTC), the current one among them; not together with hours.',
});

function usagePeriodToWire({ flag, environment, appName, hour, day, yes, no, variants }: UsagePeriod) {
  return { feature: flag, environment, appName, hour, day, yes, no, variants: Object.fromEntries(variants) };
}

/** Usage over time. Lists of all flags omit rows of zeros; a single flag has a row for every hour or day. */
export const usageRoutes: readonly Route[] = [
  route('GET', USAGE, 'listUsage', {
    summary: 'How often flags were on and off, by the hour or the day, without rows of zero',
    query: PARAMETERS,
    paged: 'optional',
    streamed: 'projects',
    reply: usageListSchema,
    errors: ['environment_not_found'],
    handle: (request) => listUsage(request, {}),
  }),
  route('GET', `${USAGE}/:featureName`, 'listFlagUsage', {
    summary: 'How often a flag was on and off, by the hour or the day, without gaps',
    projectOf: projectOfFlag,
    query: PARAMETERS,
    paged: 'optional',
    streamed: 'projects',
    reply: usageListSchema,
    errors: ['environment_not_found'],
    handle: (request) => listUsage(request, { flag: request.params.featureName }),
  }),
  route('GET', CLIENT_METRICS, 'summarizeFlagUsage', {
    summary: 'How often a flag was on and off in the current hour, and who has evaluated it, as in Unleash',
    projectOf: projectOfFlag,
    streamed: 'projects',
    reply: usageSummarySchema,
    never: ['flag_not_found'],
    handle: async ({ flags, params }) => ({
      body: { ...STABLE, ...(await summarizeUsage(flags, params.featureName)) },
    }),
  }),
  route('GET', `${CLIENT_METRICS}/raw`, 'listRawFlagUsage', {
    summary: 'How often a flag was on and off in each hour, environment and application, as in Unleash',
    projectOf: projectOfFlag,
    query: [
      parameter('hoursBack', `So many hours, from 1 to ${MAX_HOURS_BACK}; ${SUMMARY_HOURS} with any other text.`),
    ],
    streamed: 'projects',
    reply: rawUsageListSchema,
    never: ['flag_not_found'],
    handle: async ({ flags, params, query }) => ({
      body: { ...STABLE, data: jsonArray(await rawUsage(flags, params.featureName, hoursBack(query))) },
    }),
  }),
];

function listUsage({ flags, query }: RouteRequest, one: Pick<UsageFilter, 'flag'>): Promise<RouteResult> {
  const { limit: _limit, after: _after, ...filter } = query;
  return listReply(query, {
    page: (page) => flags.listUsage({ ...unchecked<UsageFilter>(filter), ...one }, page),
    toWire: usagePeriodToWire,
    body: (usage) => ({ version: 1, usage }),
  });
}

/** Iterates over the hours of a flag, by application. Ends at once if the flag is unknown, as in Unleash. */
async function* hoursOf(flags: Flags, flag: string, hours: number): AsyncGenerator<UsagePeriod> {
  try {
    yield* paginate((page) => flags.listUsage({ flag, hours }, page));
  } catch (error) {
    if (!isFlagsError(error) || error.code !== 'flag_not_found') throw error;
  }
}

/** Sums the current hour by environment, and names the applications of the last 24 hours. */
async function summarizeUsage(flags: Flags, flag: string) {
  const applications = new Set<string>();
  const environments = new Map<string, { environment: string; timestamp: string; yes: number; no: number }>();
  let latest = '';
  for await (const { environment, appName, hour: timestamp = '', yes, no } of hoursOf(flags, flag, SUMMARY_HOURS)) {
    if (yes + no > 0) applications.add(appName);
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
    const { hour = '', environment, appName } = row;
    if (applications.size === RAW_APPLICATIONS && !applications.has(appName)) break;
    times.add(hour);
    environments.add(environment);
    applications.add(appName);
    if (row.yes + row.no > 0) rows.set(JSON.stringify([hour, environment, appName]), row);
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
